"""Collects the quality report from the ledger, the queue's counts and the settings."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Generic, TypeVar

from ..consent import Consent
from ..domain.event import duplicate_key
from ..domain.figures import Spending
from ..domain.quality import (
    Backlog,
    EventPair,
    Examination,
    Flaw,
    FlawCount,
    MissedRecall,
    PlaceQuality,
    PurposeCost,
    QualityReport,
    QuotedEvent,
    ReadLatency,
    Retention,
    TeacherShare,
)
from ..domain.scope import Scope
from ..domain.turn import QueueCounts
from ..ports.clock import Clock
from ..ports.tally import REFUSED, RETRIED
from ..settings import Live, Settings
from ..store.facts import FactBook
from ..store.names import NameBook
from ..store.quality import ExaminedEvent, LineCount, LoggedDay, MissedBook, QualityLedger, StoredCount
from ..text.statements.bare_statements import character_pairs, outspoken, unquoted
from ..text.statements.figures import values_of
from ..text.statements.lexicon import offences
from .counting import BOUNDS, TOOK

MOST_EXAMINED = 100_000  # events whose texts are compared; the latest of more
PAGE = 5_000
MISSED = 200  # cases that are listed
LEAST_EVENTS, LEAST_PEOPLE = 10, 3  # of a group, from which those who taught most are compared
TEACHERS = 3  # of each group
KEPT = (7, 14, 30, 60, 90, 180, 365)  # values of capture.log_days that are compared
_ROLES: Mapping[str, str] = {"rewrite": "historian", "compress": "historian"}  # others bear their purpose's name


@dataclass(frozen=True)
class Reporting:
    """Collects the report. ``counts`` returns the jobs by state, ``lag`` the number of events without a vector."""

    ledger: QualityLedger
    names: NameBook
    facts: FactBook
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    counts: Callable[[], Awaitable[QueueCounts]]
    lag: Callable[[], Awaitable[int]]
    missed: MissedBook
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one examination at a time: each needs memory

    async def report(self, agent: str | None, *, days: int, examine: bool = True) -> QualityReport:
        """Return the report of an agent (None: of all); costs and counts cover the last ``days``, today included.

        With ``examine`` the texts of events are compared, too: in a thread, and in seconds if there are many.
        """
        settings, now = self.settings.current, self.clock.now()
        today = now.astimezone(settings.zone).date()
        since = today - timedelta(days=days - 1)
        places, taught = await self._totals(agent)
        spent, tallies = await self.ledger.spent(since), await self.ledger.tallies(since)
        counted = Counter[str]()
        for _, name, count in tallies:
            counted[name] += count
        return QualityReport(
            at=now,
            days=days,
            counted_since=await self._counted_since(),
            places=places,
            examination=await self._examination(agent) if examine else None,
            teachers=tuple(await self._main_contributors(taught)),
            refusals={name.removeprefix(REFUSED): n for name, n in counted.most_common() if name.startswith(REFUSED)},
            retries=counted[RETRIED],
            backlog=await self._backlog(),
            costs=tuple(_costs(spent, settings)),
            spent_by_day=tuple(_by_day(spent, since, days)),
            latencies=tuple(_latencies(counted)),
            log_days=settings.capture.log_days,
            retention=tuple(_retention(await self.ledger.logged(), now)),
            missed=tuple(await self._missed(agent)),
        )

    async def _totals(self, agent: str | None) -> tuple[tuple[PlaceQuality, ...], list[_GroupStatements]]:
        """Return the figures by place, and each group's counts by person.

        Runs in a thread and frees the rows in slices, because freeing all at once would block the event loop.
        """
        with _uncollected():
            counts = [await self.ledger.stored()], [await self.ledger.line_counts()]

            def totalled() -> tuple[tuple[PlaceQuality, ...], list[_GroupStatements]]:
                stored, line_counts = counts[0].pop(), counts[1].pop()
                found = _totalled(agent, stored, line_counts)
                while stored or line_counts:
                    del stored[-FREED:]
                    del line_counts[-FREED:]
                return found

            return await asyncio.to_thread(totalled)

    async def _missed(self, agent: str | None) -> list[MissedRecall]:
        hide = self.consent.hidden
        cases = await self.missed.cases(agent, MISSED, without=self.consent.opted_out)
        return [MissedRecall(hide(one.text), hide(one.wanted), one.noted_at) for one in cases]

    async def _counted_since(self) -> date | None:
        return next((day for day, _, _ in await self.ledger.tallies(date.min)), None)

    async def _examination(self, agent: str | None) -> Examination:
        async with self.turn:
            return await self._examined(agent)

    async def _examined(self, agent: str | None) -> Examination:
        pages: list[list[ExaminedEvent]] = []
        before: int | None = None
        read = 0
        while read < MOST_EXAMINED:
            page = await self.ledger.statements(before, min(PAGE, MOST_EXAMINED - read))
            if not page:
                break
            pages.append(page)
            read += len(page)
            before = page[-1].seq
        least, hidden = self.settings.current.historian.min_confidence, self.consent.opted_out

        def compared() -> Examination:
            events: list[ExaminedEvent] = []
            while pages:
                events += (one for one in pages.pop(0) if _is_wanted(one, agent, hidden))
            with _uncollected():
                found = examined(events, self.consent.hidden, least)
            while events:
                del events[-FREED:]
            return found

        return await asyncio.to_thread(compared)

    async def _main_contributors(self, taught: Sequence[_GroupStatements]) -> list[TeacherShare]:
        found = [share for one in taught for share in await self._largest_shares(one.scope, one.events, one.lines)]
        return sorted(found, key=lambda one: one.share, reverse=True)

    async def _largest_shares(self, scope: Scope, taught: Counter[str], lines: Counter[str]) -> list[TeacherShare]:
        most = [(person, count) for person, count in taught.most_common(TEACHERS + 1) if person][:TEACHERS]
        names = {one.id: one.name for one in await self.names.people(scope, [person for person, _ in most])}
        hide, hidden = self.consent.hidden, self.consent.opted_out
        return [
            TeacherShare(
                scope,
                "" if person in hidden else person,
                hide(names.get(person, "") or person),
                count,
                count / taught.total(),
                lines[person] / lines.total() if lines else 0.0,
            )
            for person, count in most
        ]

    async def _backlog(self) -> Backlog:
        waiting = await self.facts.waiting()
        since = min((one.since for one in waiting), default=None)
        return Backlog(await self.counts(), await self.lag(), sum(one.facts for one in waiting), since)


@contextmanager
def _uncollected() -> Generator[None, None, None]:
    """Run no garbage collection during the ``with`` block.

    A collection would visit hundreds of thousands of young objects, none of them garbage, and block the event loop for
    a tenth of a second each time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _is_wanted(event: ExaminedEvent, agent: str | None, hidden: Collection[str]) -> bool:
    is_of_agent = agent is None or Scope.of_key(event.scope).agent == agent
    return is_of_agent and not any(person in hidden for person in (event.sender_id, *event.subjects))


