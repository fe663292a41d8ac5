"""README: commands are not recorded, nor are excluded groups and people."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core import Scene
from tests.support.onebot import AHE, GROUP, MILI, OTHER_GROUP, Version, data_of, open_bot, version_of
from tests.support.telling import a_memory

ENV = [
    f"COGNITIVE_MEMORY__CAPTURE__IGNORE_GROUPS=[{OTHER_GROUP}]",
    f"COGNITIVE_MEMORY__CAPTURE__IGNORE_USERS=[{MILI}]",
]
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
