"""The truth: what must outlive every index. One Protocol a noun; absent things are None or left out, never errors.

Every method may raise StorageRefused (a write) or UnavailableError (a read). Every write is durable when it returns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal, Protocol

from ..domain.erasure import Tombstones
from ..domain.event import Draft, Event
from ..domain.fact import Fact
from ..domain.hit import Reading
from ..domain.message import Message, Passage
from ..domain.note import Memo, Pin
from ..domain.people import Person
from ..domain.profile import Profile, ProfileKey
from ..domain.scope import Scene, Scope
from .models import Vector

MOST_NAMES = 64  # of one person that are hidden; whoever wears more is known by the latest
MOST_ALIASES = 8  # of one person in one place that are told beside their name
Switch = Literal["on", "off", "record_only", "recall_only"]


class EventLedger(Protocol):
    """Events, for good."""

    async def commit(self, draft: Draft) -> None:
        """Write a draft in one transaction and mark its job done; a job that is marked done is not written again.

        An active event of equal :func:`duplicate_key` in the same scope from the same sender absorbs a new one: its
        count and last-seen time rise. An event whose messages one of equal key, standing or retired, rests on already
        does nothing; joined with one that was said without a message, an event rests on none. An event all of whose
        messages are withdrawn is written retired. Events whose sender has opted out are left out.

        An event that ``draft.repeats`` names a twin for is absorbed in the same way, if the twin stands in the same
        scope, from the same sender. An absolute event lifts the twin that absorbs it and is not: the twin takes its
        words, kind, subjects and confidence, unless another event stands in those words. A fact is kept when its own
        event was written and stands, or lifted its twin: it is that one's fact then. What ``draft.heard`` says an event
        was made of is remembered for :class:`FactBook`, also where a twin absorbed it.
        """
        ...

    async def done(self, job_id: str) -> bool:
        """Tell whether the job's draft was committed within the time that the ledger remembers jobs."""
        ...

    async def find(self, event_id: str) -> Event | None:
        """Give an event, retired or not."""
        ...

    async def fetch(self, event_ids: Sequence[str]) -> list[Event]:
        """Give those of the events that stand, in the order asked for."""
        ...

    async def recent(self, reading: Reading, limit: int, offset: int = 0) -> list[Event]:
        """List what the reading admits, newest first by the time it happened."""
        ...

    async def retire(self, event_id: str, at: datetime) -> None:
        """Take an event out of every reading; nothing is erased."""
        ...

    async def restore(self, event_id: str) -> Event | None:
        """Let a retired event stand again, or give the equal one that stands; None where its messages are withdrawn."""
        ...


class LexicalIndex(Protocol):
    """Words to events and messages, within what a reading admits."""

    async def events(self, terms: Sequence[str], reading: Reading, limit: int) -> list[tuple[Event, float]]:
        """Find events that share terms, best first, with BM25 (higher is better, unbounded)."""
        ...

    async def messages(self, terms: Sequence[str], reading: Reading, limit: int) -> list[tuple[Message, float]]:
        """The same over the log."""
        ...


@dataclass(frozen=True)
class PendingFacts:
    """How many facts wait for one profile and since when; ``attempts`` merges failed so far, the last as told.

    ``withdrawn`` of the facts are withdrawn: the profile is shown to nobody until they left it.
    """

    key: ProfileKey
    facts: int
    since: datetime
    attempts: int = 0
    failed_at: datetime | None = None
    error: str = ""
    withdrawn: int = 0


