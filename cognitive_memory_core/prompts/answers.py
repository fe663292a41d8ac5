"""Parsed answers of models: every field is bounded, none is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..domain.fact import EventKind

ProposedAction = Literal["keep", "update", "create", "delete"]


@dataclass(frozen=True)
class StatementAnswer:
    """One statement of a model; ``number`` is that of its task.

    ``same_as`` is the number of a neighbour that says the same, ``replaces`` that of one that no longer holds; 0 for
    none. ``subjects`` and ``speaker`` are as the model wrote them; the caller checks that their ids were given.
    ``lines`` are the numbers of the lines that support the statement (triage only).
    """

    number: int
    text: str
    kind: EventKind = "event"
    subjects: tuple[str, ...] = ()
    speaker: str = ""
    confidence: float = 1.0
    same_as: int = 0
    replaces: int = 0
    lines: tuple[int, ...] = ()
    pain: str = ""
    solution: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class TriageAnswer:
    """Whether a dialogue is worth remembering and why, and the observations to remember."""

    should_remember: bool
    reason: str
    observations: tuple[StatementAnswer, ...]


@dataclass(frozen=True)
class ProfileAnswer:
    """A profile of a person or a group as a model wrote it; ``nothing_new`` means that the old profile stays."""

    nothing_new: bool
    tags: tuple[str, ...]
    summary: str
    role: tuple[str, ...] = ()
    interests: tuple[str, ...] = ()
    style: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    pain_points: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """One line of an evolution's answer; ``old_id`` is a label (B1) or an id, as the model wrote it.

    ``lines`` are the numbers of the lines that support it.
    """

    action: ProposedAction
    old_id: str = ""
    statement: str = ""
    reason: str = ""
    lines: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposals:
    """The lines of an evolution's answer that could be read, and the number of those that could not."""

    rows: tuple[Proposal, ...]
    unreadable: int = 0
