"""Suggestions of what a group could keep about problems that it met repeatedly, and the admins' decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from .scope import Scope

SuggestionKind = Literal["skill", "workflow", "faq"]
SUGGESTION_KINDS: tuple[SuggestionKind, ...] = ("skill", "workflow", "faq")


@dataclass(frozen=True)
class Suggestion:
    """A problem that several people met, or one person on several days, with a draft of what to keep about it.

    ``event_ids`` are the events of kind "experience" that it rests on, oldest first; ``people`` spoke of
    them. The id identifies this draft with this evidence: other words or other evidence make another suggestion.
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
    """What an admin decided on a suggestion. It stores no text; its events tell what it was about.

    It is kept as long as one of its events is stored, so that the same problem is not suggested again.
    """

    id: str
    scope: Scope
    kind: SuggestionKind
    is_accepted: bool
    decided_at: datetime
    decided_by: str = ""
    event_ids: tuple[str, ...] = ()