@dataclass(frozen=True)
class _GroupStatements:
    """The number of stored events and of logged lines of each person, in a group of several people."""

    scope: Scope
    events: Counter[str]
    lines: Counter[str]


def _totalled(
    agent: str | None, stored: Sequence[StoredCount], line_counts: Sequence[LineCount]
) -> tuple[tuple[PlaceQuality, ...], list[_GroupStatements]]:
    """Return the figures by place of an agent (None: of all), and the counts by person of its groups."""
    of_agent = [one for one in stored if agent in (None, one.scope.agent)]
    said = [one for one in line_counts if agent in (None, one.scope.agent)]
    return tuple(_places(of_agent, said)), list(_statements_by_person(of_agent, said))


def _statements_by_person(
    stored: Sequence[StoredCount], line_counts: Sequence[LineCount]
) -> Iterator[_GroupStatements]:
    events, lines = defaultdict[Scope, Counter[str]](Counter), defaultdict[Scope, Counter[str]](Counter)
    for one in stored:
        events[one.scope][one.sender_id] += one.events
    for said in line_counts:
        lines[said.scope][said.sender_id] += said.lines
    for scope, taught in sorted(events.items(), key=lambda item: item[0]):
        people = {*taught, *lines[scope]} - {""}
        if scope.kind == "group" and taught.total() >= LEAST_EVENTS and len(people) >= LEAST_PEOPLE:
            yield _GroupStatements(scope, taught, lines[scope])


