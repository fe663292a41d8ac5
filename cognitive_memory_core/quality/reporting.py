"""The quality report, collected from the ledger, the queue's counts and the settings; texts of events are read."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from .. import sentences
from ..consent import Consent
from ..domain.event import Event, shortened
from ..domain.figures import Spending
from ..domain.job import QueueCounts
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
    TeacherShare,
)
from ..models.lent_models import LentModel
from ..models.spending import UNMETERED
from ..ports import REFUSED, RETRIED, Clock
from ..settings.schema import Live, Settings
from ..store.ledger import Ledger
from ..text.relative_words import offences
from ..text.spans import unquoted

EXAMPLES = 20
FLAW_EXAMPLES = 3
QUOTED, QUOTES = 80, 3  # characters of a text and of a quote, and quotes of an event


def examined(events: Sequence[Event], redacted: Callable[[Event], Event], least_confidence: float) -> Examination:
    """Examine events, given latest first; takes seconds for many events, so call it off the event loop.

    ``redacted`` redacts what is quoted. An event that does not stand on its own is counted once for each flaw: the
    kinds of its offences, and "unsure" if its confidence is below ``least_confidence``; "unworded" if it has neither.
    """

    def quoted(event: Event) -> QuotedEvent:
        told = redacted(event)
        quotes = (replace(quote, text=shortened(quote.text, QUOTED)) for quote in told.quotes[:QUOTES])
        return QuotedEvent(event.id, shortened(told.text, QUOTED), event.happened_at, tuple(quotes))

    known = {(event.scope, event.id): event for event in events}
    replaced = [(old, new) for new in events if (old := known.get((new.scope, new.replaces)))]
    pairs = (EventPair(new.scope, quoted(old), quoted(new)) for old, new in replaced[:EXAMPLES])
    counts, examples = Counter[Flaw](), defaultdict[Flaw, list[QuotedEvent]](list)
    for event in events:
        if event.is_absolute:
            continue
        found: list[Flaw] = [*dict.fromkeys(offence.kind for offence in offences(unquoted(event.text)))]
        if event.confidence < least_confidence:
            found.append("unsure")
        for flaw in found or ("unworded",):
            counts[flaw] += 1
            if len(examples[flaw]) < FLAW_EXAMPLES:
                examples[flaw].append(quoted(event))
    flaws = tuple(FlawCount(flaw, count, tuple(examples[flaw])) for flaw, count in counts.most_common())
    return Examination(len(events), flaws, len(replaced), tuple(pairs))


MOST_EXAMINED = 20_000  # events whose texts are read; the latest of more
MISSED = 200  # cases that are listed
_ROLES: Mapping[str, str] = {"rewrite": "historian", "compress": "historian"}  # others bear their purpose's name


@dataclass(frozen=True)
class Reporting:
    """Collects the report. ``counts`` returns the jobs by state, ``lag`` the number of events without a vector."""

    ledger: Ledger
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    counts: Callable[[], QueueCounts]
    lag: Callable[[], Awaitable[int]]
    lent: Callable[[], Awaitable[LentModel | None]] | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one examination at a time: each needs memory

    async def report(self, agent: str | None, *, days: int, examine: bool = True) -> QualityReport:
        """Return the report of an agent (None: of all); costs and counts cover the last ``days``, today included.

        With ``examine`` the texts of events are read, too: in a thread, and in seconds if there are many.
        """
        ledger, settings, hide, now = self.ledger.quality, self.settings.current, self.consent.hidden, self.clock.now()
        since = now.astimezone(settings.zone).date() - timedelta(days=days - 1)
        waiting = await self.ledger.facts.waiting()
        tallies, counted = await ledger.tallies(date.min), Counter[str]()
        for day, name, count in tallies:
            counted[name] += count if day >= since else 0
        spent: dict[str, Spending] = {}
        for _, one in await self.ledger.housekeeping.spent(since):
            spent[one.purpose] = spent.get(one.purpose, Spending(one.purpose)).plus(one)
        cases = await self.ledger.quality.missed(agent, MISSED, without=self.consent.opted_out)
        return QualityReport(
            at=now,
            days=days,
            counted_since=tallies[0][0] if tallies else None,
            places=tuple(await ledger.places(agent)),
            examination=await self._examination(agent) if examine else None,
            teachers=await asyncio.to_thread(self._named, await ledger.teachers(agent)),
            refusals={
                name.removeprefix(REFUSED): count
                for name, count in counted.most_common()
                if count and name.startswith(REFUSED)
            },
            retries=counted[RETRIED],
            backlog=Backlog(
                self.counts(),
                await self.lag(),
                sum(one.facts for one in waiting),
                min((one.since for one in waiting), default=None),
            ),
            costs=tuple(_costs(spent, settings, await self.lent() if self.lent else None)),
            missed=tuple(MissedRecall(hide(one.text), hide(one.wanted), one.noted_at) for one in cases),
        )

    def _named(self, teachers: Sequence[TeacherShare]) -> tuple[TeacherShare, ...]:
        """Return teachers without the ids and names of people who opted out; there may be thousands."""
        hidden, hide = self.consent.opted_out, self.consent.hidden
        return tuple(
            replace(one, user_id="" if one.user_id in hidden else one.user_id, name=hide(one.name or one.user_id))
            for one in teachers
        )

    async def _examination(self, agent: str | None) -> Examination:
        hidden, least = self.consent.opted_out, self.settings.current.historian.min_confidence
        async with self.turn:
            found = await self.ledger.quality.statements(agent, MOST_EXAMINED)

            def compared() -> Examination:
                shown = [one for one in found if hidden.isdisjoint((one.sender_id, *one.subjects))]
                return examined(shown, self.consent.redacted, least)

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
