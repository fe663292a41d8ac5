"""The ledger: the source of truth for all indexes. One Protocol per noun; a missing row is None or omitted, no error.

Every method may raise StorageRefused (a write) or UnavailableError (a read). Every write is durable when it returns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal, Protocol

from ..domain.belief import Belief, Change
from ..domain.erasure import Tombstones
from ..domain.event import Draft, Event
from ..domain.fact import Fact
from ..domain.hit import ReadFilter
from ..domain.incognito import Incognito
from ..domain.interval import Interval
from ..domain.message import Message, Passage
from ..domain.note import Memo, Pin
from ..domain.people import Person
from ..domain.profile import Profile, ProfileKey
from ..domain.scope import Scene, Scope
from .models import Vector

MOST_NAMES = 64  # of one person that are hidden; the latest ones where there are more
MOST_ALIASES = 8  # of one person in one place that are returned beside their name
Switch = Literal["on", "off", "record_only", "recall_only"]


class EventLedger(Protocol):
    """Stored events."""

    async def commit(self, draft: Draft) -> None:
        """Write a draft in one transaction and mark its job done; does nothing for a job already marked done.

        An active event with equal :func:`duplicate_key`, scope and sender absorbs a new one: its count and last-seen
        time are raised. A new event is ignored if an event of equal key, active or retired, has its messages as sources
        already. Merging with an event that has no source messages leaves none. An event all of whose messages are
        withdrawn is written as retired. Events of opted-out senders are skipped.

        An event for which ``draft.repeats`` names an event is absorbed by that one in the same way, if it is active in
        the same scope and from the same sender. If only the new event is absolute, the absorbing one takes its text,
        kind, subjects and confidence, unless another active event has that text. A fact is kept if its own event was
        written and is active, or gave its text to the absorbing event, whose fact it then becomes. The observations in
        ``draft.heard`` are recorded for :class:`FactBook`, also for absorbed events.

        The event ``draft.corrects`` is retired if an event of the draft was written or absorbed; such an event may have
        the words and messages of a retired one. Its fact of a group is kept only if the corrected event has one.
        """
        ...

    async def done(self, job_id: str) -> bool:
        """Return whether the job's draft was committed within the ledger's retention time for done jobs."""
        ...

    async def find(self, event_id: str) -> Event | None:
        """Return an event, active or retired; None if there is none."""
        ...

    async def fetch(self, event_ids: Sequence[str]) -> list[Event]:
        """Return the active ones among the events, in the given order."""
        ...

    async def recent(self, reading: ReadFilter, limit: int, offset: int = 0) -> list[Event]:
        """Return events that the reading admits, newest first by the time they happened."""
        ...

    async def retire(self, event_id: str, at: datetime) -> None:
        """Exclude an event from every reading; nothing is erased."""
        ...

    async def restore(self, event_id: str) -> Event | None:
        """Reactivate a retired event, or return the active equal one; None if its messages are withdrawn."""
        ...


class TracedEvents(EventLedger, Protocol):
    """An event ledger that knows which events were made from which messages."""

    async def made_of(self, lines: Collection[tuple[Scope, str]], reading: ReadFilter) -> list[Event]:
        """Return the active events that a reading admits and that have one of these messages (by id) as a source."""
        ...


class LexicalIndex(Protocol):
    """Full-text search over events and messages, within what a reading admits."""

    async def events(self, terms: Sequence[str], reading: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events that share terms, best first, with their BM25 score (higher is better, unbounded)."""
        ...

    async def messages(self, terms: Sequence[str], reading: ReadFilter, limit: int) -> list[tuple[Message, float]]:
        """Return messages of the log that share terms, as :meth:`events` does."""
        ...


@dataclass(frozen=True)
class PendingFacts:
    """How many facts wait for one profile and since when; ``attempts`` counts its failed merges, ``error`` is the last.

    ``withdrawn`` counts the withdrawn facts among them: while there are any, the profile is not shown.
    """

    key: ProfileKey
    facts: int
    since: datetime
    attempts: int = 0
    failed_at: datetime | None = None
    error: str = ""
    withdrawn: int = 0


