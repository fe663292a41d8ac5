"""Tests of the ledger's database file."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection

import pytest

from cognitive_memory_core.domain.figures import Totals
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.errors import StorageRefused, UnavailableError
from cognitive_memory_core.store.database.database import Database
from cognitive_memory_core.store.ledger import Ledger
from tests.support.builders import GROUP, a_draft, an_event
from tests.support.disks import fill, small_disk
from tests.support.ledgers import MODEL, a_vector, committed, embedded, events_near, events_with, shown

NO_SUCH_STACK = 1 << 46  # bytes: no thread starts
POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="modes of files are POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a ledger in a new folder."""
    return tmp_path / "memory" / "ledger.db"


def laid(path: Path, content: bytes) -> None:
    """Write a file at the ledger's path."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def content_of(path: Path) -> bytes:
    """Read a file, or return nothing if it is missing."""
    return path.read_bytes() if path.exists() else b""


async def jobs_committed(ledger: Ledger, numbers: range) -> None:
    """Write one large event for each number."""
    for number in numbers:
        await ledger.events.commit(a_draft(an_event(f"乌龙茶{number}" * 99), job_id=f"job{number}"))


@POSIX_ONLY
async def test_nobody_else_may_read_the_ledger(path: Path) -> None:
    """Folder and files, including the write-ahead log, are readable by their owner only."""
    ledger = await Ledger.open(path)
    await committed(ledger, an_event())
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    await ledger.close()
    assert set(modes) == {"ledger.db", "ledger.db-wal", "ledger.db-shm"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_writes_are_synced_and_deleted_bytes_overwritten(path: Path) -> None:
    """Commits are fully synced, and deleted data is overwritten."""

    def pragmas(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "secure_delete", "foreign_keys")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    database = Database(path)
    assert await database.write(pragmas) == ["wal", 2, 1, 1]
    await database.close()


@pytest.mark.parametrize(
    "content", [b"this is no database, but long enough to be one" * 99, b"SQLite format 3\0" * 300, b"\n"]
)
async def test_a_file_that_is_no_ledger_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    """A damaged file is refused with one sentence and left unchanged, by the bot and beside it."""
    laid(path, content)
    for read_only in (False, True):
        with pytest.raises(UnavailableError, match="已损坏") as refused:
            await Ledger.open(path, read_only=read_only)
        assert str(path) in str(refused.value)
        assert content_of(path) == content


async def test_a_damaged_page_is_found_at_start(path: Path) -> None:
    """A damaged page in the middle of the file is found at the start."""
    ledger = await Ledger.open(path)
    await committed(ledger, *(an_event(f"第{number}件") for number in range(1500)))
    await ledger.close()
    whole = content_of(path)
    middle = len(whole) // 8192 * 4096
    damaged = whole[:middle] + os.urandom(4096) + whole[middle + 4096 :]
    laid(path, damaged)
    with pytest.raises(UnavailableError, match="已损坏"):
        await Ledger.open(path)
    assert content_of(path) == damaged
    laid(path, whole)
    await (await Ledger.open(path)).close()


@POSIX_ONLY
async def test_a_full_disk_refuses_writes_and_goes_on_reading(tmp_path: Path) -> None:
    """On a full disk nothing is written partly and reading works; with space writing works again."""
    with small_disk(tmp_path / "disk", 8) as disk:
        ledger = await Ledger.open(disk / "ledger.db")
        await committed(ledger, an_event("先来的"))
        junk = fill(disk)
        with pytest.raises(StorageRefused, match=r"ledger\.db"):
            await jobs_committed(ledger, range(50))
        written = [number for number in range(50) if await ledger.events.done(f"job{number}")]
        assert len(await shown(ledger, GROUP)) == len(written) + 1
        junk.unlink()
        await ledger.events.commit(a_draft(an_event("后来的"), job_id="after"))
        assert "后来的" in await shown(ledger, GROUP)
        await ledger.close()


async def test_a_cancelled_write_happens_whole_or_not_at_all(path: Path) -> None:
    """A cancelled write is either executed completely or not at all."""
    ledger = await Ledger.open(path)
    first, waiting, running = an_event("甲"), an_event("乙"), an_event("丙")
    await embedded(ledger, [(first, a_vector(1, 0))])
    assert await events_near(ledger.corpora, a_vector(1, 0), ReadFilter(GROUP), 5)
    begun, may_end = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        begun.set()
        may_end.wait()
        connection.execute("INSERT INTO opt_outs (user_id, at_us) VALUES ('begun', 0)")

    blocking = asyncio.ensure_future(ledger.database.write(slow))
    await asyncio.to_thread(begun.wait)
    queued = asyncio.create_task(committed(ledger, waiting))
    await asyncio.sleep(0)
    for task in (queued, blocking):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    may_end.set()
    await committed(ledger, running)
    storing = asyncio.create_task(ledger.vectors.store(MODEL, [(running.id, running.text, a_vector(0, 1))]))
    await asyncio.sleep(0)
    storing.cancel()
    await ledger.consent.opt_in("nobody")  # a later write to wait for
    assert await ledger.consent.opted_out() == {"begun"}
    assert await shown(ledger, GROUP) == ["丙", "甲"]
    expected = 1 + (await ledger.vectors.lag(MODEL) == 0)
    assert len(await events_near(ledger.corpora, a_vector(1, 0), ReadFilter(GROUP), 5)) == expected
    await ledger.close()


async def test_closing_waits_for_what_was_asked_and_refuses_what_comes_after(path: Path) -> None:
    """Closing executes accepted writes and refuses later ones."""
    ledger = await Ledger.open(path)
    writes = [asyncio.create_task(committed(ledger, an_event(f"第{number}件"))) for number in range(20)]
    await asyncio.sleep(0)
    await ledger.close()
    await asyncio.gather(*writes)
    with pytest.raises(UnavailableError, match="关闭"):
        await ledger.archive.totals()
    with pytest.raises(UnavailableError, match="关闭"):
        await committed(ledger, an_event())
    ledger = await Ledger.open(path)
    assert (await ledger.archive.totals()).events == 20
    await ledger.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such a stack is a ValueError")
async def test_no_thread_left_makes_reads_unavailable_and_stops_no_write(path: Path) -> None:
    """Where the system refuses another thread, a read that needs one is unavailable; a write needs none."""
    database = Database(path)

    def one(connection: Connection) -> int:
        return connection.execute("SELECT 1").fetchone()[0]

    usual = threading.stack_size(NO_SUCH_STACK)
    try:
        with pytest.raises(UnavailableError, match=str(path)):
            await database.read(one)
        assert await database.write(one) == 1
    finally:
        threading.stack_size(usual)
    assert await database.read(one) == 1
    await database.close()


async def test_a_second_reader_sees_what_the_owner_writes_and_writes_nothing(path: Path) -> None:
    """A second reader sees the owner's writes and cannot write."""
    owner = await Ledger.open(path)
    reader = await Ledger.open(path, read_only=True)
    await embedded(owner, [(an_event("乌龙茶"), a_vector(1, 0))])
    assert await reader.archive.totals() == Totals(events=1)
    assert len(await events_with(reader.corpora, ["乌龙"], ReadFilter(GROUP), 5)) == 1
    with pytest.raises(StorageRefused, match="只读"):
        await reader.consent.opt_out("1", an_event().happened_at)
    await reader.close()
    await owner.close()


async def test_reading_alone_makes_no_file(path: Path) -> None:
    """Opening for reading creates and changes no file."""
    with pytest.raises(UnavailableError, match="读不了"):
        await Ledger.open(path, read_only=True)
    assert content_of(path) == b""
    laid(path, b"")
    with pytest.raises(UnavailableError, match="旧格式"):
        await Ledger.open(path, read_only=True)
