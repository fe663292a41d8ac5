"""Tests of Chroma's store when its process, disk or other users fail, with real processes."""

from __future__ import annotations

import asyncio
import shutil
from array import array
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from benchmarks.chroma_world import EVERYTHING, examined, filled, known_rows, opened, patiently, the_child
from benchmarks.fault_row import Extent
from benchmarks.faults.rows import run_row
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from tests.support.sizes import IS_NIGHTLY, sized
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.timeout(sized(300, 1800))  # dozens of processes, each of which imports chromadb
ROWS = known_rows(400, 16)
EAST = ROWS[0].vector or array("f")
PERSISTED = 1_000  # rows after which Chroma writes its index files
CALL = 3.0  # time limit of a call in seconds
UNHURRIED = 60.0  # the same where no call is meant to exceed it


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ChromaStore]:
    """Return an empty store with a time limit of seconds per call."""
    async with opened(tmp_path / "chromadb", CALL) as store:
        yield store


async def ended(calls: list[Awaitable[object]]) -> list[object]:
    """Wait until all calls have an answer or are refused."""
    ends = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), PATIENCE)
    assert not [end for end in ends if isinstance(end, BaseException) and not isinstance(end, UnavailableError)]
    return ends


async def test_closing_refuses_whoever_still_waits(tmp_path: Path) -> None:
    """A search and a removal during closing are reported as unavailable, not as cancelled."""
    async with opened(tmp_path, CALL) as store:
        generation = await filled(store, ROWS[:5])
    async with opened(tmp_path, CALL) as store:
        asked = asyncio.create_task(store.nearest(generation, EAST, EVERYTHING, 5))
        removing = asyncio.create_task(store.remove(generation, ["nobody"]))
        opening = asyncio.create_task(store.open())
        await asyncio.sleep(0.05)
        await store.close()
        await ended([asked, removing, opening])


async def test_another_model_begins_the_next_generation(tmp_path: Path) -> None:
    """F20: the old generation stays in use until the new one is complete; an aborted attempt leaves nothing."""
    async with opened(tmp_path, CALL) as store:
        old = await filled(store, ROWS)
        growing = await store.begin("another model", 3)
        await store.upsert(growing, known_rows(5, 3))
        the_child().kill()
    async with opened(tmp_path, CALL) as store:
        assert await patiently(store.open, PATIENCE) == old
        assert not (await examined(store, old, ROWS, sample=5)).total()
        again = await store.begin("another model", 3)
        assert again.build_id != growing.build_id
        await store.put_in_use(again)
        assert await store.open() == again
    assert [path.parent for path in tmp_path.rglob("chroma.sqlite3")] == [tmp_path / f"{again.number:04d}"]  # noqa: ASYNC240


async def test_opening_asks_for_rows_in_the_middle_and_at_the_end(tmp_path: Path) -> None:
    """Vectors lost in the middle or at the end of their file are noticed when it is opened."""
    async with opened(tmp_path / "whole", UNHURRIED) as store:
        await filled(store, known_rows(PERSISTED, 16))
    for where, begin in (("middle", PERSISTED // 2 - 10), ("end", PERSISTED - 17)):
        shutil.copytree(tmp_path / "whole", tmp_path / where)
        (file,) = (tmp_path / where).rglob("data_level0.bin")
        content = file.read_bytes()
        a_row = len(content) // PERSISTED
        rest = b"" if where == "end" else bytes(20 * a_row) + content[(begin + 20) * a_row :]
        file.write_bytes(content[: begin * a_row] + rest)
        async with opened(tmp_path / where, UNHURRIED) as store:
            assert await store.open() is None


@pytest.mark.parametrize("name", ["F10b", "F11", "F12", "F13", "F29", "F30"])
def test_a_fault_of_the_store_costs_nothing(name: str) -> None:
    """Rows of the fault table: kills of bot and child, damage, foreign locks, deletions and drift are survived."""
    row = run_row(name, Extent(quick=not IS_NIGHTLY))
    assert not row.is_bad, row
