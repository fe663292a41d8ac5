"""README: a group is told once that the bot remembers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.onebot import AHE, GROUP, MILI, OTHER_GROUP, OneBotClient, Version, open_bot, version_of

ECHO = """
from nonebot import on_message, require
from nonebot.adapters import Event

require("nonebot_plugin_cognitive_memory")
chat = on_message(priority=50)


@chat.handle()
async def echo(event: Event):
    await chat.finish("回声 " + event.get_plaintext())
"""
NOTICE = "我会记住"
TELLING = ["COGNITIVE_MEMORY__CAPTURE__ANNOUNCE=reply"]


@pytest.mark.parametrize("version", version_of("v12"))
async def test_the_notice_goes_with_the_first_reply_and_never_again(tmp_path: Path, version: Version) -> None:
    """Each group gets the notice once, a private chat never, and a restarted bot does not repeat it."""
    async with open_bot(tmp_path, {"echo": ECHO}, TELLING, version) as (_, client):
        assert await _notices(client, 1, group=GROUP) == 1
        assert await _notices(client, group=GROUP, user=MILI) == 0
        assert await _notices(client, user=AHE) == 0
    async with open_bot(tmp_path, {"echo": ECHO}, TELLING, version) as (_, client):
        assert await _notices(client, group=GROUP) == 0
        assert await _notices(client, 1, group=OTHER_GROUP) == 1


async def _notices(client: OneBotClient, least: int = 0, **who: Any) -> int:
    """Speak three times in a place, wait for all answers and ``least`` notices, and count the notices there."""
    heard: list[str] = []
    for line in ("一", "二", "三"):
        await client.say(line, **who)
        while not heard or heard[-1] != f"回声 {line}":
            heard.append(await client.reply())
    while sum(NOTICE in text for text in heard) < least:
        heard.append(await client.reply())
    await asyncio.sleep(0.3)  # waits for one too many
    while not client.everything.empty():
        heard.append(client.everything.get_nowait())
    return sum(NOTICE in text for text in heard)