class FactBook(Protocol):
    """Facts that wait for profiles, and which observation became which event."""

    async def waiting(self) -> list[PendingFacts]:
        """Tell for whom facts wait, longest first.

        A fact waits while its event stands and it was not settled; and, as one that is withdrawn, from when the event
        of a settled one stands no more until it is settled again.
        """
        ...

    async def facts(self, key: ProfileKey, limit: int) -> list[Fact]:
        """Give the facts that wait for one profile: the withdrawn ones first, then the new ones, oldest first."""
        ...

    async def settle(self, key: ProfileKey, facts: Collection[Fact]) -> None:
        """Note that facts are in their profile, or, where they were withdrawn, have left it; forget its failures.

        What counts is how a fact was given: what became of its event since is for the next merge. An event that is
        restored later brings a fact that has left its profile back.
        """
        ...

    async def withdrawing(self) -> frozenset[ProfileKey]:
        """Name the profiles that hold something withdrawn: nobody may see them before it has left them."""
        ...

    async def fail(self, key: ProfileKey, error: str, at: datetime) -> None:
        """Remember that a merge failed; the facts go on waiting. Nothing is remembered where none waits any more."""
        ...

    async def fed_by(self, scope: Scope) -> frozenset[ProfileKey]:
        """Name the profiles for which there are facts that were learned in a place, waiting or merged."""
        ...

    async def heard(self, scope: Scope, sender_id: str, observations: Sequence[str]) -> Mapping[str, Event]:
        """Give, by observation, the standing event that the same words of the same sender became here before.

        Words are the same when their :func:`duplicate_key` is.
        """
        ...


@dataclass(frozen=True)
class IndexedProfile:
    """A portrait as it is found, with its vector, None while it has none of the fingerprint asked for."""

    profile: Profile
    vector: Vector | None = None


class ProfileIndex(Protocol):
    """A copy of the portraits to be searched. The files are the truth."""

    async def put(self, profile: Profile) -> None:
        """Take in a portrait; its vector stays where its words are the same."""
        ...

    async def remove(self, keys: Sequence[ProfileKey]) -> None:
        """Leave portraits out."""
        ...

    async def waiting(self, fingerprint: str, limit: int) -> list[Profile]:
        """Give portraits that have no vector of this fingerprint."""
        ...

    async def store(self, fingerprint: str, profile: Profile, vector: Vector) -> None:
        """Keep a vector; nothing happens where the portrait's words have changed since."""
        ...

    async def readable(self, scene: Scene, shared: Collection[str] | None, fingerprint: str) -> list[IndexedProfile]:
        """Give the portraits that a scene may read (:meth:`ProfileKey.readable_by`); ``shared`` opened theirs.

        None means that everybody's is open. In a group, somebody's open portrait is given where it is they who ask, or
        where they are known there by name; in private with somebody else it is not given.
        """
        ...

    async def versions(self) -> Mapping[ProfileKey, str]:
        """Give the version of every portrait that was taken in."""
        ...

    async def portrayed(self, keys: Collection[ProfileKey]) -> frozenset[ProfileKey]:
        """Tell of which of these a portrait was taken in; costs what the question does, not what the index holds."""
        ...


@dataclass(frozen=True)
class VectorRow:
    """A vector on its way to the ledger, with the text that it was made of (None where nobody can have changed it)."""

    event_id: str
    vector: Vector
    text: str | None = None


@dataclass(frozen=True, order=True)
class Checkpoint:
    """How far something has followed the ledger's changes: it knows all up to this one."""

    revision: int = 0
    seq: int = 0


@dataclass(frozen=True)
class Change:
    """What became of one event's vector; ``row`` is None where the event is not to be found by vector any more."""

    mark: Checkpoint
    event_id: str
    row: EmbeddedEvent | None


