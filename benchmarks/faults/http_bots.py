"""Bots with the HTTP interface and canaries in their memory, and what became of the attempts on them."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nonebot

import cognitive_memory_core as core
from tests.support.http_world import BELIEF, EVENT, GROUP_ID, PERSON, PIN, plant
from tests.support.onebot import BotProcess, data_of, prepare, start
from tests.support.openapi_client import Operation, operations
from tests.support.raw_http import Header, RawAnswer, RawRequest, bearer
from tests.support.waiting import until

TOKEN, WIDE_TOKEN = "8f2c1b7e90d3a4f5", "操作令牌-八月十五-月正圆"
CANARY = "密语七四一"
EXACT = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
ENV = ("COGNITIVE_MEMORY__VECTOR_STORE__BACKEND=exact", "COGNITIVE_MEMORY__HTTP__HOSTS=memory.example.com")
PLUGIN = {"memory": 'from nonebot import require\n\nrequire("nonebot_plugin_cognitive_memory")\n'}
TOKENS = {  # the line in .env, and the token that opens
    "token": (f"COGNITIVE_MEMORY__HTTP__TOKEN={TOKEN}", TOKEN),
    "token in Chinese": (f"COGNITIVE_MEMORY__HTTP__TOKEN={WIDE_TOKEN}", WIDE_TOKEN),
    "empty": ("COGNITIVE_MEMORY__HTTP__TOKEN=", ""),
    "blank": ('COGNITIVE_MEMORY__HTTP__TOKEN="   "', ""),
    "none": ("", ""),
}
JSON_TYPE: Header = ("Content-Type", b"application/json")
OWN = {
    "memory_id": BELIEF,
    "event_id": EVENT,
    "pin_id": PIN,
    "group_id": GROUP_ID,
    "entity_type": "member",
    "entity_id": f"{GROUP_ID}/{PERSON}",
}


@dataclass
class Seen:
    """What became of the attempts."""

    sent: int = 0
    passed: int = 0
    crashed: int = 0
    silent: int = 0
    statuses: Counter[int] = field(default_factory=Counter[int])
    first: str = "nothing"

    def note(self, what: str, answer: RawAnswer, *, is_bad: bool) -> None:
        """Count an attempt; ``is_bad`` if it got what it should not."""
        self.sent += 1
        self.statuses[answer.status] += 1
        self.crashed += answer.status >= 500 and answer.status != 503
        self.passed += is_bad
        if (is_bad or answer.status >= 500) and self.first == "nothing":
            self.first = f"{what}: {answer.status} {answer.body[:60]}"

    @property
    def told(self) -> str:
        """Return how often each status was answered; 0 is a connection closed without an answer."""
        return ", ".join(f"{status} {count}" for status, count in sorted(self.statuses.items()))


@asynccontextmanager
async def a_bot(env: str) -> AsyncGenerator[BotProcess, None]:
    """Run a bot whose memory holds canaries, until its memory is open."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        prepare(home, PLUGIN, [*ENV, env])
        async with core.CognitiveMemory.open(EXACT, data_of(home), background=False) as memory:
            await plant(memory, home, canary=CANARY)
        bot = start(home)
        try:
            await bot.opened()
            await until(lambda: _listens(bot.port))
            yield bot
        finally:
            await asyncio.to_thread(bot.stop)


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


async def document(port: int, token: str) -> list[Operation]:
    """Return the operations that a bot's document describes."""
    answer = await RawRequest(target=b"/memory/openapi.json", headers=[bearer(token)]).sent(port)
    return list(operations(json.loads(answer.body)))


def path_of(operation: Operation) -> bytes:
    """Return the path of an operation, with the ids of things that exist."""
    path = operation.path
    for name, value in OWN.items():
        path = path.replace("{" + name + "}", value)
    return b"/memory" + path.encode()


def is_let_in(answer: RawAnswer) -> bool:
    """Return whether an answer carries out a request or tells what is stored; the console's log-in page does not."""
    return CANARY in answer.text or (answer.is_success and "text/html" not in answer.text.partition("\r\n\r\n")[0])


def load_plugin(driver: str) -> None:
    """Load the plugin into this process; no bot starts."""
    nonebot.init(driver=driver, localstore_data_dir=tempfile.gettempdir(), log_level="ERROR")
    nonebot.load_plugin("nonebot_plugin_cognitive_memory")


def rows(bot: BotProcess) -> list[Any]:
    """Return what a request could change."""
    with closing(sqlite3.connect(f"file:{bot.data / 'ledger.db'}?mode=ro", uri=True)) as ledger:
        return _changeable(ledger)


def _changeable(ledger: sqlite3.Connection) -> list[Any]:
    queries = ("SELECT id, retired_at FROM events", "SELECT id, text FROM pins", "SELECT * FROM belief_changes")
    return [sorted(ledger.execute(query).fetchall(), key=str) for query in queries]


async def paced(request: RawRequest, port: int, token: str) -> RawAnswer:
    """Send a request, again if it carries a known token and asked too fast."""
    is_known = any(value == bearer(token)[1] for _, value in request.headers)
    answer = await request.sent(port)
    for _ in range(100):
        if answer.status != 429 or not is_known:
            break
        await asyncio.sleep(0.2)
        answer = await request.sent(port)
    return answer
