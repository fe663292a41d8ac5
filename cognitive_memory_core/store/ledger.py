"""The whole ledger in one SQLite file."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from sqlite3 import Connection

from ..cancellation import completed
from ..ports.clock import Clock
from . import hidden_lines
from .accounts import SqliteAccounts
from .all_rows import SqliteArchive
from .beliefs import SqliteBeliefs
from .clock_state import SqliteClockBook
from .consent import SqliteConsent
from .database.database import Check, Database
from .database.integrity import SqliteExaminer
from .erasure.eraser import SqliteEraser
from .erasure.event_eraser import SqliteEventEraser
from .events import SqliteEvents
from .facts import SqliteFacts
from .incognito import SqliteIncognito
from .listings import SqliteListings
from .messages import SqliteLog
from .missed_events import SqliteMissed
from .names import SqliteNames
from .notes import SqliteNotes
from .profile_index import SqliteProfiles
from .quality import SqliteQuality
from .search import words
from .search.checkpoints import SqliteCheckpoints
from .search.exact_search import SqliteExactSearch
from .search.lexical import SqliteLexical
from .search.vectors import SqliteVectors
from .similarity_calibrations import SqliteCalibrations
from .suggestion_decisions import SqliteDecisions


class Ledger:
    """The tables of one database."""

    def __init__(
        self, path: Path, *, clock: Clock | None = None, read_only: bool = False, check: Check = lambda: None
    ) -> None:
        """Open a ledger, or create one if there is none; blocking, see :meth:`open`."""
        clock = clock or _MachineClock()
        self._database = database = Database(path, read_only=read_only, check=check)
        self.events = SqliteEvents(database, clock)
        self.lexical = SqliteLexical(database)
        self.index = SqliteExactSearch(database)
        self.vectors = SqliteVectors(database, self.index)
        self.book = SqliteCheckpoints(database)
        self.log = SqliteLog(database)
        self.notes = SqliteNotes(database)
        self.clock_book = SqliteClockBook(database)
        self.examiner = SqliteExaminer(database)
        self.consent = SqliteConsent(database)
        self.incognito = SqliteIncognito(database)
        self.names = SqliteNames(database)
        self.facts = SqliteFacts(database)
        self.profiles = SqliteProfiles(database)
        self.beliefs = SqliteBeliefs(database)
        self.listings = SqliteListings(database)
        self.missed = SqliteMissed(database)
        self.decisions = SqliteDecisions(database)
        self.quality = SqliteQuality(database)
        self.accounts = SqliteAccounts(database)
        self.archive = SqliteArchive(database)
        self.calibrations = SqliteCalibrations(database)
        self.eraser = SqliteEraser(database, self.index, self.lexical)
        self.event_eraser = SqliteEventEraser(database, self.index, self.lexical)

        with ExitStack() as undo:
            undo.callback(database.close_now)
            if not read_only:
                database.write_now(words.refresh)
                database.write_now(hidden_lines.refresh)
            self.index.follow(database.read_now(_last_model))
            undo.pop_all()

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

    async def close(self) -> None:
        """Wait for running work and close the file, which may be opened again afterwards."""
        await self._database.close()


class _MachineClock:
    def now(self) -> datetime:
        return datetime.now(timezone.utc)


def _last_model(connection: Connection) -> str:
    return connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()[0]
