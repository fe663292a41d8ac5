"""The explanation of a context: each event and line that got a score, with the parts of that score."""

from __future__ import annotations

from dataclasses import dataclass

from ..domain.context import Context, Hit
from ..domain.event import Event

Factors = tuple[tuple[str, float], ...]


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
class LineCandidate:
    """One line of the log to which the building of a context gave a score, with the parts of that score.

    The sum of ``parts`` is ``relevance``; times all ``factors`` it is ``score``. ``rank`` is the position among the
    lines shown, from 1 on; 0 if the line is not shown, and ``cut`` tells why: its "relevance" is too low, the caller
    shows it ("recent"), it is beyond the "limit", or an event that was made of it is shown ("shown_as_event").
    """

    line: Event
    parts: Factors
    relevance: float
    factors: Factors
    score: float
    rank: int = 0
    cut: str | None = None


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
