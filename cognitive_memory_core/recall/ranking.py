"""From two lists of candidates to one ranked list. Pure functions over hits; none changes what it is given."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from ..domain.event import Event, duplicate_key
from ..domain.hit import Hit
from ..domain.interval import Interval
from ..domain.scope import Scope
from ..settings import Decay
from ..text.caches import cleared_on_erasure
from ..text.lexical.terms import index_terms
from .coverage import bent, covered

Scored = tuple[Event, float]
Identity = tuple[str, Scope, str]  # a message's id is unique in its scope only, and no event's
OUTSIDE = 0.3  # what a hit is worth outside the time that the question names
NAMED = 0.15  # what a hit gains of whom the question names: more would let a wrong name hide the right answer
MOST_NAMED = 0.3
_SECONDS_A_DAY = 86_400.0


def matched(terms: Sequence[str], found: Sequence[Scored]) -> list[Scored]:
    """Map what a lexical index found from BM25, which has no scale, to [0, 1].

    The measure is absolute: how much of the question a hit covers, each term weighed by how rare it is in the language
    and among what was found; what nobody has is as rare as what one has. All of it gives 1, one common pair out of many
    stays near 0. Half of that goes by BM25 against the best one's, which knows rarity beyond these candidates and the
    length of texts.
    """
    texts = [_words(event) for event, _ in found]
    shares = covered(terms, texts)
    best = max((score for _, score in found if math.isfinite(score)), default=0.0)
    return [(event, bent(share) * _beside(score, best)) for (event, score), share in zip(found, shares, strict=True)]


def fused(dense: Sequence[Scored] | None, lexical: Sequence[Scored] | None, weight: float) -> list[Hit]:
    """Join the legs, best first: ``(1 - weight) * similarity + weight * lexical``, both in [0, 1].

    None is a leg that is missing: the other carries on alone. An event that only one leg found has 0 in the other.
    """
    share = weight if dense is not None and lexical is not None else float(dense is None)
    similarities, words = _scores(dense), _scores(lexical)
    events = {_identity(event): event for event, _ in (*(dense or ()), *(lexical or ()))}
    hits = [_hit(event, similarities.get(key, 0.0), words.get(key, 0.0), share) for key, event in events.items()]
    return _ordered(hits)


def above(hits: Iterable[Hit], min_relevance: float) -> list[Hit]:
    """Keep what is relevant at all, and enough; the time that a question names has no say in that."""
    return [hit for hit in hits if hit.relevance >= min_relevance and hit.relevance > 0.0]


def reranked(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit] | None:
    """Let a reranker's scores, brought into [0, 1], be the relevance of hits; None where they are no answer to these.

    Those are scores too few, too many, or not finite.
    """
    if len(scores) != len(hits) or not all(map(math.isfinite, scores)):
        return None
    told = zip(hits, map(_clamped, scores), strict=True)
    return _ordered(replace(hit, score=score, relevance=score) for hit, score in told)


def widened(hits: Iterable[Hit], more: Iterable[Event], relevance: float) -> list[Hit]:
    """Add events that a question is about without sharing a word with it; none is left less relevant than this."""
    found = {_identity(hit.event): hit for hit in hits}
    for event in more:
        hit = found.get(_identity(event))
        if hit is None:
            found[_identity(event)] = Hit(event, relevance, relevance=relevance)
        elif hit.relevance < relevance:
            found[_identity(event)] = replace(hit, score=relevance, relevance=relevance)
    return _ordered(found.values())


def preferring(hits: Iterable[Hit], window: Interval | None) -> list[Hit]:
    """Put back, but never drop, what lies outside the time that the question names."""
    if window is None:
        return list(hits)
    return _weighed(hits, lambda hit: 1.0 if hit.event.happened_at in window else OUTSIDE)


def naming(hits: Iterable[Hit], people: frozenset[str], boost: float = NAMED) -> list[Hit]:
    """Lift what is said by, or speaks of, those whom the question names: by how many of them, and never by more."""
    if not people or not boost:
        return list(hits)
    return _weighed(hits, lambda hit: 1.0 + min(boost, MOST_NAMED) * _share(hit.event, people))


def leaning(hits: Iterable[Hit], kinds: Mapping[str, float]) -> list[Hit]:
    """Weigh hits by their kind; a kind that is not named stays as it is."""
    return _weighed(hits, lambda hit: kinds.get(hit.event.kind, 1.0)) if kinds else list(hits)


def decayed(hits: Iterable[Hit], decay: Decay | None, now: datetime) -> list[Hit]:
    """Lift what is new, as seed 001 has it, but only what is relevant from ``decay.floor`` on."""
    if decay is None:
        return list(hits)
    return _weighed(hits, lambda hit: 1.0 + decay.boost * freshness(hit, decay, now))


def freshness(hit: Hit, decay: Decay, now: datetime) -> float:
    """Give how new a hit counts, in [0, 1]; what a clock says lies in the future is as new as can be."""
    if hit.relevance < decay.floor:
        return 0.0
    age_days = max((now - hit.event.happened_at).total_seconds(), 0.0) / _SECONDS_A_DAY
    return 0.5 ** (age_days / decay.half_life_days)


def collapsed(hits: Iterable[Hit]) -> list[Hit]:
    """Keep the first of equal texts; words that nobody made absolute are equal only from the same mouth."""
    first: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        first.setdefault(_sameness(hit.event), hit)
    return list(first.values())


def diversified(hits: Iterable[Hit], diversity: float, limit: int) -> list[Hit]:
    """Choose at most ``limit`` hits, one by one, each by its score less what those before it say already (MMR).

    ``score * (1 - diversity * overlap)``, the overlap being the largest with a chosen hit: shared terms by all terms
    (Jaccard). That becomes the hit's score, so that scores still fall along the list.
    """
    waiting = [_Candidate(hit, at, hit.score) for at, hit in enumerate(hits)]
    heapq.heapify(waiting)
    chosen: list[Hit] = []
    while waiting and len(chosen) < limit:
        best = waiting[0]
        if best.compared < len(chosen):  # worth less than it seemed, perhaps: whoever is never first is not compared
            best.compare(chosen, diversity)
            heapq.heapreplace(waiting, best)
        else:
            chosen.append(replace(heapq.heappop(waiting).hit, score=best.worth))
    return chosen


@dataclass
class _Candidate:
    """A hit that waits, and what it is worth beside those of the chosen that it was compared with: at most that."""

    hit: Hit
    at: int
    worth: float
    compared: int = 0
    overlap: float = 0.0

    def __lt__(self, other: _Candidate) -> bool:
        return (-self.worth, self.at) < (-other.worth, other.at)

    def compare(self, chosen: Sequence[Hit], diversity: float) -> None:
        """Compare with those chosen since the last time."""
        words = _words(self.hit.event)
        said = (overlap(words, _words(hit.event)) for hit in chosen[self.compared :])
        self.overlap, self.compared = max(self.overlap, *said), len(chosen)
        self.worth = self.hit.score * (1.0 - diversity * self.overlap)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Give the share of common terms among all terms of two texts (Jaccard), in [0, 1]."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def _words(event: Event) -> frozenset[str]:
    """Give the words under which an event is found: its text's, its parts', and its speaker's name's."""
    said = f"{event.text}\n{event.pain}\n{event.solution}\n{event.outcome}"
    return _terms(f"{event.sender_name}\n{said}")


@cleared_on_erasure
@lru_cache(maxsize=1024)  # what matters in a scene is found again and again
def _terms(text: str) -> frozenset[str]:
    return frozenset(index_terms(text))


def _beside(score: float, best: float) -> float:
    return 0.5 + 0.5 * _clamped(score / best) if best > 0.0 else 1.0


def _scores(leg: Sequence[Scored] | None) -> Mapping[Identity, float]:
    return {_identity(event): _clamped(score) for event, score in leg or ()}


def _identity(event: Event) -> Identity:
    return event.kind, event.scope, event.id


def _hit(event: Event, similarity: float, lexical: float, weight: float) -> Hit:
    relevance = (1.0 - weight) * similarity + weight * lexical
    return Hit(event, relevance, similarity, lexical, relevance)


def _weighed(hits: Iterable[Hit], factor_of: Callable[[Hit], float]) -> list[Hit]:
    weighed = ((hit, factor_of(hit)) for hit in hits)
    return _ordered(hit if factor == 1.0 else replace(hit, score=hit.score * factor) for hit, factor in weighed)


def _share(event: Event, people: frozenset[str]) -> float:
    return len(people.intersection((event.sender_id, *event.subjects))) / len(people)


def _ordered(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: -hit.score)


def _sameness(event: Event) -> tuple[str, str]:
    bound = not event.is_absolute or event.kind == "message"
    return _key(event.text), event.sender_id if bound else ""


@cleared_on_erasure
@lru_cache(maxsize=4096)
def _key(text: str) -> str:
    return duplicate_key(text)


def _clamped(score: float) -> float:
    return min(max(score, 0.0), 1.0) if math.isfinite(score) else 0.0
