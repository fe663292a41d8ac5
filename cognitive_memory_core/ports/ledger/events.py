"""Events: writing them, finding them, searching their words, forgetting them."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ...domain.event import Draft, Event
from ...domain.message import Message, Passage
from ...domain.read_filter import ReadFilter
from ...domain.scope import Scope
from .eraser import ErasedRows


class EventLedger(Protocol):
    """Stored events."""

    async def commit(self, draft: Draft) -> None:
        """Write a draft in one transaction and mark its job done; does nothing for a job already marked done.

        * *Equal events.* A new event is absorbed by the active event with its :func:`duplicate_key`, scope and sender:
          that one's count and last-seen time are raised, and it gets the new message ids, or none if either has none.
        * *Known events.* A new event is ignored if an event of equal key, active or retired, has all its messages.
        * *Repeats.* An event that ``draft.repeats`` maps to an active event of its scope and sender is absorbed by it,
          too. If only the new one is absolute, the stored one takes its text, kind, subjects and confidence, unless
          another active event has that text.
        * *Facts.* A fact is kept if its event was written as active. If its event was absorbed, it is kept, as a fact
          of the stored event, only if that took its text.
        * *Corrections.* ``draft.corrects`` is retired if an event of the draft was written or absorbed. A correction
          may repeat a retired event; its fact about the group is kept only if the corrected event had one.
        * Events of opted-out senders are skipped; one all of whose messages are withdrawn is written as retired.
        * The observations in ``draft.heard`` are recorded for :class:`FactBook`, also for absorbed events.
        """
        ...

    async def done(self, job_id: str) -> bool:
        """Return whether the job's draft was committed within the ledger's retention time for done jobs."""
        ...

    async def find(self, event_id: str) -> Event | None:
        """Return an event, active or retired (forgotten, withdrawn, corrected); None if the id is unknown."""
        ...

    async def fetch(self, event_ids: Sequence[str]) -> list[Event]:
        """Return the active ones among the events, in the given order."""
        ...

    async def recent(self, read_filter: ReadFilter, limit: int, offset: int = 0) -> list[Event]:
        """Return events that the read filter admits, newest first by ``happened_at``."""
        ...

    async def retire(self, event_id: str, at: datetime) -> None:
        """Exclude an event from every read of active events; nothing is erased."""
        ...

    async def restore(self, event_id: str) -> Event | None:
        """Reactivate a retired event, or return the active equal one; None if its messages are withdrawn."""
        ...


class TracedEvents(EventLedger, Protocol):
    """An event ledger that knows which events were made from which messages."""

    async def made_of(self, lines: Collection[tuple[Scope, str]], read_filter: ReadFilter) -> list[Event]:
        """Return the active events that the read filter admits and that have one of these messages as a source."""
        ...

    def replacing(self, event_ids: Collection[str], read_filter: ReadFilter) -> Awaitable[list[Event]]:
        """Return the active events that the read filter admits and that name one of these as replaced."""
        ...


class LexicalIndex(Protocol):
    """Full-text search over events and messages, within what a read filter admits."""

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with any of the terms, best first, with their BM25 score (higher is better, unbounded)."""
        ...

    async def messages(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Message, float]]:
        """Return messages of the log with any of the terms, best first, with their BM25 score."""
        ...


@dataclass(frozen=True)
class LineSearch:
    """One search of the log: at most ``limit`` messages that a read filter admits, with any of the terms."""

    terms: Sequence[str]
    read_filter: ReadFilter
    limit: int


class PassageIndex(Protocol):
    """Full-text search over messages that also reads the lines around what it found, in one request."""

    async def passages(self, searches: Sequence[LineSearch], read_filter: ReadFilter, reach: int) -> list[Passage]:
        """Return the passages around all messages found.

        Messages are found as by :meth:`LexicalIndex.messages` and their passages read as by :meth:`MessageLog.around`:
        ``read_filter`` bounds the surrounding lines, ``reach`` of them before and after each message.
        """
        ...


class WordIndex(LexicalIndex, PassageIndex, Protocol):
    """Full-text search over events and messages, with the lines around messages."""


class EventEraser(Protocol):
    """Forgetting of single events: hidden while they can be restored, erased afterwards.

    While an event is forgotten, no port returns log lines that it was made from or that retell it (:func:`retells`),
    including lines appended later; :meth:`MessageLog.append` still accepts them. EventLedger.restore ends this. A line
    that arrives while an equal event is active again is shown.
    """

    async def forget(self, event_id: str, at: datetime) -> None:
        """Retire an event and hide the lines that repeat it, atomically; does nothing if there is no such event."""
        ...

    async def unrepeatable(self) -> list[Event]:
        """Return the events that no text may repeat: forgotten ones, and those all of whose messages were withdrawn.

        An event is left out if an equal one is active again.
        """
        ...

    async def forgotten(self, user_id: str, since: datetime) -> list[Event]:
        """Return a person's restorable events that were forgotten at ``since`` or later, the latest first.

        These are events that the person said and events of their private chats, not corrected or withdrawn ones.
        """
        ...

    async def expired(self, before: datetime) -> list[Event]:
        """Return the events that were retired before an instant, for whatever reason."""
        ...

    async def erase(self, event_ids: Sequence[str], at: datetime) -> ErasedRows:
        """Erase retired events and the lines hidden because of them; neither can be stored again.

        Lines of an event that a correction retired are kept. Active events are skipped. A purge is due afterwards.
        """
        ...
