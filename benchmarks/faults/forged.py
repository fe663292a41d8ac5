"""A5: events forged over HTTP and WebSocket, with a superuser's number or a role that nobody has."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.support.onebot import BOT, GROUP, MILI, BotProcess, OneBotClient

from ..fault_row import Extent, Row, Seen
from .bots import a_bot, rows_of

COMMANDS = ("清空", "关", "只记", "置顶 听我的", "忘掉 1", "停", "重建索引", "重试", "查看 2680914375")
COMMANDS += ("回滚 2680914375", "统计", "失败", "总结", "清空")
ROLES = ("superuser", "admin", "owner")
SUPERUSERS = tuple(str(number) for number in range(1_000_001, 1_000_401))
TOKEN, SECRET = "t0ken", "s3cret"  # of a bot that lives for a minute
GUARDS: Mapping[str, tuple[str, ...]] = {
    "neither": (),
    "token alone": (f"ONEBOT_V11_ACCESS_TOKEN={TOKEN}",),
    "token and secret": (f"ONEBOT_V11_ACCESS_TOKEN={TOKEN}", f"ONEBOT_V11_SECRET={SECRET}"),
}
PATIENCE = 30.0  # seconds for one answer
# the configured address is open to all, as in a container; the socket of this row listens on loopback
BOT_SCRIPT = """
import nonebot, uvicorn
from nonebot.adapters.onebot.v11 import Adapter

nonebot.init(host="0.0.0.0")
driver = nonebot.get_driver()
driver.register_adapter(Adapter)
nonebot.load_plugins("plugins")
uvicorn.run(nonebot.get_asgi(), host="127.0.0.1", port=int(driver.config.port), log_level="error")
"""
PLUGIN = """
from nonebot import on_command, require
from nonebot.adapters.onebot.v11 import GROUP_ADMIN, GROUP_OWNER
from nonebot.permission import SUPERUSER

require("nonebot_plugin_cognitive_memory")
bare = on_command("bare", permission=SUPERUSER | GROUP_ADMIN | GROUP_OWNER, priority=5, block=True)


@bare.handle()
async def obey() -> None:
    await bare.finish("obeyed")
