"""Memos and pins: notes that are shown by recency and by being there, never searched."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .scope import Scope


@dataclass(frozen=True)
class Memo:
    """A short note on what the bot did in one turn; injected by recency, never searched."""

    id: str
    scope: Scope
    text: str
    written_at: datetime
    user_id: str = ""


@dataclass(frozen=True)
class Pin:
    """A fact that a person entered and that is injected in every turn of its place.

    ``owner_id`` is "" for a pin of the whole group; ``author_id`` is "" for an operator or an unknown author.
    """

    id: str
    scope: Scope
    text: str
    owner_id: str
    pinned_at: datetime
    author_id: str = ""
