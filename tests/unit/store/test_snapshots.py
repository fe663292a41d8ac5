"""Tests of snapshots: the reads of one trip see one state of the ledger, and nothing outlives it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.store.database.connections import opened_for_reading, snapshot
from cognitive_memory_core.store.database.database import Database
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search.filters import EVENTS
from tests.support.builders import GROUP, a_draft, an_event

COUNT, ADD = "SELECT count(*) FROM jobs_done", "INSERT INTO jobs_done VALUES (?, 0)"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    """Open a ledger's database."""
    opened = Database(path)
    yield opened
    await opened.close()


def count(connection: Connection) -> int:
    """Return how many jobs are done."""
    return connection.execute(COUNT).fetchone()[0]


async def test_one_read_sees_one_state(path: Path, database: Database) -> None:
    """What is written during a read is not seen by it, and is by the next one."""

    def counts(connection: Connection) -> list[int]:
        before = count(connection)
        with closing(sqlite3.connect(path)) as other, other:
            other.execute(ADD, ("beside",))
        return [before, count(connection)]

    assert await database.read(counts) == [0, 0]
    assert await database.read(count) == 1


async def test_a_failed_read_holds_no_later_read_back(database: Database) -> None:
    """Reads see what was written after another one failed in the middle of its rows, however long its error is kept."""

    def fails(connection: Connection) -> int:
        rows = connection.execute(f"{COUNT} UNION ALL VALUES (2)")
        raise ValueError(rows.fetchone())

    kept = await asyncio.gather(*(database.read(fails) for _ in range(8)), return_exceptions=True)
    await database.write(lambda connection: connection.execute(ADD, ("later",)).rowcount)
    assert await asyncio.gather(*(database.read(count) for _ in range(8))) == [1] * 8
    assert all(isinstance(failure, UnavailableError) for failure in kept)


@pytest.fixture
async def tea(path: Path) -> Path:
    """Return the path of a ledger with one event."""
    ledger = await Ledger.open(path)
    await ledger.events.commit(a_draft(an_event("乌龙茶")))
    await ledger.close()
    return path


async def test_a_row_shared_by_a_trip_is_still_checked_for_each_read(tea: Path) -> None:
    """A row that one read of a trip was shown is withheld from another read that may not see it."""
    with closing(opened_for_reading(tea)) as connection, snapshot(connection):
        assert [event.text for event in EVENTS.at(connection, ReadFilter(GROUP), [1]).values()] == ["乌龙茶"]
        assert not EVENTS.at(connection, ReadFilter(Scene.group("other", "someone")), [1])


async def test_rows_are_kept_for_their_snapshot_only(tea: Path) -> None:
    """A row that changed is read anew by the next trip, and by reads outside any."""

    def text_of(connection: Connection) -> str:
        return EVENTS.at(connection, ReadFilter(GROUP), [1])[1].text

    with closing(opened_for_reading(tea)) as connection, closing(sqlite3.connect(tea)) as writer:
        with snapshot(connection):
            assert text_of(connection) == "乌龙茶"
        for text in ("红茶", "绿茶"):
            with writer:
                writer.execute("UPDATE events SET text = ?", (text,))
            assert text_of(connection) == text
        with snapshot(connection):
            assert text_of(connection) == "绿茶"
