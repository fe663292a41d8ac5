"""A context with what its search considered, for people who ask why something was recalled or not."""

from __future__ import annotations

from dataclasses import dataclass

from ..domain.context import Context
from ..recall.trace import Candidate, LineCandidate


@dataclass(frozen=True)
class Explanation:
    """A context as a model gets it, the candidates of its search of events, and the tokens of each of its sections.

    Candidates stand in the order of their final score; those that were left out follow with the step that did it.
    ``lines`` are those of the log that were considered, in the same order.
    """

    context: Context
    candidates: tuple[Candidate, ...] = ()
    section_tokens: tuple[int, ...] = ()
    lines: tuple[LineCandidate, ...] = ()
