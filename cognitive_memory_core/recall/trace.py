"""Records what each step of a search does to its hits, and reads the scores of each candidate from the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..domain.context import Context, Hit
from ..domain.event import Event
from ..settings import Settings
from .ranking import Factors, Identity, identity

Parts = tuple[tuple[str, float], ...]
Step = str  # "found", "judged", "widened", "relevance", "duplicates", "diversity"
CUTS: tuple[Step, ...] = ("judged", "relevance", "duplicates", "diversity")  # each may leave a candidate out


@dataclass(frozen=True)
class LineCandidate:
    """One line of the log to which the building of a context gave a score, with the parts of that score.

    The sum of ``parts`` is ``relevance``; times all ``factors`` it is ``score``. ``rank`` is the position among the
    lines shown, from 1 on; 0 if the line is not shown, and ``cut`` tells why: its "relevance" is too low, the caller
    shows it ("recent"), it is beyond the "limit", or an event that was made of it is shown ("shown_as_event").
    """

    line: Event
    parts: Parts
    relevance: float
    factors: tuple[tuple[Step, float], ...]
    score: float
    rank: int = 0
    cut: Step | None = None


@dataclass
class SearchTrace:
    """A record of one search: the hits after each step, and their factors. Its ``settings`` replace the present ones.

    ``lines`` are the lines of the log that were found, those shown first.
    """

    settings: Settings | None = None
    lines: list[LineCandidate] = field(default_factory=list[LineCandidate])
    steps: dict[Step, tuple[Hit, ...]] = field(default_factory=dict[Step, tuple[Hit, ...]])
    factors: dict[Identity, Factors] = field(default_factory=dict[Identity, Factors])  # of each hit that was ranked

    def note(self, step: Step, hits: Sequence[Hit]) -> list[Hit]:
        """Record the hits after a step, at its first call for this step only; return the hits."""
        self.steps.setdefault(step, tuple(hits))
        return list(hits)

    @property
    def is_kept(self) -> bool:
        """True: somebody will read the record, so the steps must be recorded."""
        return True


class _NoTrace(SearchTrace):
    """Records nothing; used by searches that need no explanation."""

    @property
    def is_kept(self) -> bool:
        """False: nobody reads the record, so no step needs to be recorded."""
        return False

    def note(self, step: Step, hits: Sequence[Hit]) -> list[Hit]:  # noqa: ARG002  # the signature of a trace
        """Record nothing; return the hits."""
        return hits if isinstance(hits, list) else list(hits)


NO_TRACE: SearchTrace = _NoTrace()


@dataclass(frozen=True)
class Candidate:
    """One event to which a search gave a score, with the parts of that score.

    ``relevance`` is computed from ``similarity`` and ``lexical``, or is the reranker's score (``judged``, None without
    one). ``relevance`` times all ``factors``, given in their order, is ``score``. ``rank`` is the position in the
    result, from 1 on; 0 if the candidate is not in it, and ``cut`` names the step that dropped it.
    """

    event: Event
    similarity: float
    lexical: float
    relevance: float
    judged: float | None
    factors: tuple[tuple[Step, float], ...]
    score: float
    rank: int = 0
    cut: Step | None = None


@dataclass(frozen=True)
class Explanation:
    """A context as a model gets it, the candidates of its search of events, and the tokens of each of its sections.

    Candidates are ordered by final score; after them come those that a step of the search dropped, each with that step.
    ``lines`` are the lines of the log that were given a score, in the same order.
    """

    context: Context
    candidates: tuple[Candidate, ...] = ()
    section_tokens: tuple[int, ...] = ()
    lines: tuple[LineCandidate, ...] = ()


def candidates_of(trace: SearchTrace) -> list[Candidate]:
    """Return the candidates of a recorded search: first those in the result, then the others by their last score."""
    places = {step: {identity(hit.event): hit for hit in hits} for step, hits in trace.steps.items()}
    ranks = {identity(hit.event): rank for rank, hit in enumerate(trace.steps.get("diversity", ()), 1)}
    keys = dict.fromkeys(key for step in ("found", "widened") for key in places.get(step, {}))
    found = [_candidate(key, places, ranks.get(key, 0), trace.factors.get(key, ())) for key in keys]
    return sorted(found, key=lambda one: (one.rank == 0, one.rank, -one.score))


_Places = dict[Step, dict[Identity, Hit]]


def _candidate(key: Identity, places: _Places, rank: int, factors: Factors) -> Candidate:
    first = places["found"].get(key) or places["widened"][key]
    judged = places["judged"].get(key) if _is_judged(places) else None
    score = (places.get("widened", {}).get(key) or judged or first).score
    for _, factor in factors:
        score *= factor
    hit = places.get("diversity", {}).get(key)
    if hit is not None:
        factors = (*factors, ("diversity", hit.score / score if score else 1.0))
        score = hit.score
    relevance = (places.get("widened", {}).get(key) or first).relevance
    cut = None if rank else next((step for step in CUTS if step in places and key not in places[step]), None)
    return Candidate(
        first.event,
        first.similarity,
        first.lexical,
        relevance,
        judged.relevance if judged else None,
        factors,
        score,
        rank,
        cut,
    )


def _is_judged(places: _Places) -> bool:
    """Return whether a reranker changed the relevance of any candidate."""
    found, judged = places.get("found", {}), places.get("judged", {})
    return any(found[key].relevance != hit.relevance for key, hit in judged.items() if key in found)
