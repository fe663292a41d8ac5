"""The whole ledger in one SQLite file, and what the memory knows of itself."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime
from operator import attrgetter
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import orjson

from ..domain.event import Event
from ..domain.figures import COUNTED, Spending
from ..domain.profile import Profile
from ..ports import Calibration, Clock, SystemClock
from ..tasks import completed
from ..text.retelling import without_retold
from . import event_rows
from .archive import Archive
from .beliefs import BeliefBook
from .consent import ConsentBook
from .database.database import Check, Database, Snapshot, Table, reads, writes
from .database.examination import examined
from .database.rows import BELIEF, PROFILE, SPENDING, bound, instant_of, micros, refresh_words
from .erasure import Eraser
from .events import EventLedger
from .facts import FactBook
from .listings import OperatorLists
from .messages import MessageLog
from .names import NameBook
from .notes import NoteBook
from .profiles import ProfileIndex, words_of
from .quality import QualityLedger
from .search.corpora import Corpora
from .vectors import VectorBook, VectorLedger


@dataclass(frozen=True)
class ClockState:
    """The latest trusted instant of the machine's clock (None before the first) and the instant seen last.

    ``steady_seconds`` is how long the clock has run without a jump.
    """

    believed_at: datetime | None
    seen_at: datetime
    steady_seconds: float


class Housekeeping(Table):
    """What the memory stores about itself: model calls by day, the trusted clock, calibrations of embedders."""

    @writes
    def spend(self, connection: Connection, day: date, spending: Spending) -> None:
        """Add the cost of one purpose to a day."""
        added = ", ".join(f"{name} = {name} + excluded.{name}" for name in COUNTED)
        connection.execute(
            f"INSERT INTO spending (day, {', '.join(SPENDING.fields)}) VALUES (?, ?, ?, ?, ?, ?, ?)"
            f" ON CONFLICT (day, purpose) DO UPDATE SET {added}",
            (day.isoformat(), *SPENDING.values(spending)),
        )

    @reads
    def spent(self, connection: Connection, since: date) -> list[tuple[date, Spending]]:
        """Return what was spent from a day on, by day and purpose, oldest first."""
        query = f"SELECT day, {SPENDING.of()} FROM spending e WHERE day >= ? ORDER BY day, purpose"
        rows = connection.execute(query, bound(since.isoformat()))
        return [(date.fromisoformat(day), SPENDING.read(spent)) for day, *spent in rows]

    @reads
    def clock(self, connection: Connection) -> ClockState | None:
        """Return the trust state of the machine's clock; None before the first :meth:`keep_clock`."""
        written = _kept(connection, "clock")
        if written is None:
            return None
        believed_us, seen_us, steady = written
        return ClockState(None if believed_us is None else instant_of(believed_us), instant_of(seen_us), steady)

    @writes
    def keep_clock(self, connection: Connection, state: ClockState) -> None:
        """Store the trust state of the machine's clock."""
        believed_us = None if state.believed_at is None else micros(state.believed_at)
        _keep(connection, "clock", (believed_us, micros(state.seen_at), state.steady_seconds))

    @writes
    def redate_tombstones(self, connection: Connection, after: datetime, to: datetime) -> int:
        """Redate the tombstones dated later than ``after`` to the instant ``to``; return how many."""
        query = "UPDATE erasures SET at_us = ? WHERE at_us > ?"
        return connection.execute(query, (micros(to), micros(after))).rowcount

    @reads
    def calibration(self, connection: Connection, fingerprint: str) -> Calibration | None:
        """Return the calibration measured for an embedder's fingerprint; None if there is none."""
        written = _kept(connection, f"calibration of {fingerprint}")
        return None if written is None else Calibration(**written)

    @writes
    def keep_calibration(self, connection: Connection, fingerprint: str, calibration: Calibration) -> None:
        """Store a calibration, replacing an earlier one."""
        _keep(connection, f"calibration of {fingerprint}", calibration)

    @reads
    def may_borrow(self, connection: Connection) -> bool:
        """Return whether the ledger was begun by a version that borrows models of other programs."""
        return _kept(connection, "borrows") is not None

    @writes
    def note_borrowing(self, connection: Connection) -> None:
        """Mark a new ledger as begun by such a version."""
        _keep(connection, "borrows", value=True)


def _kept(connection: Connection, key: str) -> Any:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", bound(key)).fetchone()
    return None if row is None else orjson.loads(row[0])


def _keep(connection: Connection, key: str, value: object) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", bound(key, orjson.dumps(value).decode()))


class Ledger:
    """The tables of one database."""

    def __init__(
        self, path: Path, *, clock: Clock | None = None, read_only: bool = False, check: Check = lambda: None
    ) -> None:
        """Open a ledger, or create one if there is none; blocking, see :meth:`open`."""
        clock = clock or SystemClock()
        self.database = database = Database(path, read_only=read_only, check=check)
        self.events = EventLedger(database, clock)
        self.corpora = Corpora(database)
        self.vectors = VectorLedger(database)
        self.log = MessageLog(database)
        self.notes = NoteBook(database)
        self.consent = ConsentBook(database)
        self.names = NameBook(database)
        self.facts = FactBook(database)
        self.profiles = ProfileIndex(database)
        self.profile_vectors = VectorBook(database, PROFILE, "profile_vectors", words_of, key="seq")
        self.beliefs = BeliefBook(database)
        statement, where = attrgetter("statement"), "e.status = 'active'"
        self.belief_vectors = VectorBook(database, BELIEF, "belief_vectors", statement, where=where)
        self.listings = OperatorLists(database)
        self.quality = QualityLedger(database)
        self.housekeeping = Housekeeping(database)
        self.archive = Archive(database)
        self.eraser = Eraser(database)

        if not read_only:
            with ExitStack() as undo:
                undo.callback(database.close_now)
                database.write_now(refresh_words)
                database.write_now(event_rows.refresh_hidden)
                undo.pop_all()

    def without_gone(self, profile: Profile) -> Profile:
        """Return a past profile without the lines of events that no longer stand, and without what was forgotten.

        Blocking, for any thread; raises UnavailableError.
        """
        named = sorted({event_id for ids in profile.sources.values() for event_id in ids})

        def looked_up(connection: Snapshot) -> tuple[set[str], list[Event]]:
            standing = {event.id for event in EventLedger.fetch(connection, named)}
            return set(named) - standing, Eraser.unrepeatable(connection)

        ids, gone = self.database.read_apart(looked_up)
        return without_retold(profile, gone, ids)

    @classmethod
    async def open(
        cls, path: Path, *, clock: Clock | None = None, read_only: bool = False, check: Check = lambda: None
    ) -> Ledger:
        """Open a ledger, or create one if there is none.

        Raises StorageRefused when the disk refuses, UnavailableError when the file is damaged or of a newer version;
        the file is never replaced. With ``read_only`` another process may own the file. ``check`` runs before every
        commit and raises StorageRefused if nothing may be written any more.
        """
        opened: list[Ledger] = []
        try:
            await completed(
                asyncio.to_thread(lambda: opened.append(cls(path, clock=clock, read_only=read_only, check=check)))
            )
        except asyncio.CancelledError:
            for ledger in opened:
                await completed(ledger.close())
            raise
        return opened[0]

    async def examine(self) -> list[str]:
        """Find damaged rows."""
        return await examined(self.database.path)

    async def close(self) -> None:
        """Wait for running work and close the file, which may be opened again afterwards."""
        await self.database.close()
