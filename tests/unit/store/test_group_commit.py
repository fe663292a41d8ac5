"""Tests of writes that share a transaction."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from sqlite3 import Connection

import pytest

from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.store.database.database import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """Return a database with a table of numbers."""
    opened = Database(tmp_path / "ledger.db")
    await opened.write(lambda connection: connection.execute("CREATE TABLE numbers (number INTEGER UNIQUE)"))
    yield opened
    await opened.close()


def add(connection: Connection, *numbers: int) -> int:
    """Write numbers."""
    connection.executemany("INSERT INTO numbers VALUES (?)", [(number,) for number in numbers])
    return len(numbers)


def listed(connection: Connection) -> list[int]:
    """Read all numbers."""
    return [row[0] for row in connection.execute("SELECT number FROM numbers ORDER BY number")]


@asynccontextmanager
async def a_busy_writer(database: Database) -> AsyncIterator[None]:
    """Keep the writing thread busy until the block is left."""
    begun, free, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()

    def wait(_: Connection) -> bool:
        loop.call_soon_threadsafe(begun.set)
        return free.wait(30)

    waiting = asyncio.ensure_future(database.write(wait))
    await begun.wait()
    yield
    free.set()
    await waiting


async def transactions(database: Database) -> list[str]:
    """Record the statements that start a transaction."""
    begun: list[str] = []
    await database.write(
        lambda connection: connection.set_trace_callback(
            lambda statement: begun.append(statement) if statement.startswith("BEGIN") else None
        )
    )
    return begun


async def test_writes_that_wait_share_a_transaction(database: Database) -> None:
    """Ten waiting writes share one transaction."""
    begun = await transactions(database)
    async with a_busy_writer(database):
        writes = [asyncio.ensure_future(database.write(add, number)) for number in range(10)]
        await asyncio.sleep(0.01)
    assert await asyncio.gather(*writes) == [1] * 10
    assert len(begun) == 2
    assert await database.read(listed) == list(range(10))


async def test_a_write_that_fails_takes_back_only_itself(database: Database) -> None:
    """A failing write in a shared transaction is undone alone."""
    async with a_busy_writer(database):
        first = asyncio.ensure_future(database.write(add, 1))
        bad = asyncio.ensure_future(database.write(add, 2, 3, 1))
        last = asyncio.ensure_future(database.write(add, 4))
        await asyncio.sleep(0.01)
    assert (await first, await last) == (1, 1)
    with pytest.raises(sqlite3.IntegrityError):
        await bad
    assert await database.read(listed) == [1, 4]


async def test_a_transaction_that_fails_is_refused_to_all(database: Database) -> None:
    """If the whole transaction fails, all its writes are refused."""

    def lose_all(connection: Connection) -> None:
        connection.execute("ROLLBACK")
        message = "disk I/O error"
        raise sqlite3.OperationalError(message)

    async with a_busy_writer(database):
        first = asyncio.ensure_future(database.write(add, 1))
        bad = asyncio.ensure_future(database.write(lose_all))
        last = asyncio.ensure_future(database.write(add, 2))
        await asyncio.sleep(0.01)
    for write in (first, bad, last):
        with pytest.raises(StorageRefused):
            await write
    assert await database.read(listed) == []
    assert await database.write(add, 3) == 1


async def test_a_write_that_was_cancelled_while_it_waited_never_happens(database: Database) -> None:
    """A write cancelled while it waits is not executed."""
    async with a_busy_writer(database):
        given_up = asyncio.ensure_future(database.write(add, 1))
        kept = asyncio.ensure_future(database.write(add, 2))
        await asyncio.sleep(0.01)
        given_up.cancel()
        await asyncio.wait([given_up])
    assert await kept == 1
    assert await database.read(listed) == [2]
