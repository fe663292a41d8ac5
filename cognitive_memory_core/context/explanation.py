"""A context with the candidates of its searches, which explain why something was recalled or not."""

from __future__ import annotations

from dataclasses import dataclass

from ..domain.context import Context
from ..recall.trace import Candidate, LineCandidate


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
