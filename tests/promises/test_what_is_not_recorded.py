"""README: commands are not recorded, nor are excluded groups and people."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from cognitive_memory_core import Message, Scene, Turn
from tests.support.onebot import AHE, GROUP, MILI, OTHER_GROUP, Version, data_of, open_bot, version_of
from tests.support.telling import READING, READING_MILI, a_memory, recalled, say

ENV = [f"COGNITIVE_MEMORY__CAPTURE__IGNORE_GROUPS=[{OTHER_GROUP}]", f"COGNITIVE_MEMORY__CAPTURE__IGNORE_USERS=[{MILI}]"]
ECHO = """
from nonebot import on_message, require
from nonebot.adapters import Event

require("nonebot_plugin_cognitive_memory")
chat = on_message(priority=50, block=True)


@chat.handle()
async def echo(event: Event):
    await chat.finish("收到")
"""


@pytest.mark.parametrize("version", version_of("v12"))
async def test_the_log_holds_what_may_be_recorded_and_nothing_else(tmp_path: Path, version: Version) -> None:
    """Of four lines, only the one that is no command and from no excluded person or place is logged."""
    async with open_bot(tmp_path, {"echo": ECHO}, ENV, version) as (_, client):
        await client.ask("普通的话可以记", group=GROUP, user=AHE)
        await client.ask("/天气 命令不该记", group=GROUP, user=AHE)
        await client.ask("名单里的人不该记", group=GROUP, user=MILI)
        await client.ask("名单里的群不该记", group=OTHER_GROUP, user=AHE)
    async with a_memory(data_of(tmp_path), background=False) as memory:
        places = (Scene.group(str(GROUP), str(AHE)), Scene.group(str(OTHER_GROUP), str(AHE)))
        logged = [message.text for place in places for message in await memory.recent_messages(place, 50)]
    assert [text for text in logged if "记" in text] == ["普通的话可以记"]


async def test_lines_said_incognito_become_no_memory(tmp_path: Path) -> None:
    """Lines said incognito are left out of what others submit to be considered, and of what a turn brings along."""
    async with a_memory(tmp_path) as memory:
        await memory.incognito(READING, 5)
        await say(
            memory, READING_MILI, Message("m1", READING, "我对花生过敏", datetime.now(timezone.utc)), "我喜欢喝乌龙茶"
        )
        assert [event.sender_id for event in await memory.events(Scene.operator())] == [READING_MILI.user_id]
        assert "花生" not in await recalled(memory, READING_MILI, "花生")


async def test_a_place_that_is_off_records_nothing(tmp_path: Path) -> None:
    """Where recording is switched off, lines, turns and dialogues leave nothing, although they can be recalled."""
    async with a_memory(tmp_path) as memory:
        await memory.set_switch(READING, "recall_only")
        line = Message("m1", READING, "我对花生过敏", datetime.now(timezone.utc))
        await memory.observe(line)
        assert await memory.consider(READING, [line]) is None
        assert await memory.remember(Turn(READING, observations=("阿禾(2156083317) 对花生过敏",))) is None
        assert "花生" not in await recalled(memory, READING, "花生")
