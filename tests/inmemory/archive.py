"""Export, import and counts of the whole in-memory ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from cognitive_memory_core.domain.belief import Belief, Change
from cognitive_memory_core.domain.erasure_rules import is_covered, names_erased, stays_out
from cognitive_memory_core.domain.interval import Interval
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.note import Memo, Pin
from cognitive_memory_core.domain.place_switch import PlaceSwitch
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.domain.suggestion import SuggestionDecision
from cognitive_memory_core.domain.tombstones import Tombstones
from cognitive_memory_core.ports.ledger import (
    Activity,
    Alias,
    ArchiveRow,
    DayCount,
    EmbeddedEvent,
    OptOut,
    Shared,
    Totals,
)
from cognitive_memory_core.text.time.instants import EARLIEST

from . import beliefs, decisions
from .messages import add_message
from .state import InMemoryState
from .vectors import has_direction

Owned = EmbeddedEvent | Message | Memo | Pin | Alias | Shared | PlaceSwitch | Belief | Change | SuggestionDecision
K = TypeVar("K")
V = TypeVar("V")


class InMemoryArchive:
    """Access to all rows of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def rows(self, *, user_id: str | None = None) -> AsyncIterator[ArchiveRow]:
        """Yield all rows, or those of one person."""
        for row in list(self._all() if user_id is None else self._said_by(user_id)):
            yield row

    async def import_rows(self, rows: Sequence[ArchiveRow]) -> int:
        """Import rows."""
        opted_out, erased = self._state.opted_out, self._state.erased
        new = sum(_is_added(opted_out, row.user_id, row.at) for row in rows if isinstance(row, OptOut))
        lengths = _lengths(self._state, rows)
        others = [row for row in rows if not isinstance(row, OptOut) and not _is_erased(erased, row)]
        wanted = [_fitted(row, lengths) for row in others if opted_out.keys().isdisjoint(_people(row))]
        return new + sum(self._import_row(row) for row in wanted)

    async def totals(self) -> Totals:
        """Return the number of rows of each kind."""
        state = self._state
        standing = len(state.standing())
        retired = len(state.events) - standing
        active = sum(one.status == "active" for one in state.beliefs.values())
        return Totals(standing, retired, len(state.messages), len(state.memos), len(state.pins), active)

    async def activity(self, scope: Scope | None, days: Sequence[Interval]) -> Activity:
        """Count the rows of a place by day."""
        events = [event.happened_at for event in self._state.standing() if scope in (None, event.scope)]
        lines = [line.sent_at for line in self._state.messages.values() if scope in (None, line.scene.scope)]
        counted = (DayCount(day.start.date(), _within(day, lines), _within(day, events)) for day in days)
        return Activity(len(events), len(lines), tuple(counted))

    def _all(self) -> Iterator[ArchiveRow]:
        state = self._state
        yield from (OptOut(user_id, at) for user_id, at in state.opted_out.items())
        yield from (Shared(user_id, at) for user_id, at in state.sharing.items())
        yield from state.switches.values()
        yield from state.names.values()
        yield from self._events()
        yield from self._lines()
        yield from state.memos.values()
        yield from state.pins.values()
        yield from state.beliefs.values()
        yield from state.belief_changes.values()
        yield from state.decisions.values()

    def _said_by(self, user_id: str) -> Iterator[ArchiveRow]:
        yield from (row for row in self._events() if row.event.sender_id == user_id)
        yield from (message for message in self._lines() if message.sender_id == user_id)
        yield from (pin for pin in self._state.pins.values() if user_id in (pin.owner_id, pin.author_id))

    def _lines(self) -> Iterator[Message]:
        """Yield the messages that do not repeat a forgotten event."""
        yield from (line for place, line in self._state.messages.items() if place not in self._state.hidden_lines)

    def _events(self) -> Iterator[EmbeddedEvent]:
        for event in self._state.standing():
            fingerprint, vector = self._state.vectors.get(event.id, ("", None))
            yield EmbeddedEvent(event, fingerprint, vector)

    def _import_row(self, row: Owned) -> bool:  # noqa: PLR0911  # a return for each kind
        state = self._state
        match row:
            case EmbeddedEvent():
                return self._import_event(row)
            case Message():
                return add_message(state, row)
            case Memo():
                return _is_added(state.memos, row.id, row)
            case Pin():
                return _is_added(state.pins, row.id, row)
            case Alias():
                return _is_added(state.names, (row.scope, row.user_id, row.name), row)
            case Shared():
                return _is_added(state.sharing, row.user_id, row.at)
            case PlaceSwitch():
                return _is_added(state.switches, row.scope, row)
            case Belief() | Change():
                return beliefs.import_rows(state, row)
            case SuggestionDecision():
                return decisions.add(state, row)

    def _import_event(self, row: EmbeddedEvent) -> bool:
        """Import an event unless it, or an equal one, exists; counting it again would not be idempotent."""
        state = self._state
        if row.event.id in state.events or row.event.id in state.gone or state.active_duplicate(row.event) is not None:
            return False
        state.add(row.event)
        if row.fingerprint and row.vector is not None:
            state.put_vector(row.event.id, row.fingerprint, row.vector, state.next_revision())
        return True


