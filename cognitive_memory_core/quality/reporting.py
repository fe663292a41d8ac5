"""The quality report, collected from the ledger, the queue's counts and the settings; texts of events are compared."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from heapq import nlargest

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
    PurposeCost,
    QualityReport,
    QuotedEvent,
    ReadLatency,
)
from ..domain.scope import Scope
from ..domain.turn import QueueCounts
from ..models.caller_models import LentModel
from ..models.spending import UNMETERED
from ..ports import REFUSED, RETRIED, Clock
from ..settings import Live, Settings
from ..store.ledger import Ledger
from ..store.quality import BOUNDS, TOOK, ExaminedEvent
from ..text.names import character_pairs, outspoken, unquoted
from ..text.statements import offences, values_of

NEAR = 0.8  # share of common pairs of characters from which two texts are nearly the same
RARE = 8  # of a text, by which it is found again
COMMON = 40  # events that share a pair of characters, from which it is too common to find anything by
LEAST_SHARED = 2
LEAST_PAIRS = 4  # pairs of characters that a text needs to be compared
MOST_PAIRS = 20_000  # compared in one place
EXAMPLES = 20
FLAW_EXAMPLES = 3
QUOTED = 80  # characters


def examined(events: Sequence[ExaminedEvent], hide: Callable[[str], str], least_confidence: float) -> Examination:
    """Compare the events of each place; takes seconds for many events, so call it off the event loop.

    ``hide`` redacts the quoted texts. Events with a confidence below ``least_confidence`` count as unsure.
    """
    by_place: dict[str, list[ExaminedEvent]] = defaultdict(list)
    for event in events:
        by_place[event.scope].append(event)
    duplicates, is_cut = 0, False
    near: list[EventPair] = []
    replaced: list[EventPair] = []

    def quoted(event: ExaminedEvent) -> QuotedEvent:
        text = hide(event.text)
        return QuotedEvent(event.id, text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…", event.happened_at)

    for key, here in by_place.items():
        scope = Scope.of_key(key)
        keys = [duplicate_key(event.text) for event in here]
        pairs = [character_pairs(outspoken(event.text)) for event in here]
        duplicates += len(here) - len({*keys})

        def likeness(one: int, other: int, pairs: Sequence[frozenset[str]] = pairs) -> float:
            return len(pairs[one] & pairs[other]) / max(len(pairs[one] | pairs[other]), 1)

        for count, couple in enumerate(_candidates(pairs)):
            if count >= MOST_PAIRS:
                is_cut = True
                break
            alike = likeness(*couple)
            one, other = (here[at] for at in couple)
            if alike < NEAR or keys[couple[0]] == keys[couple[1]]:
                continue
            older, newer = sorted((one, other), key=lambda event: (event.happened_at, event.seq))
            if newer.replaces != older.id and values_of(outspoken(one.text)) == values_of(outspoken(other.text)):
                near.append(EventPair(scope, quoted(older), quoted(newer), round(alike, 3)))
        places = {event.id: at for at, event in enumerate(here)}
        for at, event in enumerate(here):
            if (old := places.get(event.replaces)) is not None:
                replaced.append(EventPair(scope, quoted(here[old]), quoted(event), round(likeness(old, at), 3)))
    flaws = _flaws([event for event in events if not event.is_absolute], quoted, least_confidence)
    near_pairs, replaced_pairs = (
        tuple(nlargest(EXAMPLES, some, key=lambda pair: pair.likeness)) for some in (near, replaced)
    )
    return Examination(len(events), flaws, duplicates, len(near), near_pairs, len(replaced), replaced_pairs, is_cut)


def _candidates(pairs: Sequence[frozenset[str]]) -> Iterator[tuple[int, int]]:
    """Yield the places of two texts that share at least two of their rarest pairs of characters."""
    common = Counter(pair for one in pairs for pair in one)
    known = defaultdict[str, list[int]](list)
    for at, one in enumerate(pairs):
        if len(one) < LEAST_PAIRS:
            continue
        rare = sorted((common[pair], pair) for pair in one if 1 < common[pair] <= COMMON)[:RARE]
        met = Counter(place for _, pair in rare for place in known[pair])
        yield from ((place, at) for place, times in met.items() if times >= LEAST_SHARED)
        for _, pair in rare:
            known[pair].append(at)


def _flaws(
    vague: Sequence[ExaminedEvent], quoted: Callable[[ExaminedEvent], QuotedEvent], least: float
) -> tuple[FlawCount, ...]:
    """Count why events cannot be read on their own: kinds of offences, "unsure"; else "unworded"."""
    counts, examples = Counter[Flaw](), defaultdict[Flaw, list[QuotedEvent]](list)
    for event in vague:
        found: list[Flaw] = [*dict.fromkeys(offence.kind for offence in offences(unquoted(event.text)))]
        if event.confidence < least:
            found.append("unsure")
        for flaw in found or ("unworded",):
            counts[flaw] += 1
            if len(examples[flaw]) < FLAW_EXAMPLES:
                examples[flaw].append(quoted(event))
    return tuple(FlawCount(flaw, count, tuple(examples[flaw])) for flaw, count in counts.most_common())


MOST_EXAMINED = 20_000  # events whose texts are compared; the latest of more
MISSED = 200  # cases that are listed
_ROLES: Mapping[str, str] = {"rewrite": "historian", "compress": "historian"}  # others bear their purpose's name


async def _nobody() -> None:
    """Lend no model."""


@dataclass(frozen=True)
class Reporting:
    """Collects the report. ``counts`` returns the jobs by state, ``lag`` the number of events without a vector."""

    ledger: Ledger
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    counts: Callable[[], QueueCounts]
    lag: Callable[[], Awaitable[int]]
    lent: Callable[[], Awaitable[LentModel | None]] = _nobody
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one examination at a time: each needs memory

    async def report(self, agent: str | None, *, days: int, examine: bool = True) -> QualityReport:
        """Return the report of an agent (None: of all); costs and counts cover the last ``days``, today included.

        With ``examine`` the texts of events are compared, too: in a thread, and in seconds if there are many.
        """
        ledger, settings, hide, now = self.ledger.quality, self.settings.current, self.consent.hidden, self.clock.now()
        since = now.astimezone(settings.zone).date() - timedelta(days=days - 1)
        waiting = await self.ledger.facts.waiting()
        counted_since: date | None = None
        counted, times = Counter[str](), defaultdict[str, Counter[int]](Counter)
        for day, name, count in await ledger.tallies(date.min):
            counted_since = counted_since or day
            if day < since:
                continue
            if name.startswith(TOOK):
                read, _, bound = name.removeprefix(TOOK).rpartition(":")
                times[read][int(bound)] += count
            else:
                counted[name] += count
        spent: dict[str, Spending] = {}
        for _, one in await ledger.spent(since):
            spent[one.purpose] = spent.get(one.purpose, Spending(one.purpose)).plus(one)
        cases = await self.ledger.missed.cases(agent, MISSED, without=self.consent.opted_out)
        return QualityReport(
            at=now,
            days=days,
            counted_since=counted_since,
            places=tuple(await ledger.places(agent)),
            examination=await self._examination(agent) if examine else None,
            teachers=tuple(
                replace(
                    one,
                    user_id="" if one.user_id in self.consent.opted_out else one.user_id,
                    name=hide(one.name or one.user_id),
                )
                for one in await ledger.teachers(agent)
            ),
            refusals={name.removeprefix(REFUSED): n for name, n in counted.most_common() if name.startswith(REFUSED)},
            retries=counted[RETRIED],
            backlog=Backlog(
                self.counts(),
                await self.lag(),
                sum(one.facts for one in waiting),
                min((one.since for one in waiting), default=None),
            ),
            costs=tuple(_costs(spent, settings, await self.lent())),
            latencies=tuple(
                ReadLatency(read, tuple((bound, took[bound]) for bound in (*BOUNDS, 0)))
                for read, took in sorted(times.items())
            ),
            missed=tuple(MissedRecall(hide(one.text), hide(one.wanted), one.noted_at) for one in cases),
        )

    async def _examination(self, agent: str | None) -> Examination:
        hidden, least = self.consent.opted_out, self.settings.current.historian.min_confidence
        async with self.turn:
            found = await self.ledger.quality.statements(agent, MOST_EXAMINED)

            def compared() -> Examination:
                shown = [one for one in found if hidden.isdisjoint((one.sender_id, *one.subjects))]
                return examined(shown, self.consent.hidden, least)

            return await asyncio.to_thread(compared)


def _costs(spent: Mapping[str, Spending], settings: Settings, lent: LentModel | None) -> list[PurposeCost]:
    """Return the costs by purpose, the purpose with the most tokens first."""
    costs: list[PurposeCost] = []
    for one in spent.values():
        model, price = settings.models.cost_of(_ROLES.get(one.purpose, one.purpose))
        if lent and not model and one.purpose not in UNMETERED:
            model = sentences.models.OF_LENDER.format(lender=lent.lender, model=lent.model_name)
        costs.append(PurposeCost(**vars(one), model=model, price=price and price.of(one.tokens, one.answered)))
    return sorted(costs, key=lambda cost: (-cost.tokens, cost.purpose))
