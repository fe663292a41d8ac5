"""The whole ledger in one SQLite file."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path

from ..domain.event import Event
from ..domain.profile import Profile
from ..ports.clock import Clock, SystemClock
from ..tasks import completed
from ..text.retelling import without_retold
from . import hidden_lines
from .archive import Archive
from .beliefs import BeliefBook
from .consent import ConsentBook
from .database.database import Check, Database
from .database.integrity import LedgerExamination, examined
from .database.table import Snapshot
from .erasure.eraser import Eraser
from .events import EventLedger
from .facts import FactBook
from .housekeeping import Housekeeping
from .listings import OperatorLists
from .messages import MessageLog
from .names import NameBook
from .notes import NoteBook
from .profiles import ProfileIndex
from .quality import MissedBook, QualityLedger
from .search import words
from .search.corpora import Corpora
from .vectors import CheckpointBook, VectorLedger


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
        self.vectors = VectorLedger(database, self.corpora)
        self.book = CheckpointBook(database)
        self.log = MessageLog(database)
        self.notes = NoteBook(database)
        self.consent = ConsentBook(database)
        self.names = NameBook(database)
        self.facts = FactBook(database)
        self.profiles = ProfileIndex(database)
        self.beliefs = BeliefBook(database)
        self.listings = OperatorLists(database)
        self.missed = MissedBook(database)
        self.quality = QualityLedger(database)
        self.housekeeping = Housekeeping(database)
        self.archive = Archive(database)
        self.eraser = Eraser(database, self.corpora)

        with ExitStack() as undo:
            undo.callback(database.close_now)
            last_model = "SELECT value FROM meta WHERE key = 'fingerprint'"
            if not read_only:
                database.write_now(words.refresh)
                database.write_now(hidden_lines.refresh)
            self.corpora.follow(database.read_apart(lambda read: read.execute(last_model).fetchone()[0]))
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

    async def examine(self, seconds: float) -> LedgerExamination:
        """Find damaged rows, for at most ``seconds``."""
        return await examined(self.database.path, seconds)

    async def close(self) -> None:
        """Wait for running work and close the file, which may be opened again afterwards."""
        await self.database.close()