def _lengths(state: InMemoryState, rows: Sequence[ArchiveRow]) -> Mapping[str, int]:
    """Return the vector length of each model: of the stored vectors, or of most imported ones if none is stored."""
    whole = (row for row in rows if isinstance(row, EmbeddedEvent) and row.vector and has_direction(row.vector))
    times = Counter((row.fingerprint, len(row.vector or ())) for row in whole)
    usual = {model: length for (model, length), _ in reversed(times.most_common())}
    return {model: state.dimensions(model) or length for model, length in usual.items()}


def _fitted(row: Owned, lengths: Mapping[str, int]) -> Owned:
    """Drop a vector that no search could use, so that its event is embedded again."""
    if not isinstance(row, EmbeddedEvent) or row.vector is None:
        return row
    is_usable = has_direction(row.vector) and len(row.vector) == lengths.get(row.fingerprint)
    return row if is_usable else EmbeddedEvent(row.event)


def _is_added(known: dict[K, V], key: K, value: V) -> bool:
    is_new = key not in known
    known.setdefault(key, value)
    return is_new


def _is_erased(erased: Tombstones, row: Owned) -> bool:
    if isinstance(row, Alias):
        return is_covered(erased, row.scope, (row.user_id,), row.last_seen_at)
    if isinstance(row, Shared):
        return erased.covers_person(row.user_id, row.at)
    if isinstance(row, SuggestionDecision):
        return is_covered(erased, row.scope, (), row.decided_at)
    if isinstance(row, PlaceSwitch):
        return is_covered(erased, row.scope, (), EARLIEST)
    said = row.event if isinstance(row, EmbeddedEvent) else row
    return stays_out(erased, said) or names_erased(erased, said)


def _people(row: Owned) -> tuple[str, ...]:
    match row:
        case EmbeddedEvent():
            return (row.event.sender_id, *row.event.subjects, *_whose(row.event.scope))
        case Message():
            return (row.scene.user_id,)
        case Pin():
            return (row.owner_id,)
        case Memo() | Alias():
            return (row.user_id, *_whose(row.scope))
        case Shared():
            return (row.user_id,)
        case PlaceSwitch() | Belief() | Change() | SuggestionDecision():
            return _whose(row.scope)


def _whose(scope: Scope) -> tuple[str, ...]:
    """Return the person of a private chat, who is all that rows of an older system may state."""
    return (scope.place_id,) if scope.kind == "private" else ()


def _within(day: Interval, instants: Sequence[datetime]) -> int:
    return sum(day.start <= at < day.stop for at in instants)
