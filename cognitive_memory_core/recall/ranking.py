"""Ranks the events that two searches found: each step drops some candidates or sets their scores.

Candidates keep the parts of their scores, of which an explanation is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from heapq import heappop, heappush
from operator import attrgetter
from types import MappingProxyType

from ..domain.answer import Context, Hit
from ..domain.event import Event
from ..domain.instants import Interval
from ..domain.scope import Scope
from ..settings.schema import Decay
from ..store.database.words import line_key
from ..store.search.lines import Factors, FoundLine, same_text
from ..text.characters import cleared_on_erasure
from ..text.terms import index_terms

Scored = tuple[Event, float]
MAX_RESULTS, MAX_CANDIDATES = 200, 1_000
LEAST = 0.15  # relevance from which a hit counts as an answer to an identity query
NO_LINES: Mapping[int, float] = MappingProxyType({})
OUTSIDE = 0.3  # factor of a hit outside the time that the query names
NAMED = 0.15  # gain of a hit about the people named; a larger one would let a wrong name hide the right answer
SECONDS_A_DAY = 86_400.0


@dataclass
class Candidate:
    """One event to which a search gave a score, with the parts of that score.

    ``relevance`` is computed from ``similarity`` and ``lexical``, or is the reranker's score (``judged``, None without
    one). ``relevance`` times all ``factors``, given in their order, is ``score``. ``rank`` is the position in the
    result, from 1 on; 0 if the candidate is not in it, and ``cut`` names the step that dropped it: "judged",
    "relevance", "duplicates" or "diversity".
    """

    event: Event
    similarity: float = 0.0
    lexical: float = 0.0
    relevance: float = 0.0
    judged: float | None = None
    factors: Factors = ()
    score: float = 0.0
    rank: int = 0
    cut: str | None = None

    @property
    def hit(self) -> Hit:
        """The event with its scores, as a search returns it."""
        return Hit(self.event, self.score, self.similarity, self.lexical, self.relevance)


@dataclass(frozen=True)
class Explanation:
    """A context as a model gets it, the candidates of its search of events, and the tokens of each of its sections.

    Candidates are ordered by final score; after them come those that a step of the search dropped, each with that step.
    ``lines`` are the lines of the log that were given a score, in the same order. ``context.sources`` are ids of the
    events and lines that the context shows: not those for which it has no room.
    """

    context: Context
    candidates: tuple[Candidate, ...] = ()
    section_tokens: tuple[int, ...] = ()
    lines: tuple[FoundLine, ...] = ()


def fused(dense: Sequence[Scored] | None, lexical: Sequence[Scored] | None, weight: float) -> list[Candidate]:
    """Fuse two searches, best first: ``(1 - weight) * similarity + weight * lexical``, both in [0, 1].

    None is an unavailable search: the other is used alone. An event that only one search found has 0 in the other.
    """
    share = weight if dense is not None and lexical is not None else float(dense is None)
    words = {event.id: score for event, score in lexical or ()}
    found = [(event, near, words.pop(event.id, 0.0)) for event, near in dense or ()]
    found += [(event, 0.0, word) for event, word in lexical or () if event.id in words]
    candidates: list[Candidate] = []
    for event, near, word in found:
        similarity = near if 0.0 <= near <= 1.0 else _clamped(near)
        relevance = (1.0 - share) * similarity + share * word
        candidates.append(Candidate(event, similarity, word, relevance, score=relevance))
    return _ordered(candidates)


def reranked(
    asked: Sequence[Candidate], candidates: Sequence[Candidate], scores: Mapping[str, float] | None
) -> Sequence[Candidate]:
    """Set the relevance of the candidates ``asked`` about to a reranker's scores, by event id; return them best first.

    Without scores, all candidates stay as they were.
    """
    given = {one.event.id: _clamped(scores[one.event.id]) for one in asked if one.event.id in scores} if scores else {}
    for one in candidates:
        if (score := given.get(one.event.id)) is not None:
            one.judged = one.relevance = one.score = score
            one.factors, one.cut = (), None
        else:
            one.cut = (one.cut or "judged") if scores else None
    return _ordered(one for one in asked if one.event.id in given) if scores else candidates


def widened(candidates: Sequence[Candidate], more: Iterable[Event], relevance: float) -> list[Candidate]:
    """Add the events ``more`` with this relevance; one that is a candidate already is raised to it."""
    found = {one.event.id: one for one in candidates}
    for event in more:
        one = found.setdefault(event.id, Candidate(event))
        if one.relevance < relevance:
            one.relevance = one.score = relevance
    return _ordered(found.values())


def weighed(
    candidates: Iterable[Candidate],
    windows: Sequence[Interval],
    people: frozenset[str],
    decay: Decay | None = None,
    now: datetime | None = None,
    lines: Mapping[int, float] = NO_LINES,
    least: float = 0.0,
) -> list[Candidate]:
    """Multiply each positive relevance of at least ``least`` by its factors to the score, and order the candidates.

    * time: lower outside the ``windows`` that the query names, if any candidate lies in one;
    * people: higher for what was said by or about the ``people`` named, more if it involves more of these;
    * age: higher for recent ones of at least the relevance ``decay.floor``; a future time counts as now;
    * lines: higher where a search of the log found source lines. ``lines`` has their scores by :func:`line_key`; both
      scores count as independent evidence, ``1 - (1 - score) * (1 - line's score)``.
    """
    found, places = list[Candidate](), dict[Scope, str]()
    for one in candidates:
        if one.relevance >= least and one.relevance > 0.0:
            found.append(one)
        else:
            one.cut = "relevance"
    dated = {one.event.id for one in found for window in windows if one.event.happened_at in window}
    for one in found:
        event, named, recency, witness = one.event, 1.0, 1.0, 1.0
        in_time = OUTSIDE if dated and event.id not in dated else 1.0
        if people:
            named += NAMED * len(people.intersection((event.sender_id, *event.subjects))) / len(people)
        if decay is not None and now is not None and one.relevance >= decay.floor:
            age_days = max((now - event.happened_at).total_seconds(), 0.0) / SECONDS_A_DAY
            recency += decay.boost * 0.5 ** (age_days / decay.half_life_days)
        score = one.relevance * in_time * named * recency
        if lines and event.message_ids and score > 0.0:
            place = places.get(event.scope) or places.setdefault(event.scope, event.scope.key)
            line = max(lines.get(line_key(place, source), 0.0) for source in event.message_ids)
            if line > 0.0:
                joined = 1.0 - (1.0 - _clamped(score)) * (1.0 - _clamped(line))
                score, witness = joined, joined / score
        one.score = score  # not multiplied by the witness: rounding would order the equally good at random
        one.factors = ("time", in_time), ("people", named), ("age", recency), ("lines", witness)
    return _ordered(found)


def collapsed(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Keep the first of those with equal texts; texts that are not absolute are equal only from the same sender."""
    first: dict[object, Candidate] = {}
    for one in candidates:
        event = one.event
        is_anybodys = event.is_absolute and event.kind != "message"
        if first.setdefault((same_text(event.text), "" if is_anybodys else event.sender_id), one) is not one:
            one.cut = "duplicates"
    return [*first.values()]


def diversified(candidates: Sequence[Candidate], diversity: float, limit: int) -> list[Candidate]:
    """Choose at most ``limit`` one by one, by score reduced by overlap with those chosen before (MMR).

    The reduced score is ``score * (1 - diversity * overlap)`` with the largest Jaccard overlap of terms with a chosen
    one. It becomes the candidate's score, so that scores still decrease along the list.
    """
    chosen, words = list[Candidate](), list[frozenset[str]]()
    # each with its largest overlap with the first so many of the chosen: more of them only lower its reduced score
    waiting = [(-one.score, at, 0, 0.0) for at, one in enumerate(candidates)]
    while waiting and len(chosen) < limit:
        reduced, at, compared, overlap = heappop(waiting)
        one = candidates[at]
        own = terms_of(*one.event.wording)
        if compared == len(chosen):
            one.factors = (*one.factors, ("diversity", -reduced / one.score if one.score else 1.0))
            one.score, one.rank = -reduced, len(chosen) + 1
            chosen.append(one)
            words.append(own)
        else:
            for other in words[compared:]:
                common = len(own & other)
                overlap = max(overlap, common / (len(own) + len(other) - common or 1))
            heappush(waiting, (-one.score * (1.0 - diversity * overlap), at, len(chosen), overlap))
    for _, at, _, _ in waiting:
        candidates[at].cut = "diversity"
    return chosen


def followed(events: Sequence[Event], newer: Iterable[Event], limit: int) -> tuple[list[Event], frozenset[str]]:
    """Insert before each event the events that replace it; return at most ``limit``, and the ids of replaced ones."""
    shown: list[Event] = []
    successors: dict[str, list[Event]] = {}
    for one in newer:
        successors.setdefault(one.replaces, []).append(one)
    for event in events:
        chain, at = [event], event
        while found := [
            one
            for one in successors.pop(at.id, ())
            if one.scope == at.scope and one.happened_at >= at.happened_at and one not in chain
        ]:
            at = max(found, key=lambda one: one.happened_at)
            chain.insert(0, at)
        shown += chain
    once = list({event.id: event for event in shown}.values())[:limit]
    last = {event.id for event in once}
    return once, frozenset(one.replaces for one in newer if one.id in last and one.replaces in last)


@cleared_on_erasure
@lru_cache(maxsize=4_096)  # the same texts are found repeatedly; joining them for a key would hash them anew each time
def terms_of(*said: str) -> frozenset[str]:
    """Return the index terms of texts."""
    return frozenset(index_terms("\n".join(said)))


def _ordered(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=attrgetter("score"), reverse=True)  # equal scores keep their order


def _clamped(score: float) -> float:
    return min(max(score, 0.0), 1.0) if math.isfinite(score) else 0.0
