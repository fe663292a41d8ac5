"""One NoneBot for the whole run, without a network and with its files in a temporary folder."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterator
from itertools import count
from pathlib import Path

import nonebot
import pytest
from nonebot.adapters.onebot import v11, v12
from nonebug import NONEBOT_INIT_KWARGS, App
from pytest_asyncio import is_async_test

from tests.support.sizes import IS_NIGHTLY

from .console_stage import Console, console, furnished
from .stage import SUPERUSER, Stage

FOLDER = pytest.StashKey[str]()
IGNORED_USER, IGNORED_GROUP = 2999999, 19999
_groups = count(610_001)
BOTH = {"test_announcing", "test_capture_incoming", "test_injectables", "test_record_end_of_turn"}
COMMANDS = {
    *("test_belief_commands", "test_commands", "test_people_commands", "test_profile_commands"),
    "test_suggestion_commands",
}


def pytest_configure(config: pytest.Config) -> None:
    """Set localstore's directory for this run before NoneBot is initialised."""
    config.addinivalue_line("markers", "only_v11: about calls, events or answers that OneBot v12 has not")
    config.stash[FOLDER] = tempfile.mkdtemp(prefix="cognitive-memory-")
    config.stash[NONEBOT_INIT_KWARGS] = {
        "driver": "~none",
        "log_level": "WARNING",
        "superusers": {str(SUPERUSER)},
        "command_start": {"/", "!"},
        "nickname": {"小忆"},
        "localstore_data_dir": config.stash[FOLDER],
        "cognitive_memory": {
            "capture": {"announce": "off", "ignore_users": IGNORED_USER, "ignore_groups": [IGNORED_GROUP]},
            "vector_store": {"backend": "exact"},  # starting the vector store takes a second per test
        },
    }


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests that hear messages on both versions of OneBot, those of commands at the nightly size only."""
    both = BOTH | COMMANDS if IS_NIGHTLY else BOTH
    is_for_both = metafunc.module.__name__.rpartition(".")[2] in both and "stage" in metafunc.fixturenames
    if is_for_both and metafunc.definition.get_closest_marker("only_v11") is None:
        metafunc.parametrize("stage", ["v11", "v12"], indirect=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder."""
    shutil.rmtree(config.stash[FOLDER], ignore_errors=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run every test on the event loop on which NoneBot was started."""
    for item in items:
        if is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest.fixture(scope="session", autouse=True)
async def after_nonebot_init(_nonebot_init: None) -> None:
    """Register the adapters and load the plugin after NoneBot was initialised."""
    driver = nonebot.get_driver()
    driver.register_adapter(v11.Adapter)
    driver.register_adapter(v12.Adapter)
    assert nonebot.load_plugin("nonebot_plugin_cognitive_memory")


@pytest.fixture(autouse=True)
async def unhurried(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each test with an open memory and an unused command limit."""
    from nonebot_plugin_cognitive_memory import get_memory
    from nonebot_plugin_cognitive_memory.cards import Studio
    from nonebot_plugin_cognitive_memory.commands import answering, entry

    entry._pace._left.clear()
    undrawn = Studio(None, has_library=False)  # a card would be no text to compare
    monkeypatch.setattr(answering, "studio", lambda: undrawn)
    for _ in range(1_200):  # the bot's start waits only two seconds for it
        if get_memory().is_running:
            break
        await asyncio.sleep(0.05)


@pytest.fixture
def stage(app: App, request: pytest.FixtureRequest) -> Stage:
    """Return a bot of OneBot v11, or in the tests of both versions of either; messages of v11 are converted."""
    return Stage(getattr(request, "param", "v11"))


@pytest.fixture
def twelve_stage(app: App) -> Stage:
    """Return a bot of OneBot v12."""
    return Stage("v12")


@pytest.fixture
def group(app: App) -> int:
    """Return a group in which nothing was said yet."""
    return next(_groups)


@pytest.fixture
def log() -> Iterator[list[str]]:
    """Collect the log lines."""
    lines: list[str] = []
    sink = nonebot.logger.add(lambda line: lines.append(str(line)), format="{level} {message}", level="INFO")
    yield lines
    nonebot.logger.remove(sink)


@pytest.fixture
async def shown(app: App, tmp_path: Path, pytestconfig: pytest.Config) -> AsyncGenerator[Console, None]:
    """Serve a console over a furnished memory, which is furnished once and copied."""
    whole = Path(pytestconfig.stash[FOLDER]) / "furnished"
    if not whole.exists():
        async with console(whole) as one:
            await furnished(one.memory)
    shutil.copytree(whole, tmp_path / "data")
    async with console(tmp_path / "data") as one:
        yield one
