"""Fuses two candidate lists into one and ranks it. Pure functions over hits; none modifies its arguments."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from operator import attrgetter
from types import MappingProxyType

from ..domain.context import Hit
from ..domain.event import Event, duplicate_key, is_replaced
from ..domain.interval import Interval
from ..settings import Decay
from ..store.search.lines import line_key
from ..text.caches import cleared_on_erasure
from ..text.terms import SEARCHED, index_terms, telling_of

Scored = tuple[Event, float]
MAX_RESULTS, MAX_CANDIDATES = 200, 1_000
LEAST = 0.15  # relevance from which a hit counts as an answer to an identity query
Identity = tuple[str, ...]
Factors = tuple[tuple[str, float], ...]
NO_LINES: Mapping[int, float] = MappingProxyType({})
OUTSIDE = 0.3  # factor of a hit outside the time that the query names
NAMED = 0.15  # gain of a hit about the people named; a larger one would let a wrong name hide the right answer
SAME_MATTER = 0.4  # overlap of terms from which two statements of the same person are about one matter
_SECONDS_A_DAY = 86_400.0
_SCORE = attrgetter("score")


def matched(terms: Sequence[str], found: Sequence[Scored]) -> list[Scored]:
    """Map the BM25 scores of a lexical search, which have no fixed scale, to [0, 1].

    The score is absolute: the share of the query that a hit covers, where a term weighs more the rarer it is in the
    language and among the candidates. Full coverage gives 1, one common pair out of many a value near 0. Half of the
    result is scaled by BM25 relative to the best hit, which accounts for rarity beyond these candidates and for text
    length.
    """
    texts = [_words(event) for event, _ in found]
    shares = covered(terms, texts)
    best = max((score for _, score in found if math.isfinite(score)), default=0.0)
    if best <= 0.0:
        return [(event, saturated(share)) for (event, _), share in zip(found, shares, strict=True)]
    return [
        (event, saturated(share) * (0.5 + 0.5 * _clamped(score / best)))
        for (event, score), share in zip(found, shares, strict=True)
    ]


def shares_terms(terms: Sequence[str], found: Iterable[Scored]) -> bool:
    """Return whether any of the events has a term of the query."""
    asked = frozenset(terms)
    return any(not asked.isdisjoint(_words(event)) for event, _ in found)


def fused(
    dense: Sequence[Scored] | None, lexical: Sequence[Scored] | None, weight: float, least: float = 0.0
) -> list[Hit]:
    """Fuse two searches, best first: ``(1 - weight) * similarity + weight * lexical``, both in [0, 1].

    None is an unavailable search: the other is used alone. An event that only one search found has 0 in the other.
    Hits of a relevance below ``least`` are left out.
    """
    share = weight if dense is not None and lexical is not None else float(dense is None)
    found = {identity(event): (event, _clamped(score), 0.0) for event, score in dense or ()}
    for event, score in lexical or ():
        key = identity(event)
        similarity = found[key][1] if key in found else 0.0
        found[key] = (event, similarity, _clamped(score))
    return _ordered(
        [
            Hit(event, relevance, similarity, words, relevance)
            for event, similarity, words in found.values()
            if (relevance := (1.0 - share) * similarity + share * words) >= least
        ]
    )


def above(hits: Iterable[Hit], min_relevance: float) -> list[Hit]:
    """Keep hits with a positive relevance of at least ``min_relevance``, whatever their score."""
    return [hit for hit in hits if hit.relevance >= min_relevance and hit.relevance > 0.0]


def reranked(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit] | None:
    """Return the hits with a reranker's scores, clamped to [0, 1], as relevance; None for unusable scores.

    Scores are unusable if their number differs from that of the hits or one is not finite.
    """
    if len(scores) != len(hits) or not all(map(math.isfinite, scores)):
        return None
    told = zip(hits, map(_clamped, scores), strict=True)
    return _ordered(replace(hit, score=score, relevance=score) for hit, score in told)


def widened(hits: Iterable[Hit], more: Iterable[Event], relevance: float) -> list[Hit]:
    """Return the hits with the events ``more``, each of which gets at least ``relevance``, even if it was a hit."""
    found = {identity(hit.event): hit for hit in hits}
    for event in more:
        hit = found.get(identity(event))
        if hit is None:
            found[identity(event)] = Hit(event, relevance, relevance=relevance)
        elif hit.relevance < relevance:
            found[identity(event)] = replace(hit, score=relevance, relevance=relevance)
    return _ordered(found.values())


def weighed(
    hits: Sequence[Hit],
    window: Interval | None,
    people: frozenset[str],
    decay: Decay | None = None,
    now: datetime | None = None,
    lines: Mapping[int, float] = NO_LINES,
    told: dict[Identity, Factors] | None = None,
) -> list[Hit]:
    """Multiply each score by its factors, and order the hits; none is dropped. ``told`` receives the factors.

    * time: lower outside the ``window`` that the query names, if any hit lies in it;
    * people: higher for what was said by or about the ``people`` named, more if it involves more of these;
    * age: higher for recent hits (seed 001) of at least the relevance ``decay.floor``; a future time counts as now;
    * lines: higher where a search of the log found source lines. ``lines`` has their scores by :func:`line_key`; both
      scores count as independent evidence, ``1 - (1 - score) * (1 - line's score)``.
    """
    is_dated = window is not None and any(hit.event.happened_at in window for hit in hits)
    found: list[Hit] = []
    for hit in hits:
        event, score, named, recency, witness = hit.event, hit.score, 1.0, 1.0, 1.0
        in_time = OUTSIDE if is_dated and window and event.happened_at not in window else 1.0
        if people:
            named += NAMED * len(people.intersection((event.sender_id, *event.subjects))) / len(people)
        if decay is not None and now is not None and hit.relevance >= decay.floor:
            age_days = max((now - event.happened_at).total_seconds(), 0.0) / _SECONDS_A_DAY
            recency += decay.boost * 0.5 ** (age_days / decay.half_life_days)
        score *= in_time * named * recency
        if lines and event.message_ids and score > 0.0:
            line = max(lines.get(line_key(event.scope.key, source), 0.0) for source in event.message_ids)
            witness = (1.0 - (1.0 - _clamped(score)) * (1.0 - _clamped(line))) / score if line > 0.0 else 1.0
        found.append(Hit(event, score * witness, hit.similarity, hit.lexical, hit.relevance))
        if told is not None:
            told[identity(event)] = (("time", in_time), ("people", named), ("age", recency), ("lines", witness))
    return _ordered(found)


def collapsed(hits: Iterable[Hit], limit: int | None = None) -> list[Hit]:
    """Keep the first of the hits with equal texts, at most ``limit`` hits in all.

    Texts that are not absolute are equal only from the same sender.
    """
    first: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        if len(first) == limit:
            break
        first.setdefault(sameness(hit.event), hit)
    return list(first.values())


def diversified(hits: Iterable[Hit], diversity: float, limit: int) -> list[Hit]:
    """Choose at most ``limit`` hits one by one, by score reduced by overlap with those chosen before (MMR).

    The reduced score is ``score * (1 - diversity * overlap)`` with the largest Jaccard overlap of terms with a chosen
    hit. It becomes the hit's score, so that scores still decrease along the list.
    """
    found = list(hits)
    words: dict[int, frozenset[str]] = {}
    waiting = [(-hit.score, at, 0, 0.0) for at, hit in enumerate(found)]  # ... compared with so many, largest overlap
    heapq.heapify(waiting)
    chosen: dict[int, Hit] = {}
    while waiting and len(chosen) < limit:
        bound, at, compared, largest = waiting[0]
        own = words.get(at) or words.setdefault(at, _words(found[at].event))
        if compared < len(chosen):  # an upper bound: only the first candidate is compared
            largest = max(largest, *[overlap(own, words[one]) for one in islice(chosen, compared, None)])
            reduced = found[at].score * (1.0 - diversity * largest)
            heapq.heapreplace(waiting, (-reduced, at, len(chosen), largest))
        else:
            heapq.heappop(waiting)
            hit = found[at]
            chosen[at] = Hit(hit.event, -bound, hit.similarity, hit.lexical, hit.relevance)
    return list(chosen.values())


def newer_first(events: Iterable[Event]) -> list[Event]:
    """Order a person's statements on one topic newest first, in the positions that they have; others stay.

    Such statements may contradict each other. Which one replaces another is known only if a model said so
    (:func:`followed`).
    """
    ordered = list(events)
    left = list(range(len(ordered)))
    while left:
        first, *rest = left
        mine = ordered[first]
        theirs = [at for at in rest if ordered[at].sender_id == mine.sender_id]
        places = [first, *[at for at in theirs if _is_same_matter(mine, ordered[at])]]
        newest = sorted((ordered[at] for at in places), key=lambda event: event.happened_at, reverse=True)
        for at, event in zip(places, newest, strict=True):
            ordered[at] = event
        left = [at for at in rest if at not in places]
    return ordered


def followed(events: Sequence[Event], newer: Iterable[Event], limit: int) -> tuple[list[Event], frozenset[str]]:
    """Insert before each event the events that replace it; return at most ``limit``, and the ids of replaced ones."""
    shown: list[Event] = []
    successors: dict[str, list[Event]] = {}
    for one in newer:
        successors.setdefault(one.replaces, []).append(one)
    for event in events:
        chain, at = [event], event
        while found := [one for one in successors.pop(at.id, ()) if is_replaced(at, one) and one not in chain]:
            at = max(found, key=lambda one: one.happened_at)
            chain.insert(0, at)
        shown += chain
    once = list({event.id: event for event in shown}.values())[:limit]
    last = {event.id for event in once}
    return once, frozenset(one.replaces for one in newer if one.id in last and one.replaces in last)


def _is_same_matter(one: Event, other: Event) -> bool:
    is_of_one = one.sender_id == other.sender_id and one.subjects == other.subjects and one.scope == other.scope
    return is_of_one and overlap(_terms(one.text), _terms(other.text)) >= SAME_MATTER


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard overlap of two sets of terms, in [0, 1]."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def _words(event: Event) -> frozenset[str]:
    """Return an event's index terms: of its text, its experience fields and its sender's name."""
    return _words_of(event.sender_name, event.text, event.pain, event.solution, event.outcome)


@cleared_on_erasure
@lru_cache(maxsize=1024)  # by the texts as they are: joining them for a key would hash them anew each time
def _words_of(*said: str) -> frozenset[str]:
    return frozenset(index_terms("\n".join(said)))


@cleared_on_erasure
@lru_cache(maxsize=1024)  # the same events are found repeatedly in a scene
def _terms(text: str) -> frozenset[str]:
    return frozenset(index_terms(text))


def identity(event: Event) -> Identity:
    """Return what tells an event from all others: message ids are unique only within their scope."""
    place = event.group_id if event.request_type == "group" else event.user_id
    return event.kind, event.agent, event.request_type, place, event.id


def _ordered(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=_SCORE, reverse=True)  # equal scores keep their order


def sameness(event: Event) -> tuple[str, str]:
    """Return what events of equal texts share; of texts that are not absolute, those of the same sender only."""
    bound = not event.is_absolute or event.kind == "message"
    return _key(event.text), event.sender_id if bound else ""


@cleared_on_erasure
@lru_cache(maxsize=4096)
def _key(text: str) -> str:
    return duplicate_key(text)


def _clamped(score: float) -> float:
    if 0.0 <= score <= 1.0:  # as nearly always
        return score
    return min(max(score, 0.0), 1.0) if math.isfinite(score) else 0.0


SATURATION = 0.5


def covered(terms: Sequence[str], texts: Sequence[frozenset[str]], among: int | None = None) -> list[float]:
    """Return, for each text, the share of the query's term weight that the text contains, in [0, 1].

    A term weighs more the rarer it is in the language and among ``among`` texts (None: the given ones); one that no
    text has weighs as if one text had it. Of a long query only the heaviest terms count, as many as are searched.
    """
    if not texts:
        return []
    count = len(texts) if among is None else among
    asked = frozenset(terms)
    common = [asked & text for text in texts]
    having = Counter(chain.from_iterable(common))
    weights = {term: usual_weight(term) * math.log1p(count / (having.get(term) or 1)) for term in asked}
    whole = math.fsum(heapq.nlargest(SEARCHED, weights.values()))  # fsum: the order of a set says nothing
    return [min(math.fsum(map(weights.__getitem__, some)) / whole, 1.0) for some in common]


def saturated(coverage: float, half_point: float = SATURATION) -> float:
    """Map a coverage in [0, 1] to a saturation curve: 0 and 1 stay; a smaller ``half_point`` raises the middle."""
    return coverage * (1.0 + half_point) / (coverage + half_point)


@cleared_on_erasure
@lru_cache(maxsize=8192)
def usual_weight(term: str) -> float:
    """Return the weight of a term by its characters alone, in (0, 1]: lower for frequent ones."""
    return telling_of(term)
