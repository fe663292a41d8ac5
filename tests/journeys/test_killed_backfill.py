"""Kill the bot while it reads the history of a group, and let it go on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.history_ends import History, chat_of
from tests.support.onebot import GROUP, BotProcess, OneBotClient, data_of, prepare, start
from tests.support.sizes import sized

OPERATOR = 3417085926
LINES = sized(1_000, 5_000)
COMMAND = f"/记忆 补课 {LINES}"
HURRIED = """
from nonebot import require

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import platform_history

platform_history.PAUSE = 0.05
"""
ENV = (f'SUPERUSERS=["{OPERATOR}"]', "COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=30")


@pytest.mark.timeout(sized(240, 600))
async def test_a_history_whose_reading_was_killed_is_taken_in_once_and_in_order(tmp_path: Path) -> None:
    """After kill -9 in the middle, the command once more brings every line of people, each once, in order."""
    history = History(lines=chat_of(GROUP, LINES))
    wanted = [line["raw_message"] for line in history.lines if line["post_type"] == "message"]
    prepare(tmp_path, {"hurried": HURRIED}, ENV)
    pages = 0

    def killing(bot: BotProcess) -> None:
        nonlocal pages
        pages += 1
        if pages == LINES // 100 // 2:
            bot.kill()

    async with _reading(tmp_path, history, killing) as (bot, _):
        await asyncio.to_thread(bot.process.wait, 60)
    assert 0 < len(_texts(tmp_path)) < len(wanted)
    async with _reading(tmp_path, history, lambda _: None) as (_, client):
        while not (said := await client.reply()).startswith("补课完了"):
            assert "补课" in said
    assert f"读了 {LINES} 句" in said
    assert _texts(tmp_path) == wanted


@asynccontextmanager
async def _reading(
    home: Path, history: History, asked: Callable[[BotProcess], None]
) -> AsyncIterator[tuple[BotProcess, OneBotClient]]:
    """Start the bot and let it read the history; ``asked`` is called before each page is given."""
    bot = start(home)

    def page(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
        asked(bot)
        return history.answer(data)

    try:
        async with bot.client() as client:
            client.answers["get_group_msg_history"] = page
            await bot.opened()
            await client.say(COMMAND, user=OPERATOR, group=GROUP)
            yield bot, client
    finally:
        bot.stop()


def _texts(home: Path) -> list[str]:
    """Return the lines of the log in the order of their times."""
    with closing(sqlite3.connect(f"file:{data_of(home) / 'ledger.db'}?mode=ro", uri=True)) as ledger:
        rows = ledger.execute("SELECT text FROM messages ORDER BY sent_at").fetchall()
    return [text for (text,) in rows if text.startswith("第 ")]
