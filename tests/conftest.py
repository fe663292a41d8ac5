"""Configuration for all pytest runs."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from cognitive_memory_core.models import local
from tests.support import network_guard
from tests.support.sizes import IS_NIGHTLY, NIGHTLY

settings.register_profile("default", deadline=None, max_examples=30)  # a slow machine must not fail a test
settings.register_profile("ci", deadline=None, max_examples=30, derandomize=True)
settings.register_profile(NIGHTLY, deadline=None, max_examples=500, print_blob=True)
settings.register_profile("unshrunk", deadline=None, max_examples=60, phases=[Phase.explicit, Phase.generate])
settings.load_profile(NIGHTLY if IS_NIGHTLY else "ci" if os.environ.get("CI") else "default")
ATTEMPTS = pytest.StashKey[Path]()
local.AUTO = local.HASH  # loading the encoder takes a second; tests of it name it
os.environ["COGNITIVE_MEMORY__MODELS__EMBEDDING__LOCAL"] = local.HASH  # for bots and commands in processes of their own


LONG = ("tests/unit/vectors/", "tests/unit/test_opening", "tests/unit/test_faults", "tests/journeys/")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker whole files, in the order of the collection, and one of them all house tests.

    What a file starts or reads is then there once; xdist's own groups do nothing from pytest 9.1 on.
    """
    from xdist.scheduler import LoadScopeScheduling  # workers need none

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return "house" if path.startswith("tests/house/") else path

    config.option.loadscopereorder = False
    return Files(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker is left with it at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish() -> None:
    """Leave what the collection made out of garbage collections, of which some tests make many."""
    gc.collect()
    gc.freeze()


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
