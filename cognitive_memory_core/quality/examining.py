"""Compares the texts of stored events for the report: repetitions, replaced statements, and flaws."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest

from ..domain.event import duplicate_key
from ..domain.quality import EventPair, Examination, Flaw, FlawCount, QuotedEvent
from ..domain.scope import Scope
from ..store.quality import ExaminedEvent
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
