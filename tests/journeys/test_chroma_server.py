"""Two bots outgrow one machine: their vectors move to a Chroma server that checks a token, and back."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from cognitive_memory_core import CognitiveMemory, Scene, Settings, Turn, VectorStoreSettings
from tests.support.vector_stores import guarded_chroma_server
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.timeout(600)  # several processes, each of which imports chromadb
TOKEN = "the-token-of-this-server"
HERE = Scene.group("10001", "2000001", user_name="阿棠")
FACTS = 12


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """Run a server that checks the token; return its address."""
    pytest.importorskip("opentelemetry.instrumentation.fastapi", reason="the Chroma server that checks tokens needs it")
    (tmp_path / "server").mkdir()
    with guarded_chroma_server(tmp_path / "server", TOKEN) as address:
        yield address


def on(url: str, database: str, token: str = TOKEN) -> Settings:
    """Return the settings of a bot whose vectors are on a server."""
    return Settings(vector_store=VectorStoreSettings.model_validate({"url": url, "database": database, "token": token}))


def told(bot: str, number: int) -> str:
    """Return one fact that only one bot was told, as it is kept."""
    return f"机器人记：阿棠(2000001) 第{number}次把{bot}的桂花糕带到读书会"


async def tell(memory: CognitiveMemory, bot: str, first: int = 0) -> None:
    """Tell a bot its facts and wait until the index has them."""
    await memory.remember(
        Turn(HERE, observations=[told(bot, number).partition("：")[2] for number in range(first, first + FACTS)])
    )
    assert await memory.drain(2 * PATIENCE)


async def found(memory: CognitiveMemory) -> list[str]:
    """Return what a search finds, in a fixed order."""
    return sorted(hit.event.text for hit in await memory.search_events(HERE, "桂花糕", top_k=100))


def vectors(data: Path) -> set[tuple[str, bytes]]:
    """Return each event's vector as the ledger holds it."""
    with closing(sqlite3.connect(f"file:{data / 'ledger.db'}?mode=ro", uri=True)) as ledger:
        (table,) = ledger.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE '%vector%' AND type = 'table'"
        ).fetchone()
        return {(str(row[0]), bytes(row[-1])) for row in ledger.execute(f"SELECT * FROM {table}")}


async def rows(url: str, database: str) -> list[int]:
    """Return how many rows the server holds in each collection of events of a database."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    base = f"{url}/api/v2/tenants/default_tenant/databases/{database}/collections"
    async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as asking:
        listed: list[dict[str, Any]] = (await asking.get(base)).json()
        named = [one["id"] for one in listed if one["name"].startswith("cognitive_events")]
        return [int((await asking.get(f"{base}/{one}/count")).text) for one in named]


@asynccontextmanager
async def searched_all_the_time(memory: CognitiveMemory) -> AsyncIterator[list[int]]:
    """Search without pause; yield how many facts each search found. A failing search fails the test."""
    answers: list[int] = []

    async def search() -> None:
        while True:
            answers.append(len(await found(memory)))
            await asyncio.sleep(0.02)

    searching = asyncio.create_task(search())
    await until(lambda: bool(answers) or searching.done())
    try:
        yield answers
    finally:
        searching.cancel()
        (outcome,) = await asyncio.gather(searching, return_exceptions=True)
        assert isinstance(outcome, asyncio.CancelledError)


async def test_two_bots_on_one_server(tmp_path: Path, url: str) -> None:
    """Two bots with a database each keep their vectors apart on one server, and each finds its own facts alone."""
    bots = ("first", "second")
    for bot in bots:
        async with CognitiveMemory.open(on(url, bot), tmp_path / bot) as memory:
            await tell(memory, bot)
            assert await found(memory) == sorted(told(bot, number) for number in range(FACTS))
            assert not (await memory.status()).failing
    assert [await rows(url, bot) for bot in bots] == [[FACTS], [FACTS]]
    assert not [path for bot in bots for path in (tmp_path / bot / "chromadb").glob("[0-9]*")]


async def test_a_wrong_token_costs_no_search(tmp_path: Path, url: str) -> None:
    """With a token that the server refuses, searches are answered exactly, the status says so, no row is written."""
    async with CognitiveMemory.open(on(url, "guarded", "wrong"), tmp_path / "data") as memory:
        await memory.remember(Turn(HERE, observations=[told("guarded", number) for number in range(FACTS)]))
        draining = asyncio.create_task(memory.drain(PATIENCE))  # starts the store

        async def is_told() -> bool:
            return bool((await memory.status()).failing)

        await until(is_told)
        draining.cancel()
        await asyncio.gather(draining, return_exceptions=True)
        status = await memory.status()
        assert TOKEN not in str(status)
        assert "wrong" not in str(status)

        async def is_found() -> bool:
            return len(await found(memory)) == FACTS

        await until(is_found)


async def test_to_a_server_and_back(tmp_path: Path, url: str) -> None:
    """From the embedded store to a server and back: no vector is lost or made again, and every search finds all."""
    data, embedded = tmp_path / "data", Settings()
    async with CognitiveMemory.open(embedded, data) as memory:
        await tell(memory, "moving")
        everything = await found(memory)
    kept = vectors(data)
    assert len(kept) >= FACTS
    for settings in (on(url, "moving"), embedded):
        async with CognitiveMemory.open(settings, data) as memory, searched_all_the_time(memory) as answers:
            assert (await memory.status()).index.behind == FACTS
            assert await memory.drain(2 * PATIENCE)
            status = await memory.status()
            assert (status.index_lag, status.index.behind, status.failing) == (0, 0, ())
            assert await found(memory) == everything
        assert set(answers) == {FACTS}
        assert vectors(data) == kept
        assert len(list((data / "chromadb").glob("[0-9]*"))) == (settings is embedded)
    assert await rows(url, "moving") == [FACTS]  # the bot has left them there: it knows the server no more
