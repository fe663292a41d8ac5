"""Parsed answers of models: every field is bounded, none is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..domain.event import EventKind

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
class ProfileLine:
    """One line below a heading ("" for the beginning of the profile), and the numbers of the facts it rests on."""

    title: str
    text: str
    facts: tuple[int, ...] = ()


@dataclass(frozen=True)
class ProfileAnswer:
    """Lines of a profile as a model wrote them, its tags, and the numbers of facts that no longer hold."""

    lines: tuple[ProfileLine, ...] = ()
    tags: tuple[str, ...] = ()
    outdated: tuple[int, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """One line of an evolution's answer; ``old_id`` is a label (B1) or an id, as the model wrote it.

    ``lines`` are the numbers of the lines that say it, ``agreed`` and ``refused`` of those that answer them.
    """

    action: ProposedAction
    old_id: str = ""
    statement: str = ""
    reason: str = ""
    lines: tuple[int, ...] = ()
    agreed: tuple[int, ...] = ()
    refused: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposals:
    """The lines of an evolution's answer that could be read, and the number of those that could not."""

    rows: tuple[Proposal, ...]
    unreadable: int = 0
