"""Suggestions of what a group could keep about problems that it met again and again, and what admins decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from .scope import Scope

SuggestionKind = Literal["skill", "workflow", "faq"]
SUGGESTION_KINDS: tuple[SuggestionKind, ...] = ("skill", "workflow", "faq")


@dataclass(frozen=True)
class Suggestion:
    """A problem that several people met, or one on several days, and the draft of a line to keep about it.

    ``event_ids`` are the experiences that it rests on, oldest first, ``people`` who told them. The id stands for this
    draft and this evidence: with other evidence or other words it is another suggestion.
    """

    id: str
    scope: Scope
    kind: SuggestionKind
    problem: str
    draft: str
    event_ids: tuple[str, ...]
    people: tuple[str, ...] = ()
    days: int = 1
    first_at: datetime = field(kw_only=True)
    last_at: datetime = field(kw_only=True)


@dataclass(frozen=True)
class SuggestionDecision:
    """What an admin decided on a suggestion. It has no words of its own: the events tell what it was about.

    It is kept as long as one of its events is: what it was about must not be suggested again.
    """

    id: str
    scope: Scope
    kind: SuggestionKind
    is_accepted: bool
    decided_at: datetime
    decided_by: str = ""
    event_ids: tuple[str, ...] = ()
