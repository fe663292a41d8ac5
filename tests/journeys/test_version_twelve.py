"""Tests of a real bot on OneBot v12, with ids that are no numbers: names come late, and all else is as on v11."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.onebot import OneBotClient, open_bot
from tests.support.waiting import until

CLUB, TANG, LIN = "38472@chatroom", "wxid_tang", "wxid_lin"
HERE: dict[str, Any] = {"group": CLUB, "user": TANG, "name": "阿棠"}
ASKING: dict[str, Any] = {"group": CLUB, "user": LIN, "name": "小林"}
SHOWS_CONTEXT = """
from nonebot import on_message, require
from nonebot.adapters import Event

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import MemoryContext

chat = on_message(priority=50)


@chat.handle()
async def turn(event: Event, context: MemoryContext):
    await chat.finish("想起：" + context.text)
"""


async def chatted(client: OneBotClient) -> None:
    """Let other people talk until what was said before is no longer in the window of the chat."""
    for number in range(30):
        await client.ask(f"今天也要加油 {number}", group=CLUB, user=f"wxid_{number % 5}", name="路人")


async def test_a_persons_only_line_is_recalled_by_name(tmp_path: Path) -> None:
    """The only line of a person, whose name came later, is recalled under that name, also after a restart."""
    async with open_bot(tmp_path, {"shows": SHOWS_CONTEXT}, version="v12") as (_, client):
        await client.ask("周六的烧烤改到青石公园", **HERE)
        await until(lambda: ("get_group_member_info", TANG) in asked(client))
        await chatted(client)
        assert "青石公园" in await client.ask_until("烧烤在哪里", f"阿棠({TANG})", **ASKING)
    async with open_bot(tmp_path, {"shows": SHOWS_CONTEXT}, version="v12") as (_, client):
        assert f"阿棠({TANG})" in await client.ask("烧烤在哪里", **ASKING)
        assert "青石公园" not in await client.ask("烧烤在哪里", user=LIN, name="小林")


async def test_a_line_is_answered_while_the_platform_tells_no_name(tmp_path: Path) -> None:
    """A platform that never answers the question for a name delays no answer and loses no line."""
    async with open_bot(tmp_path, {"shows": SHOWS_CONTEXT}, version="v12") as (_, client):
        client.unanswered.add("get_group_member_info")
        await client.ask("周六的烧烤改到青石公园", **HERE)
        await chatted(client)
        assert f"({TANG})" in await client.ask_until("烧烤在哪里", "青石公园", **ASKING)


def asked(client: OneBotClient) -> list[tuple[str, str]]:
    """Return which people the platform was asked about."""
    return [(action, str(params.get("user_id"))) for action, params in client.calls]
