"""Compares events: finds repetitions, near-duplicates, and statements that a later one replaces.

Only texts that share two of their rarest pairs of characters are compared (blocking), so that the time grows with
the number of events and not with its square.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from ..domain.event import duplicate_key
from ..domain.quality import EventPair, Examination, Flaw, FlawCount, QuotedEvent
from ..domain.scope import Scope
from ..store.quality import ExaminedEvent
from ..text.statements.bare_statements import character_pairs, outspoken, unquoted
from ..text.statements.figures import values_of
from ..text.statements.lexicon import offences

V = TypeVar("V")
NEAR = 0.8  # share of common pairs of characters from which two texts are nearly the same
RARE = 8  # of a text, by which it is found again
COMMON = 40  # events that share a pair of characters, from which it is too common to find anything by
LEAST_SHARED = 2
FREED = 200  # objects at once; more would block the event loop, which waits for the interpreter's lock
PARTS = 128  # of a table: growing or freeing a large one at once would block it too
LEAST_PAIRS = 4  # pairs of characters that a text needs to be compared
MOST_PAIRS = 20_000  # compared in one place
EXAMPLES = 20
FLAW_EXAMPLES = 3
QUOTED = 80  # characters


class PairTable(Generic[V]):
    """Maps pairs of characters to values, in many small dictionaries, because a large one takes long to grow."""

    def __init__(self) -> None:
        """Create the empty parts."""
        self._parts: list[dict[str, V]] = [{} for _ in range(PARTS)]

    def part(self, pair: str) -> dict[str, V]:
        """Return the dictionary for a pair of characters."""
        return self._parts[hash(pair) % PARTS]

    def free(self) -> None:
        """Drop all values, one dictionary at a time."""
        while self._parts:
            self._parts.pop()


@dataclass(frozen=True, slots=True)
class _EventRow:
    """An event, a hash of its text (``key``), and its pairs of characters; the text is dropped to save memory."""

    event: ExaminedEvent
    key: int
    pairs: tuple[str, ...]

    @property
    def age(self) -> tuple[datetime, int]:
        """The sort key by which older events come first."""
        return self.event.happened_at, self.event.seq


@dataclass
class _Found:
    duplicates: int = 0
    near: int = 0
    contradictions: int = 0
    near_pairs: list[EventPair] = field(default_factory=list[EventPair])
    opposed_pairs: list[EventPair] = field(default_factory=list[EventPair])
    is_cut: bool = False


def examined(events: Sequence[ExaminedEvent], hide: Callable[[str], str], least_confidence: float) -> Examination:
    """Compare the events of each place; takes seconds for 100,000 events, so call it off the event loop.

    ``hide`` redacts the quoted texts. Events with a confidence below ``least_confidence`` count as unsure.
    """
    by_place: dict[str, list[ExaminedEvent]] = defaultdict(list)
    for event in events:
        by_place[event.scope].append(event)
    found = _Found()
    for scope, here in by_place.items():
        _compare(Scope.of_key(scope), here, found, hide)
    return Examination(
        len(events),
        _flaws([event for event in events if not event.is_absolute], hide, least_confidence),
        found.duplicates,
        found.near,
        tuple(_best(found.near_pairs)),
        found.contradictions,
        tuple(_best(found.opposed_pairs)),
        found.is_cut,
    )


def _compare(scope: Scope, events: Sequence[ExaminedEvent], found: _Found, hide: Callable[[str], str]) -> None:
    one_of_each = PairTable[str]()  # a pair of characters is held once, however many events have it
    rows = [_row_of(event, one_of_each) for event in events]
    keys = Counter(row.key for row in rows)
    found.duplicates += sum(count - 1 for count in keys.values())
    common = _counted(rows)
    for count, (one, other) in enumerate(_candidates(rows, common)):
        if count >= MOST_PAIRS:
            found.is_cut = True
            break
        older, newer = (one, other) if one.age <= other.age else (other, one)
        if newer.event.replaces != older.event.id and _are_near(older, newer):
            found.near += 1
            _keep(found.near_pairs, scope, older, newer, hide)
    by_id = {row.event.id: row for row in rows}
    for row in rows:
        if replaced := by_id.get(row.event.replaces):
            found.contradictions += 1
            _keep(found.opposed_pairs, scope, replaced, row, hide)
    while rows:
        del rows[-FREED:]
    common.free()
    one_of_each.free()


def _counted(rows: Sequence[_EventRow]) -> PairTable[int]:
    common = PairTable[int]()
    for pair in (pair for row in rows for pair in row.pairs):
        part = common.part(pair)
        part[pair] = part.get(pair, 0) + 1
    return common


def _candidates(rows: Sequence[_EventRow], common: PairTable[int]) -> Iterable[tuple[_EventRow, _EventRow]]:
    """Yield pairs of events whose texts share at least two of their rarest pairs of characters."""
    known = PairTable[list[int]]()
    for at, row in enumerate(rows):
        counts = [(common.part(pair)[pair], pair) for pair in row.pairs]
        rare = [pair for _, pair in sorted(one for one in counts if 1 < one[0] <= COMMON)[:RARE]]
        met = Counter(place for pair in rare for place in known.part(pair).get(pair, ()))
        yield from ((rows[place], row) for place, times in met.items() if times >= LEAST_SHARED)
        for pair in rare:
            known.part(pair).setdefault(pair, []).append(at)
    known.free()


def _are_near(older: _EventRow, newer: _EventRow) -> bool:
    is_like = older.key != newer.key and _likeness(older, newer) >= NEAR
    return is_like and values_of(outspoken(older.event.text)) == values_of(outspoken(newer.event.text))


def _likeness(older: _EventRow, newer: _EventRow) -> float:
    mine, theirs = {*older.pairs}, {*newer.pairs}
    return len(mine & theirs) / max(len(mine | theirs), 1)


def _keep(pairs: list[EventPair], scope: Scope, older: _EventRow, newer: _EventRow, hide: Callable[[str], str]) -> None:
    if len(pairs) < EXAMPLES * EXAMPLES:
        quoted = _quoted(older.event, hide), _quoted(newer.event, hide)
        pairs.append(EventPair(scope, *quoted, round(_likeness(older, newer), 3)))


def _flaws(events: Iterable[ExaminedEvent], hide: Callable[[str], str], least: float) -> tuple[FlawCount, ...]:
    counts, examples = Counter[Flaw](), defaultdict[Flaw, list[QuotedEvent]](list)
    for event in events:
        for flaw in _flaws_of(event, least):
            counts[flaw] += 1
            if len(examples[flaw]) < FLAW_EXAMPLES:
                examples[flaw].append(_quoted(event, hide))
    return tuple(FlawCount(flaw, count, tuple(examples[flaw])) for flaw, count in counts.most_common())


def _flaws_of(event: ExaminedEvent, least: float) -> list[Flaw]:
    """Return why an event cannot be read on its own: kinds of offences, "unsure"; else "unworded"."""
    flaws: list[Flaw] = [*dict.fromkeys(offence.kind for offence in offences(unquoted(event.text)))]
    if event.confidence < least:
        flaws.append("unsure")
    return flaws or ["unworded"]


def _row_of(event: ExaminedEvent, one_of_each: PairTable[str]) -> _EventRow:
    pairs = character_pairs(outspoken(event.text))
    held = tuple(one_of_each.part(pair).setdefault(pair, pair) for pair in pairs) if len(pairs) >= LEAST_PAIRS else ()
    return _EventRow(event, hash(duplicate_key(event.text)), held)


def _quoted(event: ExaminedEvent, hide: Callable[[str], str]) -> QuotedEvent:
    text = hide(event.text)
    return QuotedEvent(event.id, text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…", event.happened_at)


def _best(pairs: Sequence[EventPair]) -> list[EventPair]:
    return sorted(pairs, key=lambda pair: pair.likeness, reverse=True)[:EXAMPLES]