class VectorLedger(Protocol):
    """Each event's vector beside it, so that an index can be rebuilt without paying for embedding again."""

    async def waiting(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Give ids and texts of standing events that have no vector of this fingerprint, oldest first."""
        ...

    async def store(self, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        """Keep vectors; a row of an event that is gone, or reads otherwise now, is dropped."""
        ...

    async def lag(self, fingerprint: str) -> int:
        """Count what :meth:`waiting` would give."""
        ...

    async def dimensions(self, fingerprint: str) -> int:
        """Give the length of the vectors of a model that are kept; 0 while there is none."""
        ...

    async def changes(self, fingerprint: str, after: Checkpoint, limit: int) -> list[Change]:
        """Give what changed after a mark, in the order of change; a row stands and has a vector of the fingerprint.

        Each event is given once, as it is now. An erased event is given no more; :class:`Eraser` names those.
        """
        ...

    async def behind(self, fingerprint: str, after: Checkpoint) -> int:
        """Count what :meth:`changes` has left to give."""
        ...

    async def embedded_ids(self, fingerprint: str) -> frozenset[str]:
        """Give the ids of all standing events with a vector of the fingerprint."""
        ...


class CheckpointBook(Protocol):
    """How far each generation of a vector store has come, kept where it cannot get ahead of the truth."""

    async def mark(self, birth: str) -> Checkpoint | None:
        """Give the mark of a generation; None for one that was never noted."""
        ...

    async def furthest(self) -> Checkpoint | None:
        """Return the furthest mark of all generations; None where none was noted."""
        ...

    async def note(self, birth: str, mark: Checkpoint) -> None:
        """Remember a generation's mark; every other generation's is kept."""
        ...

    async def keep_only(self, birth: str) -> None:
        """Forget the marks of all generations but one."""
        ...


@dataclass(frozen=True)
class ClockState:
    """Up to when the machine's clock was believed, None while it never was, and what it showed last.

    ``steady_seconds`` are how long it has run without a jump.
    """

    believed_at: datetime | None
    seen_at: datetime
    steady_seconds: float


class ClockBook(Protocol):
    """How far the machine's clock was believed, and what it dated wrongly."""

    async def find(self) -> ClockState | None:
        """Return what was noted last; None before the first note."""
        ...

    async def keep(self, state: ClockState) -> None:
        """Note how far the clock is believed."""
        ...

    async def bring_back(self, after: datetime, to: datetime) -> int:
        """Give tombstones that lie after an instant another one; answers how many."""
        ...


class MessageLog(Protocol):
    """The recent-message log."""

    async def append(self, messages: Sequence[Message]) -> None:
        """Keep messages; one that stands already (same scope and id) is left as it is, a withdrawn one stays out."""
        ...

    async def recent(self, scope: Scope, limit: int, *, before: datetime | None = None) -> list[Message]:
        """Give the newest messages of a place, oldest first; with ``before`` only older ones."""
        ...

    async def find(self, scope: Scope, message_ids: Collection[str]) -> list[Message]:
        """Return those of the messages of a place that the log holds, oldest first."""
        ...

    async def learned(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of the messages of a place that an event rests on, standing or retired."""
        ...

    async def around(self, messages: Sequence[Message], reading: Reading, reach: int) -> list[Passage]:
        """Give the talk round messages: with each, of the ``reach`` lines before and after it those that are admitted.

        Passages have no line in common: what meets is one. A message that is gone, or not admitted, has none.
        """
        ...

    async def withdraw(self, scope: Scope, message_id: str, at: datetime) -> int:
        """Take a message out and remember that it was withdrawn; retire events all of whose messages are.

        Answers how many events were retired. Works for messages that were never seen.
        """
        ...

    async def prune(self, before: datetime) -> int:
        """Drop messages sent before, and withdrawal marks and done-marks as old; answer how many messages."""
        ...


class VeiledLog(MessageLog, Protocol):
    """A log that knows which lines may be shown."""

    async def shown(self, messages: Sequence[Message]) -> list[Message]:
        """Leave out those of some lines, kept or not, that were withdrawn or tell a forgotten event (EventEraser)."""
        ...


class EventEraser(Protocol):
    """Forgetting single events: hidden until they are restored, and erased when they cannot be any more.

    While an event is forgotten no line of the log that it was made of, or that retells it (:func:`retells`), is given
    by any port but :meth:`MessageLog.append`'s own; that holds for lines that come later, too. EventLedger.restore
    ends it. A line that came in while an equal event stands again is shown.
    """

    async def forget(self, event_id: str, at: datetime) -> None:
        """Retire an event and hide the lines that tell it, at one stroke; nothing happens where there is none."""
        ...

    async def untold(self) -> list[Event]:
        """Give what nothing may tell: forgotten events, and those all of whose messages were withdrawn.

        Those that stand again in equal words are left out.
        """
        ...

    async def expired(self, before: datetime) -> list[Event]:
        """Give the same as :meth:`untold`, whatever stands again, of which was retired before an instant."""
        ...

    async def erase(self, event_ids: Sequence[str], at: datetime) -> Wiped:
        """Erase such events, and the lines hidden because of them, from everything; neither comes in again.

        Those that stand are left alone. A purge is due then.
        """
        ...


class NoteBook(Protocol):
    """Memos and pins."""

    async def write_memo(self, memo: Memo) -> None:
        """Keep a memo; writing the same id twice keeps one."""
        ...

    async def memos(self, scope: Scope, limit: int) -> list[Memo]:
        """Give the newest memos of a place, newest last."""
        ...

    async def latest_memos(self, limit: int) -> list[Memo]:
        """Give the newest memos of all places, newest last."""
        ...

    async def memo_ids(self, user_id: str) -> list[str]:
        """Give the ids of the memos of a person's turns, everywhere."""
        ...

    async def write_pin(self, pin: Pin) -> None:
        """Keep a pin, or replace text and author of the pin of this id."""
        ...

    async def pins(self, scope: Scope) -> list[Pin]:
        """Give all pins of a place, oldest first, whoever owns them."""
        ...

    async def erase_pin(self, pin_id: str) -> None:
        """Drop a pin; dropping one that is gone is fine."""
        ...


class ConsentBook(Protocol):
    """Who wants to be left out, and where the memory is switched."""

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Remember that a person wants to be left out, everywhere."""
        ...

    async def opt_in(self, user_id: str) -> None:
        """Forget that wish."""
        ...

    async def opted_out(self) -> frozenset[str]:
        """Give everybody who wants to be left out."""
        ...

    async def set_switch(self, scope: Scope, switch: Switch) -> None:
        """Switch a place."""
        ...

    async def switches(self) -> Mapping[Scope, Switch]:
        """Give every place that is not simply on."""
        ...

    async def set_sharing(self, user_id: str, *, shared: bool, at: datetime) -> None:
        """Remember that a person opened their own portrait to every place, or closed it again."""
        ...

    async def shared(self) -> frozenset[str]:
        """Give everybody who opened theirs."""
        ...


class NameBook(Protocol):
    """What people are and were called, by place."""

    async def note(self, scope: Scope, user_id: str, name: str, at: datetime) -> None:
        """Remember that a person goes by this name here; blank names are ignored."""
        ...

    async def note_all(self, sightings: Sequence[Alias]) -> None:
        """Remember several at once; nothing is written while it would move last-seen times by under an hour only."""
        ...

    async def people(self, scope: Scope, user_ids: Iterable[str] = ()) -> list[Person]:
        """Give the people known in a place with their latest names, latest seen first; all, or those asked for.

        ``aliases`` are the other names that they bore in this very place, latest first, :data:`MOST_ALIASES` at most.
        """
        ...

    async def names_of(self, user_ids: Iterable[str]) -> list[str]:
        """Give the names that these people have or had, anywhere; of each the :data:`MOST_NAMES` last seen."""
        ...

    async def shared(self, user_ids: Iterable[str]) -> list[str]:
        """Give those of their names that somebody else bears, too, in a place where one of them bears it."""
        ...


@dataclass(frozen=True)
class Spending:
    """What a purpose cost on a day, and how often its model was ``unreachable`` or answered badly (``bad``)."""

    purpose: str
    calls: int = 0
    tokens: int = 0
    unreachable: int = 0
    bad: int = 0

    def plus(self, more: Spending) -> Spending:
        """Add two for one purpose."""
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
        """Add to a day."""
        ...

    async def spent(self, day: date) -> list[Spending]:
        """Give a day's spending by purpose."""
        ...


@dataclass(frozen=True)
class Alias:
    """One name that a person had in one place, as it is exported."""

    scope: Scope
    user_id: str
    name: str
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True)
class OptOut:
    """One person's wish to be left out, as it is exported."""

    user_id: str
    at: datetime


@dataclass(frozen=True)
class EmbeddedEvent:
    """An event with its vector, as it is exported; ``fingerprint`` is "" where there is none."""

    event: Event
    fingerprint: str = ""
    vector: Vector | None = None


@dataclass(frozen=True)
class Shared:
    """One person's wish to show their own portrait in every place, as it is exported."""

    user_id: str
    at: datetime


ArchiveRow = EmbeddedEvent | Message | Memo | Pin | Alias | OptOut | Shared


@dataclass(frozen=True)
class Totals:
    """How much the ledger holds: standing events, retired ones, messages, memos, pins."""

    events: int = 0
    retired: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0


class Archive(Protocol):
    """Everything, row by row, for export, import and status."""

    def rows(self, *, user_id: str | None = None) -> AsyncIterator[ArchiveRow]:
        """Stream all standing rows, or what one person said and the pins they own or wrote, some at a time."""
        ...

    async def absorb(self, rows: Sequence[ArchiveRow]) -> int:
        """Write rows in one transaction; rows whose id stands already change nothing. Answers how many were new."""
        ...

    async def totals(self) -> Totals:
        """Count what there is."""
        ...


@dataclass(frozen=True)
class Wiped:
    """What left the ledger: counts by noun, how many texts of others were reworded, and the ids of erased events."""

    events: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    names: int = 0
    reworded: int = 0
    event_ids: tuple[str, ...] = ()
    memo_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Copy:
    """A copy of memory that was made for people: an export or a backup."""

    path: str
    kind: Literal["export", "backup"]
    at: datetime


class Eraser(Protocol):
    """Forgetting for good. Unfindable when a method returns; the bytes go with :meth:`purge`."""

    async def forget_person(self, user_id: str, at: datetime, hide: Callable[[str], str]) -> Wiped:
        """Erase what a person said, their names, memos and pins, and their private chat, of every agent.

        A pin is theirs when they own it or wrote it, also for a whole group.

        With it goes what waits for their profiles, the indexed copy of those, and their wish to share them; in facts
        and copies of others they are hidden, and a reworded copy loses its vector, too.
        An event is theirs when they are its sender or the person of its private chat; in all other texts (and in
        subjects) they are hidden: ``hide`` gives a text without them, and a reworded event loses its vector. A
        tombstone of the id (a keyed hash) keeps out for ever what is said, or happened, at ``at`` or before; one that
        lies more than a day later is taken for the work of a wrong clock, and replaced. Without their id they are
        hidden only in places where they were seen.
        """
        ...

    async def forget_place(self, scope: Scope, at: datetime) -> Wiped:
        """Erase everything of a place, as durably, its profiles' facts and copies, too; its switch stays.

        A profile of somebody that takes facts from other places, too (:meth:`FactBook.fed_by`), loses its copy, and
        the facts that it has left wait again: it is to be drawn anew from those.
        """
        ...

    async def tombstones(self) -> Tombstones:
        """Give all tombstones with the key of their hashes."""
        ...

    async def purge(self, at: datetime, *, is_over: bool = True) -> None:
        """Remove the bytes of what was erased from every file of the ledger, copies of migrations included.

        Unless it ``is_over``, a purge stays due: the bytes are still somewhere else.
        """
        ...

    async def purge_due(self) -> PurgeState:
        """Tell whether something was erased whose bytes are still there, and when the last purge was."""
        ...

    async def copy_to(self, path: Path, at: datetime, *, name: Path | None = None) -> None:
        """Write a consistent copy of the ledger to a new file, durably; noted as ``name`` where it will be renamed."""
        ...

    async def copies(self, *, made: Copy | None = None) -> list[Copy]:
        """List the copies that were made for people, after noting ``made``; of one path the latest counts."""
        ...


@dataclass(frozen=True)
class PurgeState:
    """``erased_at``: when the oldest erasure whose bytes remain was made; None when none remain."""

    erased_at: datetime | None = None
    purged_at: datetime | None = None
