"""The whole ledger in memory."""

from __future__ import annotations

from datetime import datetime, timezone

from cognitive_memory_core.ports.clock import Clock

from .accounts import InMemoryAccounts
from .archive import InMemoryArchive
from .beliefs import InMemoryBeliefs
from .calibrations import InMemoryCalibrations
from .clock_book import InMemoryClockBook
from .consent import InMemoryConsent
from .decisions import InMemoryDecisions
from .eraser import InMemoryEraser
from .event_eraser import InMemoryEventEraser
from .events import InMemoryEvents
from .examiner import InMemoryExaminer
from .facts import InMemoryFacts
from .incognito import InMemoryIncognito
from .index_book import InMemoryBook
from .lexical import InMemoryLexical
from .listings import InMemoryListings
from .messages import InMemoryLog
from .missed_events import InMemoryMissed
from .names import InMemoryNames
from .notes import InMemoryNotes
from .profile_index import InMemoryProfileIndex
from .quality import InMemoryQuality
from .state import InMemoryState
from .vectors import InMemoryIndex, InMemoryVectors


class InMemoryLedger:
    """All ports of the ledger in memory."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        """Start empty; the clock dates the marks of done jobs."""
        state = InMemoryState(clock or _LocalClock())
        self.events = InMemoryEvents(state)
        self.lexical = InMemoryLexical(state, InMemoryLog(state))
        self.index = InMemoryIndex(state)
        self.vectors = InMemoryVectors(state)
        self.book = InMemoryBook(state)
        self.log = InMemoryLog(state)
        self.notes = InMemoryNotes(state)
        self.clock_book = InMemoryClockBook(state)
        self.consent = InMemoryConsent(state)
        self.incognito = InMemoryIncognito(state)
        self.names = InMemoryNames(state)
        self.facts = InMemoryFacts(state)
        self.profiles = InMemoryProfileIndex(state)
        self.beliefs = InMemoryBeliefs(state)
        self.listings = InMemoryListings(state)
        self.missed = InMemoryMissed(state)
        self.decisions = InMemoryDecisions(state)
        self.accounts = InMemoryAccounts()
        self.quality = InMemoryQuality(state, self.accounts)
        self.archive = InMemoryArchive(state)
        self.calibrations = InMemoryCalibrations()
        self.eraser = InMemoryEraser(state)
        self.event_eraser = InMemoryEventEraser(state)
        self.examiner = InMemoryExaminer()

    async def close(self) -> None:
        """Do nothing, since nothing is open."""


class _LocalClock:
    def now(self) -> datetime:
        return datetime.now(timezone.utc)
