"""The whole ledger in one SQLite file."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from sqlite3 import Connection

from ..cancellation import released_on_failure
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


class SqliteLedger:
    """All ports of the ledger over one database; created by :meth:`open`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Build the ports over a database; use :meth:`open` instead."""
        self._database = database
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

    @classmethod
    async def open(
        cls, path: Path, *, clock: Clock | None = None, read_only: bool = False, check: Check | None = None
    ) -> SqliteLedger:
        """Open a ledger, or create one if there is none.

        Raises StorageRefused when the disk refuses, UnavailableError when the file is damaged or of a newer version;
        the file is never replaced. With ``read_only`` another process may own the file. ``check`` runs before every
        commit and raises StorageRefused if nothing may be written any more.
        """
        database = await Database.open(path, read_only=read_only, check=check)
        async with released_on_failure() as undo:
            undo.push_async_callback(database.close)
            if not read_only:
                await database.write(words.refresh)
                await database.write(hidden_lines.refresh)
            ledger = cls(database, clock or _MachineClock())
            ledger.index.follow(await database.read(_last_model))
        return ledger

    async def close(self) -> None:
        """Wait for running work and close the file, which may be opened again afterwards."""
        await self._database.close()


class _MachineClock:
    def now(self) -> datetime:
        return datetime.now(timezone.utc)


def _last_model(connection: Connection) -> str:
    return connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()[0]
