"""Tests of settings that superusers, .env or overrides.json change while the bot runs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from nonebot import get_driver

import cognitive_memory_core as core

from .stage import SUPERUSER, Stage


@pytest.fixture
async def force(app: object) -> AsyncIterator[Any]:
    """Return the running bot's settings; all changes are dropped after the test."""
    from nonebot_plugin_cognitive_memory.hot_settings import hot_settings

    yield hot_settings
    await hot_settings.reset("")


async def ask(stage: Stage, text: str, group: int | None = None) -> str:
    """Send a command as the superuser, without the pace limit."""
    from nonebot_plugin_cognitive_memory.commands import entry

    entry._pace._left.clear()
    return await stage.ask(text, SUPERUSER, group)


def overrides() -> Any:
    """Return what overrides.json of the running bot holds."""
    from nonebot_plugin_cognitive_memory.config import setup

    assert setup.data_dir
    return json.loads((setup.data_dir / "overrides.json").read_text("utf-8"))


async def test_a_superuser_changes_a_setting(stage: Stage, force: Any) -> None:
    """`set` answers with the new value, `get` says where it comes from, `reset` returns to .env's."""
    assert await ask(stage, "/记忆 配置 set query.auto_top_k 3") == "query.auto_top_k 现在是 3"
    assert overrides()["query.auto_top_k"] == 3
    shown = await ask(stage, "/memory config get auto_top_k")
    assert "query.auto_top_k = 3" in shown
    assert ".env 里是 8" in shown
    assert "query.auto_top_k = 3" in await ask(stage, "/记忆 配置")
    assert "query.auto_top_k = 3（运行时改的，" in await ask(stage, "/记忆 配置 看 query")
    assert "本来就是 3" in await ask(stage, "/记忆配置 设 COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=3")
    assert await ask(stage, "/记忆 配置 恢复 query.auto_top_k") == "query.auto_top_k 现在是 8"
    assert "还没在聊天里改过" in await ask(stage, "/记忆 配置 get")


async def test_reload_says_what_changed(stage: Stage, force: Any) -> None:
    """`reload` uses an overrides.json written by hand, and says so; without a change it says that too."""
    from nonebot_plugin_cognitive_memory.config import setup

    assert "没有变" in await ask(stage, "/记忆 配置 reload")
    assert setup.data_dir
    (setup.data_dir / "overrides.json").write_text('{"query.auto_top_k": 2, "query.nonsense": 1}', "utf-8")
    said = await ask(stage, "/记忆 配置 重读")
    assert "query.auto_top_k 现在是 2" in said
    assert "query.nonsense" in said


class Watched:
    """Settings of a bot of its own whose .env is a file of the test."""

    def __init__(self, folder: Path) -> None:
        """Begin with an empty .env."""
        from nonebot_plugin_cognitive_memory.config import read_setup
        from nonebot_plugin_cognitive_memory.hot_settings import HotSettings

        self.env = folder / ".env"
        self.env.write_text("{}")
        self.setup = read_setup({}, {}, folder)
        self.force = HotSettings(self.setup, (self.env, folder / "overrides.json"), self.read)

    def read(self) -> Any:
        """Return the settings that .env gives now."""
        return json.loads(self.env.read_text())

    async def write(self, text: str, looks: int = 2) -> None:
        """Replace .env, as editors do, and look as often as the watch would."""
        draft = self.env.with_suffix(".new")
        draft.write_text(text)
        draft.replace(self.env)
        for _ in range(looks):
            await self.force.look()


