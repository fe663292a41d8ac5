"""A group is told once that the bot remembers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import cognitive_memory_core as core

from .stage import Stage, message, new_id

NOTICE = "我会记住"


@pytest.fixture(autouse=True)
def announcing(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch the notice on, with a file of this test."""
    from nonebot_plugin_cognitive_memory import announcing, config

    settings = core.Settings()
    monkeypatch.setattr(announcing, "setup", config.Setup(settings, tmp_path))
    monkeypatch.setattr(announcing, "announcements", announcing.Announcements(tmp_path / "announced.json"))


async def hear(stage: Stage, text: str, group: int | None) -> list[str]:
    """Let somebody say something, and give what the bot said."""
    return await stage.hear(message(text, new_id(), group))


async def test_with_the_first_answer_to_a_command(stage: Stage, group: int) -> None:
    """The notice follows our first answer in a group, and no later one."""
    first = await hear(stage, "/记忆 状态", group)
    assert [NOTICE in said for said in first] == [False, True]
    assert len(await hear(stage, "/记忆 状态", group)) == 1
    assert len(await hear(stage, "/记忆 状态", group + 300_000)) == 2


async def test_with_the_first_answer_of_a_chat_plugin(stage: Stage, group: int) -> None:
    """The notice follows a chat plugin's first answer in a group; it is no part of the conversation."""
    from nonebot_plugin_cognitive_memory import get_memory

    from .companion import Companion, listening

    with listening(Companion(says="你好呀")):
        first = await hear(stage, "你好", group)
        second = await hear(stage, "你好", group)
    assert (first[0], NOTICE in first[1], second) == ("你好呀", True, ["你好呀"])
    log = await get_memory().recent_messages(core.Scene.group(str(group), "2000001"))
    assert not [line for line in log if NOTICE in line.text]


async def test_nobody_is_written_to_unasked(stage: Stage, group: int) -> None:
    """Silence, private chats, and what the bot says on its own bring no notice."""
    assert await hear(stage, "随便说说", group) == []
    await stage.bot.send_group_msg(group_id=group, message="早安")
    assert [api for api, _ in stage.calls] == ["send_group_msg"]
    assert len(await hear(stage, "/记忆 状态", None)) == 1


async def test_switched_off(stage: Stage, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With announce=off, and while there is no memory, nobody is told."""
    from nonebot_plugin_cognitive_memory import announcing, config
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    off = core.Settings.from_mapping({"capture": {"announce": "off"}})
    with monkeypatch.context() as patch:
        patch.setattr(announcing, "setup", config.Setup(off, tmp_path))
        assert len(await hear(stage, "/记忆 状态", group)) == 1
    monkeypatch.setattr(lifetime, "memory", core.CognitiveMemory.absent())
    assert len(await hear(stage, "/记忆 状态", group)) == 1


async def test_once_for_good(tmp_path: Path) -> None:
    """Who was told stays told after a restart, and among many answers at once only one brings the notice."""
    from nonebot_plugin_cognitive_memory.announcing import Announcements

    path, scene = tmp_path / "announced.json", core.Scene.group("10001", "2000001")
    announcements = Announcements(path)
    claims = await asyncio.gather(*(announcements.claim(scene) for _ in range(8)))
    assert sorted(claims) == [False] * 7 + [True]
    assert await Announcements(path).claim(scene) is False
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "[", "5", "null", '{"a": 1}'])
async def test_a_broken_file(tmp_path: Path, content: str) -> None:
    """A file that says nothing sensible means that nobody was told, and no error."""
    from nonebot_plugin_cognitive_memory.announcing import Announcements

    path = tmp_path / "announced.json"
    path.write_text(content, "utf-8")
    assert await Announcements(path).claim(core.Scene.group("10001", "2000001")) is True


async def test_a_disk_that_refuses(stage: Stage, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it cannot be written down that a group was told, it is not told, and the answer stands."""
    from nonebot_plugin_cognitive_memory import announcing

    monkeypatch.setattr(announcing, "announcements", announcing.Announcements(tmp_path / "missing" / "announced.json"))
    assert len(await hear(stage, "/记忆 状态", group)) == 1
