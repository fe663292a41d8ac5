"""Collects the quality report from the ledger, the queue's counts and the settings."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Generic, TypeVar

from .. import sentences
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
from ..models.lent import LentModel
from ..models.spending import UNMETERED
from ..ports.clock import Clock
from ..ports.tally import REFUSED, RETRIED
from ..settings import Live, Settings
from ..store.facts import FactBook
from ..store.names import NameBook
from ..store.quality import ExaminedEvent, LineCount, LoggedDay, MissedBook, QualityLedger, StoredCount
from ..text.names_and_quotations import character_pairs, outspoken, unquoted
from ..text.statements.figures import values_of
from ..text.statements.lexicon import offences
from .counting import BOUNDS, TOOK

MOST_EXAMINED = 100_000  # events whose texts are compared; the latest of more
PAGE = 5_000
MISSED = 200  # cases that are listed
LEAST_EVENTS, LEAST_PEOPLE = 10, 3  # of a group, from which those who taught most are compared
TEACHERS = 3  # of each group
KEPT = (7, 14, 30, 60, 90, 180, 365)  # values of capture.log_days that are compared
_Taught = tuple[Scope, Counter[str], Counter[str]]  # a group, its events and its logged lines by person
_ROLES: Mapping[str, str] = {"rewrite": "historian", "compress": "historian"}  # others bear their purpose's name


async def _nobody() -> None:
    """Lend no model."""


@dataclass(frozen=True)
class Reporting:
    """Collects the report. ``counts`` returns the jobs by state, ``lag`` the number of events without a vector."""

    ledger: QualityLedger
    names: NameBook
    facts: FactBook
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    counts: Callable[[], QueueCounts]
    lag: Callable[[], Awaitable[int]]
    missed: MissedBook
    lent: Callable[[], Awaitable[LentModel | None]] = _nobody
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one examination at a time: each needs memory

    async def report(self, agent: str | None, *, days: int, examine: bool = True) -> QualityReport:
        """Return the report of an agent (None: of all); costs and counts cover the last ``days``, today included.

        With ``examine`` the texts of events are compared, too: in a thread, and in seconds if there are many.
        """
        settings, now, hide = self.settings.current, self.clock.now(), self.consent.hidden
        since = now.astimezone(settings.zone).date() - timedelta(days=days - 1)
        places, taught = await self._totals(agent)
        spent, waiting = await self.ledger.spent(since), await self.facts.waiting()
        counted = Counter[str]()
        for _, name, count in await self.ledger.tallies(since):
            counted[name] += count
        cases = await self.missed.cases(agent, MISSED, without=self.consent.opted_out)
        return QualityReport(
            at=now,
            days=days,
            counted_since=next((day for day, _, _ in await self.ledger.tallies(date.min)), None),
            places=tuple(places),
            examination=await self._examination(agent) if examine else None,
            teachers=tuple(await self._teachers(taught)),
            refusals={name.removeprefix(REFUSED): n for name, n in counted.most_common() if name.startswith(REFUSED)},
            retries=counted[RETRIED],
            backlog=Backlog(
                self.counts(),
                await self.lag(),
                sum(one.facts for one in waiting),
                min((one.since for one in waiting), default=None),
            ),
            costs=tuple(_costs(spent, settings, await self.lent())),
            spent_by_day=tuple(_by_day(spent, since, days)),
            latencies=tuple(_latencies(counted)),
            log_days=settings.capture.log_days,
            retention=tuple(_retention(await self.ledger.logged(), now)),
            missed=tuple(MissedRecall(hide(one.text), hide(one.wanted), one.noted_at) for one in cases),
        )

    async def _totals(self, agent: str | None) -> tuple[list[PlaceQuality], list[_Taught]]:
        """Return the figures by place, and each group's counts by person.

        Runs in a thread and frees the rows in slices, because freeing all at once would block the event loop.
        """
        with _uncollected():
            counts = [await self.ledger.stored()], [await self.ledger.line_counts()]

            def totalled() -> tuple[list[PlaceQuality], list[_Taught]]:
                stored, line_counts = counts[0].pop(), counts[1].pop()
                found = _totalled(agent, stored, line_counts)
                while stored or line_counts:
                    del stored[-FREED:]
                    del line_counts[-FREED:]
                return found

            return await asyncio.to_thread(totalled)

    async def _examination(self, agent: str | None) -> Examination:
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

        async with self.turn:
            pages: list[list[ExaminedEvent]] = []
            for first in range(0, MOST_EXAMINED, PAGE):
                before = pages[-1][-1].seq if pages else None
                page = await self.ledger.statements(before, min(PAGE, MOST_EXAMINED - first))
                if not page:
                    break
                pages.append(page)
            return await asyncio.to_thread(compared)

    async def _teachers(self, taught: Sequence[_Taught]) -> list[TeacherShare]:
        """Return those who taught most of each group, the largest share first."""
        found: list[TeacherShare] = []
        hide, hidden = self.consent.hidden, self.consent.opted_out
        for scope, events, lines in taught:
            most = [(person, count) for person, count in events.most_common(TEACHERS + 1) if person][:TEACHERS]
            names = {one.id: one.name for one in await self.names.people(scope, [person for person, _ in most])}
            found += (
                TeacherShare(
                    scope,
                    "" if person in hidden else person,
                    hide(names.get(person, "") or person),
                    count,
                    count / events.total(),
                    lines[person] / lines.total() if lines else 0.0,
                )
                for person, count in most
            )
        return sorted(found, key=lambda one: one.share, reverse=True)


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


def _totalled(
    agent: str | None, stored: Sequence[StoredCount], line_counts: Sequence[LineCount]
) -> tuple[list[PlaceQuality], list[_Taught]]:
    """Return the places of an agent (None: of all), those with the most events first, and its groups of several people.

    Of each group the stored events and the logged lines are counted by person.
    """
    here, lines = defaultdict[Scope, list[StoredCount]](list), defaultdict[Scope, Counter[str]](Counter)
    for one in stored:
        here[one.scope].append(one)
    for said in line_counts:
        lines[said.scope][said.sender_id] += said.lines
    places: list[PlaceQuality] = []
    taught: list[_Taught] = []
    for scope in sorted({*here, *lines}):
        if agent not in (None, scope.agent):
            continue
        kinds, events = Counter[str](), Counter[str]()
        for one in here[scope]:
            kinds[one.kind] += one.events
            events[one.sender_id] += one.events
        absolute, recalled = sum(one.absolute for one in here[scope]), sum(one.recalled for one in here[scope])
        logged = lines[scope].total()
        places.append(PlaceQuality(scope, logged, kinds.total(), dict(kinds.most_common()), absolute, recalled))
        people = {*events, *lines[scope]} - {""}
        if scope.kind == "group" and events.total() >= LEAST_EVENTS and len(people) >= LEAST_PEOPLE:
            taught.append((scope, events, lines[scope]))
    return sorted(places, key=lambda place: (place.events, place.lines), reverse=True), taught


def _costs(spent: Sequence[tuple[date, Spending]], settings: Settings, lent: LentModel | None) -> list[PurposeCost]:
    """Return the costs by purpose, the purpose with the most tokens first."""
    added: dict[str, Spending] = {}
    for _, one in spent:
        added[one.purpose] = added.get(one.purpose, Spending(one.purpose)).plus(one)
    costs: list[PurposeCost] = []
    for one in added.values():
        model, price = settings.models.cost_of(_ROLES.get(one.purpose, one.purpose))
        if lent and not model and one.purpose not in UNMETERED:
            model = sentences.models.OF_LENDER.format(lender=lent.lender, model=lent.model_name)
        costs.append(PurposeCost(**vars(one), model=model, price=price and price.of(one.tokens, one.answered)))
    return sorted(costs, key=lambda cost: (-cost.tokens, cost.purpose))


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
        """Return the one dictionary that holds the value of a pair of characters."""
        return self._parts[hash(pair) % PARTS]

    def free(self) -> None:
        """Drop all values, one dictionary at a time."""
        while self._parts:
            self._parts.pop()


class _EventRow:
    """An event, a hash of its text (``key``), and its pairs of characters; the text is dropped to save memory."""

    __slots__ = ("event", "key", "pairs")

    def __init__(self, event: ExaminedEvent, one_of_each: PairTable[str]) -> None:
        """Take the pairs of a text that is long enough to be compared, each out of ``one_of_each``."""
        pairs = character_pairs(outspoken(event.text))
        self.event, self.key = event, hash(duplicate_key(event.text))
        wanted = pairs if len(pairs) >= LEAST_PAIRS else ()
        self.pairs = tuple(one_of_each.part(pair).setdefault(pair, pair) for pair in wanted)

    def likeness(self, other: _EventRow) -> float:
        """Return the share of common pairs of characters."""
        mine, theirs = {*self.pairs}, {*other.pairs}
        return len(mine & theirs) / max(len(mine | theirs), 1)

    def is_near(self, other: _EventRow) -> bool:
        """Return whether both say nearly the same, in other words and with the same figures."""
        is_like = self.key != other.key and self.likeness(other) >= NEAR
        return is_like and values_of(outspoken(self.event.text)) == values_of(outspoken(other.event.text))


def examined(events: Sequence[ExaminedEvent], hide: Callable[[str], str], least_confidence: float) -> Examination:
    """Compare the events of each place; takes seconds for 100,000 events, so call it off the event loop.

    ``hide`` redacts the quoted texts. Events with a confidence below ``least_confidence`` count as unsure.
    """
    by_place: dict[str, list[ExaminedEvent]] = defaultdict(list)
    for event in events:
        by_place[event.scope].append(event)
    duplicates, is_cut = 0, False
    near, opposed = _Pairs(hide), _Pairs(hide)
    for scope, here in by_place.items():
        one_of_each = PairTable[str]()  # a pair of characters is held once, however many events have it
        rows = [_EventRow(event, one_of_each) for event in here]
        duplicates += len(rows) - len({row.key for row in rows})
        common = _counted(rows)
        for count, pair in enumerate(_candidates(rows, common)):
            if count >= MOST_PAIRS:
                is_cut = True
                break
            older, newer = sorted(pair, key=lambda row: (row.event.happened_at, row.event.seq))
            if newer.event.replaces != older.event.id and older.is_near(newer):
                near.add(scope, older, newer)
        by_id = {row.event.id: row for row in rows}
        for row in rows:
            if replaced := by_id.get(row.event.replaces):
                opposed.add(scope, replaced, row)
        while rows:
            del rows[-FREED:]
        common.free()
        one_of_each.free()
    flaws = _flaws([event for event in events if not event.is_absolute], hide, least_confidence)
    return Examination(len(events), flaws, duplicates, near.count, near.best(), opposed.count, opposed.best(), is_cut)


class _Pairs:
    """Counts pairs of events, and keeps some as examples."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        """Start with none; ``hide`` redacts the quoted texts."""
        self.count = 0
        self._hide = hide
        self._kept: list[EventPair] = []

    def add(self, scope: str, older: _EventRow, newer: _EventRow) -> None:
        """Count a pair."""
        self.count += 1
        if len(self._kept) < EXAMPLES * EXAMPLES:
            quoted = _quoted(older.event, self._hide), _quoted(newer.event, self._hide)
            self._kept.append(EventPair(Scope.of_key(scope), *quoted, round(older.likeness(newer), 3)))

    def best(self) -> tuple[EventPair, ...]:
        """Return the examples that are most alike."""
        return tuple(sorted(self._kept, key=lambda pair: pair.likeness, reverse=True)[:EXAMPLES])


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


def _quoted(event: ExaminedEvent, hide: Callable[[str], str]) -> QuotedEvent:
    text = hide(event.text)
    return QuotedEvent(event.id, text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…", event.happened_at)