@pytest.fixture
def watched(app: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Return watched settings that do not reach the bot of the run."""
    from nonebot_plugin_cognitive_memory import hot_settings

    monkeypatch.setattr(hot_settings, "get_memory", core.CognitiveMemory.absent)
    monkeypatch.setattr(hot_settings.considerer, "follow", lambda capture: None)
    return Watched(tmp_path)


async def test_a_changed_env_moves_hot_settings(watched: Watched, log: list[str]) -> None:
    """A changed .env acts without a restart and is logged; cold keys are said to wait."""
    await watched.write('{"query": {"auto_top_k": 4}, "daily_calls": 7}')
    assert watched.setup.settings.query.auto_top_k == 4
    assert watched.setup.settings.daily_calls == 1000
    [line] = [line for line in log if "[认知记忆]" in line]
    assert "query.auto_top_k 现在是 4" in line
    assert "daily_calls 重启后生效" in line
    await watched.force.look()
    assert len([line for line in log if "[认知记忆]" in line]) == 1


async def test_a_file_in_the_middle_of_a_write_waits(watched: Watched) -> None:
    """A file is read only after it stayed the same for one look."""
    await watched.write('{"query": {"auto_top_k": 4}', looks=1)
    await watched.write('{"query": {"auto_top_k": 4}}', looks=1)
    assert watched.setup.settings.query.auto_top_k == 8
    await watched.force.look()
    assert watched.setup.settings.query.auto_top_k == 4


@pytest.mark.parametrize("text", ["{", '{"query": {"auto_top_k": "很多"}}', '{"query": 5}'])
async def test_a_bad_env_changes_nothing(watched: Watched, log: list[str], text: str) -> None:
    """An unreadable .env, or one with a bad value, is named in one line, and the settings stay."""
    await watched.write('{"query": {"auto_top_k": 4}}')
    log.clear()
    await watched.write(text)
    assert watched.setup.settings.query.auto_top_k == 4
    assert len([line for line in log if "[认知记忆]" in line]) == 1


IGNORING = """PORT=8080
COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=5
COGNITIVE_MEMORY__CAPTURE__IGNORE_USERS=["10001", "10002"]
COGNITIVE_MEMORY__CAPTURE__IGNORE_GROUPS=20001,20002
"""
IGNORED = (("10001", "10002"), ("20001", "20002"))


@pytest.mark.parametrize("name", [".env", "overrides.json"])
async def test_a_file_that_is_cut_or_gone_records_nobody_who_is_ignored(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, log: list[str], name: str
) -> None:
    """However little of .env or overrides.json is left, who is ignored stays so, with a warning (row F35)."""

    def given() -> Any:
        return getattr(type(get_driver().config)(_env_file=(watched.env,)), "cognitive_memory", {})

    def ignored() -> object:
        capture = watched.setup.settings.capture
        return capture.ignore_users, capture.ignore_groups

    async def look() -> None:
        await watched.force.look()
        await watched.force.look()

    monkeypatch.setattr(watched.force, "_read", given)
    await watched.write(IGNORING)
    if name == "overrides.json":
        await watched.force.change("capture.ignore_users", "10001,10002")
        await watched.force.change("capture.ignore_groups", "20001,20002")
        await watched.write("COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=5\n")
    file = watched.env.with_name(name)
    whole = file.read_text()
    assert ignored() == IGNORED
    for length in sorted({*range(0, len(whole) - 1, 7), *(at for at, sign in enumerate(whole[:-1]) if sign in "\n,[")}):
        log.clear()
        for text in (whole[:length], whole.replace("5", "6")[:length]):
            file.write_text(text)
            await look()
            assert ignored() == IGNORED, text
        assert [line for line in log if "WARNING" in line and "[认知记忆]" in line], text
        file.write_text(whole)
        await look()
    for lose in (file.unlink, lambda: file.write_text("PORT=8080\n"), lambda: file.write_bytes(b"\xff")):
        lose()
        await look()
        assert ignored() == IGNORED
        assert watched.setup.settings.query.auto_top_k == 5
        file.write_text(whole)
        await look()
    await watched.force.reset("")
    await watched.write(IGNORING.replace(', "10002"', "").replace("20001,20002", "[]"))
    assert ignored() == (("10001",), ())


def test_bot_py_wins_over_env_also_later(app: object, tmp_path: Path) -> None:
    """Values passed to nonebot.init stay in force when .env is read again."""
    from nonebot_plugin_cognitive_memory.config import settings_again

    again = settings_again({"COGNITIVE_MEMORY__QUERY__AUTO_TOP_K": "4"})
    assert again["vector_store.backend"] == "exact"
    assert again["query.auto_top_k"] == 4


class Unheard:
    """A memory that runs and takes nothing."""

    is_running = True


@pytest.mark.parametrize(
    ("capture", "gathered"),
    [
        ({}, (3, 600.0)),
        ({"consider_idle_minutes": 1}, (3, 60.0)),
        ({"consider_every": 2}, (3, 30.0)),
        ({"auto_consider": "off"}, (2, 600.0)),
        ({"auto_consider": "mentions"}, (2, 600.0)),
    ],
)
async def test_when_lines_are_considered_moves(
    app: object, capture: dict[str, Any], gathered: tuple[int, float]
) -> None:
    """Changed capture settings decide at once which lines are collected and when they are due."""
    from nonebot_plugin_cognitive_memory.auto_consider import Considerer

    memory: Any = Unheard()
    considerer = Considerer(lambda: memory, core.CaptureSettings(), lambda: 0.0)
    scene = core.Scene.group("10001", "2000001")
    at = datetime(2026, 3, 4, tzinfo=timezone.utc)
    for number in range(2):
        considerer.note(core.Message(f"m{number}", scene, "我们周五去吃火锅", at))
    considerer.follow(core.Settings.from_mapping({"capture": capture}).capture)
    considerer.note(core.Message("m2", scene, "我也去吃火锅", at))
    assert considerer.waiting(scene) == gathered


@pytest.mark.parametrize(
    ("key", "value"),
    [("capture.groups", "[1]"), ("capture.ignore_groups", "10001"), ("capture.ignore_users", "2000001")],
)
async def test_who_is_recorded_moves(stage: Stage, force: Any, key: str, value: str) -> None:
    """Groups and people are recorded or left out as soon as the setting has changed, and again after a reset."""
    from nonebot_plugin_cognitive_memory.scene import is_captured

    scene = core.Scene.group("10001", "2000001")
    assert is_captured(scene)
    await force.change(key, value)
    assert not is_captured(scene)
    await force.reset(key)
    assert is_captured(scene)