class FactBook(Protocol):
    """Facts that wait for a merge, and the event that each observation became."""

    async def waiting(self) -> list[PendingFacts]:
        """Return the profiles with waiting facts, the longest waiting first.

        A fact waits while its event is active and the fact is not settled. A settled fact whose event is retired waits
        as a withdrawn one until it is settled again.
        """
        ...

    async def facts(self, key: ProfileKey, limit: int) -> list[Fact]:
        """Return the waiting facts of one profile: withdrawn ones first, then new ones, oldest first."""
        ...

    async def settle(self, key: ProfileKey, facts: Collection[Fact]) -> None:
        """Record that facts were merged into their profile, or removed if withdrawn; reset its failure count.

        The state that counts is the one in which :meth:`facts` returned a fact; later changes of its event are left to
        the next merge. If an event is restored later, its removed fact waits again.
        """
        ...

    async def withdrawing(self) -> frozenset[ProfileKey]:
        """Return the profiles that contain withdrawn facts; they must not be shown until those are removed."""
        ...

    async def fail(self, key: ProfileKey, error: str, at: datetime) -> None:
        """Record a failed merge; the facts keep waiting. Does nothing if the profile has no waiting facts."""
        ...

    async def fed_by(self, scope: Scope) -> frozenset[ProfileKey]:
        """Return the profiles that have facts, waiting or merged, from a place."""
        ...

    async def heard(self, scope: Scope, sender_id: str, observations: Sequence[str]) -> Mapping[str, Event]:
        """Return, by observation, the active event that an equal observation of the sender became in this scope.

        Observations are equal if their :func:`duplicate_key` is.
        """
        ...


@dataclass(frozen=True)
class IndexedProfile:
    """A profile in the index, with its vector; None while it has none of the requested fingerprint."""

    profile: Profile
    vector: Vector | None = None


class ProfileIndex(Protocol):
    """A searchable copy of the profiles. The profile files are the source of truth."""

    async def put(self, profile: Profile) -> None:
        """Insert or replace a profile; its vector is kept if its text is unchanged."""
        ...

    async def remove(self, keys: Sequence[ProfileKey]) -> None:
        """Remove profiles from the index."""
        ...

    async def waiting(self, fingerprint: str, limit: int) -> list[Profile]:
        """Return profiles without a vector of this fingerprint."""
        ...

    async def store(self, fingerprint: str, profile: Profile, vector: Vector) -> None:
        """Store a vector; does nothing if the profile's text has changed since."""
        ...

    async def readable(self, scene: Scene, shared: Collection[str] | None, fingerprint: str) -> list[IndexedProfile]:
        """Return the profiles that a scene may read (:meth:`ProfileKey.readable_by`).

        ``shared`` holds the ids of people who share their profile; None means everybody. In a group a shared profile is
        returned if its person asks or is known there by name; it is not returned in a private chat with another person.
        """
        ...

    async def versions(self) -> Mapping[ProfileKey, str]:
        """Return the version of every indexed profile."""
        ...

    async def portrayed(self, keys: Collection[ProfileKey]) -> frozenset[ProfileKey]:
        """Return which of the keys are indexed; the cost grows with ``keys``, not with the index."""
        ...


@dataclass(frozen=True)
class VectorRow:
    """A vector to be stored, with the text that it was made from (None if the text cannot have changed)."""

    event_id: str
    vector: Vector
    text: str | None = None


@dataclass(frozen=True, order=True)
class Checkpoint:
    """A position in the ledger's sequence of changes: all changes up to it are applied."""

    revision: int = 0
    seq: int = 0


@dataclass(frozen=True)
class VectorChange:
    """A change of one event's vector; ``row`` is None if vector search must no longer find the event."""

    mark: Checkpoint
    event_id: str
    row: EmbeddedEvent | None


