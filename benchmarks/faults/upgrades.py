"""F28: directories of earlier versions opened, killed while they are migrated, and those of a later one refused."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.store.database import schema
from tests import golden
from tests.golden import fill
from tests.support.bot_homes import integrity
from tests.support.clock import FrozenClock

from ..fault_row import Extent, Row, Seen
from . import traced
from .child import ROOT
from .steps import open_ledger
from .traced import Injection

OPENING = "migration with its copy"  # the step of the driver that opens ledger.db
CALLS = 40  # of each directory, evenly spread over the hundreds that write: a kill and the start after it take a second
SETTINGS = core.Settings.model_validate(
    {"vector_store": {"backend": "exact"}, "profile": {"merge_delay_seconds": 0, "merge_min_facts": 1}}
)


def f28(extent: Extent) -> Row:
    """Open each directory, kill its migration before every statement and at writing calls, refuse a later one."""
    found, names = Seen(), golden.names()
    if extent.quick:
        names = [names[0], names[-1]]
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            open_whole(Path(scratch, "whole"), name, found)
            kill_statements(Path(scratch, "statements"), name, extent.of(1, 25), found)
        _kill_calls(Path(scratch, "calls"), names, extent.of(CALLS, 3), found)
        refuse_later(Path(scratch, "later"), names[-1], found)
    is_bad = found["refused"] != 2 or found["touched"]  # with and without a write-ahead log
    return found.row(sum(found[name] for name in ("opened", "statements", "calls", "refused")), failed=is_bad)


def open_whole(folder: Path, name: str, found: Seen) -> None:
    """Open a directory with the whole memory and let it do what was left; note what is missing."""
    data = golden.unpacked(name, folder)
    before, count = golden.rows_of(data / "ledger.db"), _format(data / "ledger.db")
    found["stuck"] += asyncio.run(_done(data))
    after = golden.rows_of(data / "ledger.db")
    for row in [*golden.missing(_unmoved(before), after), *_missing_copy(data / "ledger.db", count, before)]:
        found.wrong("lost", f"{name}: {row}")
    found["opened"] += 1
    shutil.rmtree(folder)


async def _done(data: Path) -> int:
    """Do the jobs that were left; return how many are not done."""
    async with core.CognitiveMemory.open(SETTINGS, data, clock=FrozenClock(fill.NOON)) as memory:
        await memory.revive()
        await memory.drain(120)
        texts = " ".join(event.text for event in await memory.events(core.Scene.operator(), limit=200))
        memos = {memo.text for memo in await memory.memos(fill.GROUP, 100)}
        undone = sum(f"第 {number} 本书" not in texts or f"待办 {number}" not in memos for number in range(3))
        return undone + len(await memory.failed_jobs())


def _unmoved(rows: dict[str, list[golden.Row]]) -> dict[str, list[golden.Row]]:
    """Leave out what work changes: vectors, marks and counters of rows, and spending."""
    kept = ("events", "messages", "memos", "pins", "jobs_done", "switches")
    moving = ("embedded_as", "revision")  # of an event that another embedder embeds anew
    return {table: [tuple(pair for pair in row if pair[0] not in moving) for row in rows[table]] for table in kept}


def kill_statements(folder: Path, name: str, every: int, found: Seen) -> None:
    """Kill the migration of a directory before its statements, and let the next start finish it."""
    data = golden.unpacked(name, folder / "data")
    before, count = golden.rows_of(data / "ledger.db"), _format(data / "ledger.db")
    command = [sys.executable, "-m", "tests.golden.killed", str(data / "ledger.db"), str(folder / "killed"), str(every)]
    subprocess.run(command, cwd=ROOT, check=True)
    for killed in (folder / "killed").iterdir():
        found["statements"] += 1
        _reopen(killed / "ledger.db", count, before, f"{name}, statement {killed.name}", found)
    shutil.rmtree(folder)


def _kill_calls(folder: Path, names: list[str], most: int, found: Seen) -> None:
    if not traced.is_there():
        return
    folder.mkdir()
    with traced.driver(folder) as process:
        for name in names:
            template, data = golden.unpacked(name, folder / "template"), folder / "data"
            count, before = _format(template / "ledger.db"), golden.rows_of(template / "ledger.db")
            shutil.copytree(template, data)
            unharmed = process.take(OPENING, data)
            for point in unharmed.points(most):
                shutil.rmtree(data)
                shutil.copytree(template, data)
                if process.take(OPENING, data, Injection(*point, "signal=KILL")).was_killed:
                    found["calls"] += 1
                    _reopen(data / "ledger.db", count, before, f"{name}, call {found['calls']}", found)
            shutil.rmtree(data)
            shutil.rmtree(template)


def _reopen(ledger: Path, count: int, before: dict[str, list[golden.Row]], where: str, found: Seen) -> None:
    asyncio.run(_opened_and_closed(ledger.parent))
    found["stuck"] += _format(ledger) != schema.FORMAT or integrity(ledger.parent) != "ok"
    for row in [*golden.missing(before, golden.rows_of(ledger)), *_missing_copy(ledger, count, before)]:
        found.wrong("lost", f"{where}: {row}")


async def _opened_and_closed(data: Path) -> None:
    await (await open_ledger(data)).close()


def _missing_copy(ledger: Path, count: int, before: dict[str, list[golden.Row]]) -> list[str]:
    copy = ledger.with_name(f"ledger.v{count}.db")
    if count == schema.FORMAT or (copy.exists() and golden.rows_of(copy) == before):
        return []
    return [f"{copy.name} is not the ledger before the migration"]


def refuse_later(folder: Path, name: str, found: Seen) -> None:
    """Open a ledger that is one format ahead, with the change in the file and in the log."""
    for in_log in (False, True):
        data = golden.unpacked(name, folder / str(in_log))
        asyncio.run(_opened_and_closed(data))
        copied = folder / f"{in_log} copied"
        with closing(sqlite3.connect(data / "ledger.db", isolation_level=None)) as connection:
            ahead = schema.FORMAT + 1
            connection.executescript(f"BEGIN; PRAGMA user_version = {ahead}; PRAGMA application_id = 131072; COMMIT")
            if in_log:
                shutil.copytree(data, copied)
        if not in_log:
            shutil.copytree(data, copied)
        before = _tree(copied)
        found["refused"] += "需要 2.0.0" in asyncio.run(_refusal(copied))
        found["touched"] += len(before.items() ^ _tree(copied).items())


async def _refusal(data: Path) -> str:
    try:
        async with core.CognitiveMemory.open(SETTINGS, data):
            return ""
    except core.UnavailableError as refused:
        return str(refused)


def _tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")  # empty: it is locked
    return {os.fspath(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def _format(ledger: Path) -> int:
    with closing(sqlite3.connect(ledger)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]
