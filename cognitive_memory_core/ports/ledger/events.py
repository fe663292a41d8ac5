"""Events: writing them, finding them, searching their words, forgetting them."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ...domain.event import Draft, Event
from ...domain.interval import Interval
from ...domain.message import Message, Passage
from ...domain.read_filter import ReadFilter
from ...domain.scope import Scope
from ...settings import Decay
from .eraser import ErasedRows


class EventLedger(Protocol):
    """Writes, reads, retires and restores events."""

    async def commit(self, draft: Draft) -> None:
        """Write a draft in one transaction and mark its job done; does nothing for a job already marked done.

        * *Equal events.* If an active event has the :func:`duplicate_key`, scope and sender of a new event, the new one
          is absorbed: the active event's count and last-seen time are raised, and the message ids of the new event are
          added to its own. If one of the two has no message ids, the active event has none afterwards.
        * *Known events.* A new event is ignored if an event of equal key, active or retired, has all its messages.
        * *Repeats.* An event that ``draft.repeats`` maps to an active event of its scope and sender is absorbed by that
          event, too. If only the new event is absolute, the stored one takes its text, kind, subjects and confidence,
          unless another active event has that text.
        * *Facts.* A fact is kept if its event was written as active. If its event was absorbed, the fact is kept only
          if the stored event took the new text, and then as a fact of the stored event.
        * *Corrections.* ``draft.corrects`` is retired if an event of the draft was written or absorbed; raises
          UnknownEvent if it is retired already. A correction may repeat a retired event; its fact about the group is
          kept only if the corrected event had one.
        * Events of opted-out senders are skipped; one all of whose messages are withdrawn is written as retired.
        * The ``draft.observations`` are recorded for :class:`FactBook`, also for absorbed events.
        """
        ...

    async def done(self, job_id: str) -> bool:
        """Return whether the job's draft was committed within the ledger's retention time for done jobs."""
        ...

    async def find(self, event_id: str) -> Event | None:
        """Return an event, active or retired (forgotten, withdrawn, corrected); None if the id is unknown."""
        ...

    async def fetch(self, event_ids: Sequence[str]) -> list[Event]:
        """Return those of the events that are active, in the given order."""
        ...

    async def recent(self, read_filter: ReadFilter, limit: int, offset: int = 0) -> list[Event]:
        """Return events that the read filter admits, newest first by ``happened_at``."""
        ...

    async def retire(self, event_id: str, at: datetime) -> None:
        """Exclude an event from every read of active events; nothing is erased."""
        ...

    async def restore(self, event_id: str) -> Event | None:
        """Reactivate a retired event and return it, or return an active event that is equal to it.

        None if the id is unknown or all messages of the event are withdrawn.
        """
        ...


class TracedEvents(EventLedger, Protocol):
    """An event ledger that knows which events were made from which messages."""

    async def made_of(self, lines: Collection[tuple[Scope, str]], read_filter: ReadFilter) -> list[Event]:
        """Return the active events that the read filter admits and that have one of these messages as a source."""
        ...

    def replacing(self, event_ids: Collection[str], read_filter: ReadFilter) -> Awaitable[list[Event]]:
        """Return the active events that the read filter admits and whose ``replaces`` is one of the ids."""
        ...

    def replaced_ids(self, limit: int) -> Awaitable[frozenset[str] | None]:
        """Return all ids that any event, retired ones included, names as replaced; None if more than ``limit`` do."""
        ...


@dataclass(frozen=True)
class LineSearch:
    """A question to the log: at most ``limit`` lines that the read filter admits.

    ``asides`` are terms of little weight; ``window`` and ``people`` are those that the question names. The
    ``candidates`` that share most words with the question are scored, with ``reach`` lines before and after each.
    """

    terms: Sequence[str]
    read_filter: ReadFilter
    limit: int
    now: datetime
    candidates: int
    reach: int
    asides: frozenset[str] = frozenset()
    window: Interval | None = None
    people: frozenset[str] = frozenset()
    asks_number: bool = False
    decay: Decay | None = None
    explains: bool = False


@dataclass(frozen=True)
class FoundLine:
    """A line of the log that answers a question; its score is the ``relevance``, in [0, 1], times all ``factors``.

    ``neighbours`` are the lines just before and after it that the scene may read. The ``parts`` of the relevance are
    given only to a search that explains.
    """

    line: Message
    relevance: float
    factors: tuple[tuple[str, float], ...] = ()
    neighbours: Passage = ()
    parts: tuple[tuple[str, float], ...] = ()


class WordIndex(Protocol):
    """Search by words over events and over the log, within what a read filter admits."""

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with any of the terms, best first, with their BM25 score (higher is better, unbounded)."""
        ...

    async def lines(self, search: LineSearch) -> list[FoundLine]:
        """Return lines of the log that have any of the terms, or stand near such lines, best first."""
        ...


class EventEraser(Protocol):
    """Forgetting of single events: hidden while they can be restored, erased afterwards.

    While an event is forgotten, no port returns log lines that it was made from or that retell it (:func:`retells`),
    including lines appended later; :meth:`MessageLog.append` still accepts them. :meth:`EventLedger.restore` shows them
    again. A line that is appended while an equal event is active is not hidden.
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
        """Return the events retired before an instant, and all withdrawn ones that no profile tells any more."""
        ...

    async def erase(self, event_ids: Sequence[str], at: datetime) -> ErasedRows:
        """Erase retired events and the lines hidden because of them; neither can be stored again.

        Lines of an event that a correction retired are kept. Active events are skipped. A purge is due afterwards.
        """
        ...