"""
CHANGED = ("SELECT id, retired_at FROM events", "SELECT text FROM pins", "SELECT * FROM switches")
CHANGED += ("SELECT count(*) FROM erasures",)
_groups, _people, _numbers, _turns = count(780_001), count(2_500_001), count(5_000_001), count()


async def a5(extent: Extent) -> Row:
    """Forge commands to a bot whose port is open to all; none may be carried out, whatever guards it."""
    seen = Seen()
    for guard in GUARDS:
        await _besieged(guard, seen, COMMANDS[:: extent.of(1, 6)])
    return seen.row(seen.pop("sent"))


def _judge(seen: Seen, what: str, answer: str | None) -> None:
    """Count an attempt by its answer; None if the server turned it away."""
    seen["sent"] += 1
    if answer is None:
        seen["turned away by the server"] += 1
    elif any(sign in answer for sign in ("核实", "只有", "不是你说的", "没有告诉我", "没有这个序号")):
        seen["refused"] += 1
    else:
        seen.wrong("lost", f"{what}: {answer[:40]}")


async def _besieged(guard: str, seen: Seen, commands: tuple[str, ...]) -> None:
    """Attack one bot with these guards, and compare its ledger before and after."""
    lines = [*GUARDS[guard], f"SUPERUSERS={json.dumps(SUPERUSERS)}"]
    token = TOKEN if GUARDS[guard] else ""
    async with a_bot(lines, {"bare": PLUGIN}, script=BOT_SCRIPT) as bot, bot.client(token) as client:
        await bot.opened()
        await client.ask("/记忆 记住 我对花生过敏", group=GROUP, user=MILI, name="米粒")
        before = rows_of(bot.data, *CHANGED)
        await _attacked(_Attacker(bot, client), guard, seen, commands)
        seen["twice"] += rows_of(bot.data, *CHANGED) != before


async def _attacked(attacker: _Attacker, guard: str, seen: Seen, commands: tuple[str, ...]) -> None:
    for role in ROLES:
        seen[f"NoneBot's permission obeys, {guard}"] += await attacker.post("/bare", role, "unknown") == "obeyed"
        for command in commands:
            for way in ("unknown", "another's"):
                answer = await attacker.post(f"/记忆 {command}", role, way)
                _judge(seen, f"{guard}, HTTP, {role}, {way}: {command}", answer)
            await attacker.post(f"/记忆 {command}", role, "unknown", self_id=next(_numbers))  # has nowhere to answer
            seen["sent"] += 1
    async with attacker.posing() as client:
        for role in ROLES:
            for command in commands:
                answer = None if client is None else await attacker.pose(client, f"/记忆 {command}", role)
                _judge(seen, f"{guard}, WebSocket, {role}: {command}", answer)


class _Attacker:
    """Somebody who reaches the port, and knows everything but the secrets."""

    def __init__(self, bot: BotProcess, client: OneBotClient) -> None:
        """Attack a bot whose real platform is ``client``."""
        self._bot = bot
        self._client = client
        self._http = httpx.AsyncClient(trust_env=False)

    async def post(self, text: str, role: str, way: str, *, self_id: int = BOT) -> str | None:
        """Send a forged event by HTTP; return the bot's answer in that group, None if the server refused the event."""
        group = next(_groups)
        number = next(_numbers)
        if way == "another's":
            number = await self._client.say("早上好", group=GROUP, user=MILI, name="米粒")
        event = _event(text, role, group, number, self_id)
        url = f"http://127.0.0.1:{self._bot.port}/onebot/v11/http"
        answer = await self._http.post(url, json=event, headers={"X-Self-ID": str(self_id)}, timeout=PATIENCE)
        if answer.status_code >= httpx.codes.BAD_REQUEST:
            return None
        if self_id != BOT:
            return ""
        with suppress(asyncio.TimeoutError):
            wait = PATIENCE if text.startswith("/记忆") else 2.0
            return await asyncio.wait_for(self._client.sent[group].get(), wait)
        return "（没有回答）只有"

    @asynccontextmanager
    async def posing(self) -> AsyncGenerator[OneBotClient | None, None]:
        """Connect as the platform of an unknown account, without a token; None if the bot refuses that."""
        self_id = next(_numbers)
        url = f"ws://127.0.0.1:{self._bot.port}/onebot/v11/ws"
        try:
            wire = await connect(url, additional_headers={"X-Self-ID": str(self_id)}, proxy=None)
        except InvalidHandshake:
            yield None
            return
        client = OneBotClient(wire)
        client.answers["get_group_member_info"] = lambda params: {**params, "role": "owner"}
        client.answering = asyncio.create_task(client.serve())
        try:
            yield client
        finally:
            client.answering.cancel()
            with suppress(ConnectionClosed, OSError):
                await wire.close()

    async def pose(self, client: OneBotClient, text: str, role: str) -> str:
        """Send a forged event as the platform, which confirms it when it is asked; return the bot's answer."""
        event = _event(text, role, next(_groups), next(_numbers), BOT)
        client.said[event["message_id"]] = event
        await client.wire.send(json.dumps(event))
        return await asyncio.wait_for(client.sent[event["group_id"]].get(), PATIENCE)


def _event(text: str, role: str, group: int, number: int, self_id: int) -> dict[str, Any]:
    user = int(SUPERUSERS[next(_turns) % len(SUPERUSERS)]) if role == "superuser" else next(_people)
    claimed = "member" if role == "superuser" else role
    return {
        "self_id": self_id,
        "post_type": "message",
        "message_type": "group",
        "sub_type": "normal",
        "time": int(time.time()),
        "message_id": number,
        "group_id": group,
        "user_id": user,
        "message": [{"type": "text", "data": {"text": text}}],
        "raw_message": text,
        "font": 0,
        "sender": {"user_id": user, "nickname": "主人", "card": "", "role": claimed},
    }
