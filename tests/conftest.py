"""Configuration for all pytest runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from cognitive_memory_core.models import local
from tests.support import network_guard
from tests.support.sizes import IS_NIGHTLY, NIGHTLY

settings.register_profile("default", deadline=None, max_examples=60)  # a slow machine must not fail a test
settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True)
settings.register_profile(NIGHTLY, deadline=None, max_examples=500, print_blob=True)
settings.register_profile("unshrunk", deadline=None, max_examples=60, phases=[Phase.explicit, Phase.generate])
settings.load_profile(NIGHTLY if IS_NIGHTLY else "ci" if os.environ.get("CI") else "default")
ATTEMPTS = pytest.StashKey[Path]()
local.AUTO = local.HASH  # loading the encoder takes a second; tests of it name it
os.environ["COGNITIVE_MEMORY__MODELS__EMBEDDING__LOCAL"] = local.HASH  # for bots and commands in processes of their own


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of the repository's own files in one worker, which parses these once."""
    for item in items:
        if item.path.parent.name == "house":
            item.add_marker(pytest.mark.xdist_group("house"))


@pytest.fixture(scope="session", autouse=True)
def on_this_machine(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Refuse what tests and their children send beyond this machine."""
    pytestconfig.stash[ATTEMPTS] = Path(network_guard.start(str(tmp_path_factory.mktemp("network"))))


@pytest.fixture(autouse=True)
def closed_ledgers() -> Iterator[None]:
    """Close the ledgers that a test opened by ``a_ledger``."""
    yield
    if ledgers := sys.modules.get("tests.support.ledgers"):
        ledgers.close_ledgers()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test that tried to reach beyond this machine, whatever it made of the refusal."""
    yield
    record = item.config.stash.get(ATTEMPTS, None)
    if record and (attempts := record.read_text("utf-8")):
        record.write_text("", "utf-8")
        pytest.fail(f"reached beyond this machine:\n{attempts}", pytrace=False)