def _places(stored: Sequence[StoredCount], line_counts: Sequence[LineCount]) -> list[PlaceQuality]:
    """Return the places, those with the most events first."""
    lines = Counter[Scope]()
    for said in line_counts:
        lines[said.scope] += said.lines
    by_place = defaultdict[Scope, list[StoredCount]](list)
    for one in stored:
        by_place[one.scope].append(one)
    found = [_place(scope, by_place[scope], lines[scope]) for scope in sorted({*by_place, *lines})]
    return sorted(found, key=lambda place: (place.events, place.lines), reverse=True)


def _place(scope: Scope, stored: Sequence[StoredCount], lines: int) -> PlaceQuality:
    kinds = Counter[str]()
    for one in stored:
        kinds[one.kind] += one.events
    return PlaceQuality(
        scope,
        lines,
        kinds.total(),
        dict(kinds.most_common()),
        sum(one.absolute for one in stored),
        sum(one.recalled for one in stored),
    )


def _costs(spent: Sequence[tuple[date, Spending]], settings: Settings) -> list[PurposeCost]:
    """Return the costs by purpose, the purpose with the most tokens first."""
    added: dict[str, Spending] = {}
    for _, one in spent:
        added[one.purpose] = added.get(one.purpose, Spending(one.purpose)).plus(one)
    return sorted((_cost(one, settings) for one in added.values()), key=lambda cost: (-cost.tokens, cost.purpose))


def _cost(spending: Spending, settings: Settings) -> PurposeCost:
    model, price = settings.models.cost_of(_ROLES.get(spending.purpose, spending.purpose))
    paid = None if price is None else price.of(spending.tokens, spending.answered)
    return PurposeCost(
        spending.purpose,
        model,
        spending.calls,
        spending.tokens,
        spending.answered,
        spending.unreachable,
        spending.bad,
        paid,
    )


def _by_day(spent: Sequence[tuple[date, Spending]], since: date, days: int) -> list[tuple[date, int, int]]:
    calls, tokens = Counter[date](), Counter[date]()
    for day, one in spent:
        calls[day] += one.calls
        tokens[day] += one.tokens
    wanted = (since + timedelta(days=at) for at in range(days))
    return [(day, calls[day], tokens[day]) for day in wanted]


def _latencies(counted: Mapping[str, int]) -> list[ReadLatency]:
    found = defaultdict[str, dict[int, int]](dict)
    for name, count in counted.items():
        if name.startswith(TOOK):
            read, _, bound = name.removeprefix(TOOK).rpartition(":")
            found[read][int(bound)] = count
    return [
        ReadLatency(read, tuple((bound, counts.get(bound, 0)) for bound in (*BOUNDS, 0)))
        for read, counts in sorted(found.items())
    ]


def _retention(logged: Sequence[LoggedDay], now: datetime) -> list[Retention]:
    """Return, for each possible ``capture.log_days``, how many lines and bytes it would delete, by whole days."""
    rows: list[Retention] = []
    for kept in KEPT:
        before = (now - timedelta(days=kept)).date()
        gone = [one for one in logged if one.day < before]
        rows.append(Retention(kept, sum(one.lines for one in gone), sum(one.weight for one in gone)))
    return rows


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