class VectorLedger(Protocol):
    """Vectors stored with their events, so that an index is rebuilt without embedding again."""

    async def waiting(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Return ids and texts of active events without a vector of this fingerprint, oldest first."""
        ...

    async def store(self, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        """Store vectors; drop rows whose event is gone or has another text now."""
        ...

    async def lag(self, fingerprint: str) -> int:
        """Return the number of events that :meth:`waiting` would return without a limit."""
        ...

    async def dimensions(self, fingerprint: str) -> int:
        """Return the length of the stored vectors of a fingerprint; 0 if there are none."""
        ...

    async def changes(self, fingerprint: str, after: Checkpoint, limit: int) -> list[VectorChange]:
        """Return changes after a checkpoint, in order; a ``row`` is active and has a vector of the fingerprint.

        Each event occurs once, in its current state. Erased events do not occur; :class:`Eraser` returns their ids.
        """
        ...

    async def behind(self, fingerprint: str, after: Checkpoint) -> int:
        """Return the number of changes after a checkpoint."""
        ...

    async def embedded_ids(self, fingerprint: str) -> frozenset[str]:
        """Return the ids of all active events with a vector of the fingerprint."""
        ...


class CheckpointBook(Protocol):
    """The checkpoint of each generation of a vector store, kept in the ledger so that it cannot get ahead of it."""

    async def mark(self, birth: str) -> Checkpoint | None:
        """Return the checkpoint of a generation; None if none was stored."""
        ...

    async def furthest(self) -> Checkpoint | None:
        """Return the furthest mark of all generations; None where none was noted."""
        ...

    async def note(self, birth: str, mark: Checkpoint) -> None:
        """Store a generation's checkpoint; those of other generations are kept."""
        ...

    async def keep_only(self, birth: str) -> None:
        """Delete the checkpoints of all generations but one."""
        ...


@dataclass(frozen=True)
class ClockState:
    """The latest trusted instant of the machine's clock (None before the first) and the instant seen last.

    ``steady_seconds`` is the time for which it has run without a jump.
    """

    believed_at: datetime | None
    seen_at: datetime
    steady_seconds: float


class ClockBook(Protocol):
    """The trust state of the machine's clock, and the correction of wrongly dated tombstones."""

    async def find(self) -> ClockState | None:
        """Return the stored state; None before the first :meth:`keep`."""
        ...

    async def keep(self, state: ClockState) -> None:
        """Store the state."""
        ...

    async def bring_back(self, after: datetime, to: datetime) -> int:
        """Set the instant of tombstones dated later than ``after`` to ``to``; return how many."""
        ...


class MessageLog(Protocol):
    """The recent-message log."""

    async def append(self, messages: Sequence[Message]) -> None:
        """Store messages; an existing one (same scope and id) is unchanged, a withdrawn one is skipped."""
        ...

    async def recent(
        self, scope: Scope, limit: int, *, before: datetime | None = None, without: Collection[str] = ()
    ) -> list[Message]:
        """Return the newest messages of a place, oldest first; with ``before``, only older ones.

        Lines of the people ``without``, and the bot's lines to them, neither appear nor count.
        """
        ...

    async def find(self, scope: Scope, message_ids: Collection[str]) -> list[Message]:
        """Return the given messages of a place as far as the log holds them, oldest first."""
        ...

    async def learned(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return which of the messages of a place are sources of an event, active or retired."""
        ...

    async def around(self, messages: Sequence[Message], reading: ReadFilter, reach: int) -> list[Passage]:
        """Return each message with the admitted ones of the ``reach`` lines before and after it.

        Overlapping passages are merged. A message that is gone or not admitted has no passage.
        """
        ...

    async def withdraw(self, scope: Scope, message_id: str, at: datetime) -> int:
        """Remove a message, record it as withdrawn, and retire events all of whose messages are withdrawn.

        Returns the number of retired events. Also accepts messages that are not in the log.
        """
        ...

    async def prune(self, before: datetime) -> int:
        """Delete messages, withdrawal records and done-job records older than ``before``; return the message count."""
        ...


class HidingLog(MessageLog, Protocol):
    """A message log that filters out hidden lines."""

    async def shown(self, messages: Sequence[Message]) -> list[Message]:
        """Return the lines, stored or not, that are neither withdrawn nor tell a forgotten event (EventEraser)."""
        ...


class BoundedLog(HidingLog, Protocol):
    """A message log whose size on disk can be bounded."""

    async def shrink(self, most: int, *, spared: int) -> int:
        """Delete the oldest messages until the rest weighs at most ``most`` bytes; return how many were deleted.

        The ``spared`` newest messages of each place stay, however much they weigh. The weight of a message is
        :attr:`Message.weight`. Withdrawal and done-job records stay.
        """
        ...


class EventEraser(Protocol):
    """Forgetting of single events: hidden while they can be restored, erased afterwards.

    While an event is forgotten, no port returns log lines that it was made from or that retell it (:func:`retells`),
    including lines appended later; :meth:`MessageLog.append` still accepts them. EventLedger.restore ends this. A line
    that arrives while an equal event is active again is shown.
    """

    async def forget(self, event_id: str, at: datetime) -> None:
        """Retire an event and hide the lines that tell it, atomically; does nothing if there is no such event."""
        ...

    async def untold(self) -> list[Event]:
        """Return events that no text may repeat: forgotten ones, and those all of whose messages were withdrawn.

        Events for which an equal one is active again are left out.
        """
        ...

    async def expired(self, before: datetime) -> list[Event]:
        """Return the retired events, whatever retired them, of which that was before an instant."""
        ...

    async def erase(self, event_ids: Sequence[str], at: datetime) -> Wiped:
        """Erase retired events and the lines hidden because of them; neither can be stored again.

        The lines of an event that a correction retired stay. Active events are skipped. A purge is due afterwards.
        """
        ...


class NoteBook(Protocol):
    """Memos and pins."""

    async def write_memo(self, memo: Memo) -> None:
        """Store a memo; writing the same id twice stores one."""
        ...

    async def memos(self, scope: Scope, limit: int, *, without: Collection[str] = ()) -> list[Memo]:
        """Return the newest memos of a place, newest last; those of the people ``without`` do not count."""
        ...

    async def latest_memos(self, limit: int) -> list[Memo]:
        """Return the newest memos of all places, newest last."""
        ...

    async def memo_ids(self, user_id: str) -> list[str]:
        """Return the ids of the memos of a person's turns, in all places."""
        ...

    async def write_pin(self, pin: Pin) -> None:
        """Store a pin, or replace text and author of the pin with this id."""
        ...

    async def pins(self, scope: Scope) -> list[Pin]:
        """Return all pins of a place, of every owner, oldest first."""
        ...

    async def erase_pin(self, pin_id: str) -> None:
        """Delete a pin; does nothing if there is none."""
        ...


class ConsentBook(Protocol):
    """Opt-outs, sharing consents, and the switch of each place."""

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Record that a person opts out, in all places."""
        ...

    async def opt_in(self, user_id: str) -> None:
        """Remove a person's opt-out."""
        ...

    async def opted_out(self) -> frozenset[str]:
        """Return the ids of all people who opted out."""
        ...

    async def set_switch(self, scope: Scope, switch: Switch) -> None:
        """Set the switch of a place."""
        ...

    async def switches(self) -> Mapping[Scope, Switch]:
        """Return every place whose switch is not "on"."""
        ...

    async def set_sharing(self, user_id: str, *, shared: bool, at: datetime) -> None:
        """Record whether a person shares their own profile with all places."""
        ...

    async def shared(self) -> frozenset[str]:
        """Return the ids of all people who share their profile."""
        ...


class IncognitoBook(Protocol):
    """Stretches of time in which people asked not to be recorded in a place."""

    async def keep(self, stretch: Incognito) -> None:
        """Store a stretch, or replace the end of the one with the same place, person and start."""
        ...

    async def stretches(self) -> list[Incognito]:
        """Return all stretches, oldest first."""
        ...

    async def drop(self, before: datetime) -> None:
        """Delete the stretches that ended before an instant."""
        ...

    async def erase(self, stretches: Collection[Incognito], at: datetime) -> None:
        """Erase stretches of erased people or places; a purge is due afterwards."""
        ...


class NameBook(Protocol):
    """Current and earlier names of people, by place."""

    async def note(self, scope: Scope, user_id: str, name: str, at: datetime) -> None:
        """Record a person's name in a place; blank names are ignored."""
        ...

    async def note_all(self, sightings: Sequence[Alias]) -> bool:
        """Record several names; return whether anything was written.

        Nothing is written if that would only move last-seen times by less than an hour.
        """
        ...

    async def people(self, scope: Scope, user_ids: Iterable[str] = ()) -> list[Person]:
        """Return the people known in a place with their latest names, latest seen first; all, or those in ``user_ids``.

        ``aliases`` are their other names in this place, latest first, at most :data:`MOST_ALIASES`; ``usual`` is that
        worn longest of late (:func:`worn_longest`).
        """
        ...

    async def names_of(self, user_ids: Iterable[str]) -> list[str]:
        """Return current and earlier names of these people in all places; of each the :data:`MOST_NAMES` last seen."""
        ...

    async def shared(self, user_ids: Iterable[str]) -> list[str]:
        """Return which of their names another person also has in a place where one of them has it."""
        ...


@dataclass(frozen=True)
class Spending:
    """Cost of one purpose on one day, and how often its model was ``unreachable`` or answered badly (``bad``)."""

    purpose: str
    calls: int = 0
    tokens: int = 0
    unreachable: int = 0
    bad: int = 0

    def plus(self, more: Spending) -> Spending:
        """Return the sum of two spendings of one purpose."""
        return Spending(
            self.purpose,
            self.calls + more.calls,
            self.tokens + more.tokens,
            self.unreachable + more.unreachable,
            self.bad + more.bad,
        )


class Accounts(Protocol):
    """Model calls and tokens by purpose and day."""

    async def spend(self, day: date, spending: Spending) -> None:
        """Add spending to a day."""
        ...

    async def spent(self, day: date) -> list[Spending]:
        """Return a day's spending by purpose."""
        ...


@dataclass(frozen=True)
class Alias:
    """One name of a person in one place, as exported."""

    scope: Scope
    user_id: str
    name: str
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True)
class OptOut:
    """One person's opt-out, as exported."""

    user_id: str
    at: datetime


@dataclass(frozen=True)
class EmbeddedEvent:
    """An event with its vector, as exported; ``fingerprint`` is "" if there is no vector."""

    event: Event
    fingerprint: str = ""
    vector: Vector | None = None


@dataclass(frozen=True)
class Shared:
    """One person's consent to show their own profile in every place, as exported."""

    user_id: str
    at: datetime


ArchiveRow = EmbeddedEvent | Message | Memo | Pin | Alias | OptOut | Shared | Belief | Change


@dataclass(frozen=True)
class Totals:
    """Row counts of the ledger: active events, retired events, messages, memos, pins, active beliefs."""

    events: int = 0
    retired: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    beliefs: int = 0


@dataclass(frozen=True)
class DayCount:
    """The lines that were logged on one day, and the active events that happened on it."""

    day: date
    messages: int = 0
    events: int = 0


@dataclass(frozen=True)
class Activity:
    """Active events and logged lines of a place or of the whole ledger: in total, and by day, the oldest day first."""

    events: int = 0
    messages: int = 0
    days: tuple[DayCount, ...] = ()


class RowSource(Protocol):
    """All rows, for export."""

    def rows(self, *, user_id: str | None = None) -> AsyncIterator[ArchiveRow]:
        """Stream all active rows in batches, or only what one person said and the pins they own or wrote.

        Opt-outs come first, since an import must apply them first.
        """
        ...


class Archive(RowSource, Protocol):
    """All rows, for export, import and status."""

    async def absorb(self, rows: Sequence[ArchiveRow]) -> int:
        """Write rows in one transaction; return the number of new rows.

        Skipped are rows whose id exists, rows of persons who opted out or were erased, and texts of other people that
        contain the id of an erased person.
        """
        ...

    async def totals(self) -> Totals:
        """Return the row counts."""
        ...

    async def activity(self, scope: Scope | None, days: Sequence[Interval]) -> Activity:
        """Count the active events and the messages of a place, or of all places if None; ``days`` are consecutive."""
        ...


@dataclass(frozen=True)
class Wiped:
    """What was erased: counts by noun, the number of reworded texts of others, ids of erased events and memos."""

    events: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    names: int = 0
    reworded: int = 0
    event_ids: tuple[str, ...] = ()
    memo_ids: tuple[str, ...] = ()
    beliefs: int = 0


@dataclass(frozen=True)
class Copy:
    """A copy of the memory made for people: an export or a backup."""

    path: str
    kind: Literal["export", "backup"]
    at: datetime


class Eraser(Protocol):
    """Permanent erasure. Erased data cannot be read once a method returns; :meth:`purge` removes the bytes."""

    async def forget_person(self, user_id: str, at: datetime, hide: Callable[[str], str]) -> Wiped:
        """Erase what a person said, their names, memos and pins, and their private chat, for every agent.

        A pin is theirs if they own it or wrote it, also for a whole group.

        The facts waiting for their profiles, the indexed copies of those and their sharing consent are erased too; in
        facts and profile copies of others they are hidden, and a reworded copy loses its vector.
        An event is theirs if they are its sender or the person of its private chat; in all other texts and subjects
        they are hidden: ``hide`` returns a text without them, and a reworded event loses its vector. A tombstone of
        the id (a keyed hash) permanently rejects data dated ``at`` or earlier; an existing tombstone dated more than a
        day after ``at`` is attributed to a wrong clock and replaced. Mentions by name instead of id are hidden only in
        places where the person was seen.
        """
        ...

    async def forget_place(self, scope: Scope, at: datetime) -> Wiped:
        """Erase everything of a place permanently, including its profiles' facts and copies; its switch is kept.

        A profile that also has facts from other places (:meth:`FactBook.fed_by`) loses its indexed copy, and its
        remaining facts wait again, to rebuild it.
        """
        ...

    async def tombstones(self) -> Tombstones:
        """Return all tombstones with the key of their hashes."""
        ...

    async def purge(self, at: datetime, *, is_over: bool = True) -> None:
        """Remove the bytes of erased data from every file of the ledger, including migration copies.

        With ``is_over`` false the purge stays due, because other files still hold the bytes.
        """
        ...

    async def purge_due(self) -> PurgeState:
        """Return since when erased bytes remain on disk, if any, and when the last purge was."""
        ...

    async def copy_to(self, path: Path, at: datetime, *, name: Path | None = None) -> None:
        """Write a consistent, durable copy of the ledger to a new file; recorded as ``name`` if it is renamed later."""
        ...

    async def copies(self, *, made: Copy | None = None, deleted: str = "") -> list[Copy]:
        """Return the recorded exports and backups; one per path, the latest.

        Records ``made`` before, and drops the one at the path ``deleted``.
        """
        ...


@dataclass(frozen=True)
class PurgeState:
    """``erased_at`` is the time of the oldest erasure whose bytes remain on disk; None if none remain."""

    erased_at: datetime | None = None
    purged_at: datetime | None = None
