"""What a model answers, once it was read: every field is bounded, none is trusted."""

from __future__ import annotations

from dataclasses import dataclass

from ..domain.fact import EventKind


@dataclass(frozen=True)
class Said:
    """One statement of a model. ``number`` is its task's, ``same_as`` that of a neighbour, 0 for none.

    ``subjects`` and ``speaker`` are as the model wrote them; whoever uses them checks that they were given.
    ``lines`` are the numbers of the lines that it rests on (triage only).
    """

    number: int
    text: str
    kind: EventKind = "event"
    subjects: tuple[str, ...] = ()
    speaker: str = ""
    confidence: float = 1.0
    same_as: int = 0
    lines: tuple[int, ...] = ()
    pain: str = ""
    solution: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class Triaged:
    """Whether a dialogue is worth remembering, why, and what of it."""

    should_remember: bool
    reason: str
    observations: tuple[Said, ...]


@dataclass(frozen=True)
class Drawn:
    """A portrait as a model drew it; ``nothing_new`` says that the old one stands."""

    nothing_new: bool
    tags: tuple[str, ...]
    summary: str
    role: tuple[str, ...] = ()
    interests: tuple[str, ...] = ()
    style: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    pain_points: tuple[str, ...] = ()
