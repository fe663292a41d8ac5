"""People as a place knows them, and the names they have worn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from .scope import Scope

WEEK = 7 * 86_400.0


@dataclass(frozen=True)
class Alias:
    """A name of a person in a place, with the instants at which it was first and last seen."""

    scope: Scope
    user_id: str
    name: str
    first_seen_at: datetime
    last_seen_at: datetime


def label_of(user_id: str, name: str) -> str:
    """Return ``name(id)``, the form in which statements name a person; ``QQ(id)`` if the name is unknown."""
    return f"{name or 'QQ'}({user_id})"


@dataclass(frozen=True)
class Person:
    """A known person: ``name`` is the current name in this place, ``aliases`` are earlier ones; equality is by id.

    ``usual`` is the name used longest in recent time, "" if unknown. ``since`` is the Unix time in seconds at which the
    person was first seen in the place, 0 if unknown.
    """

    id: str
    name: str = ""
    aliases: tuple[str, ...] = field(default=(), compare=False)
    usual: str = field(default="", compare=False)
    since: float = field(default=0.0, compare=False)

    @property
    def label(self) -> str:
        """The person as :func:`label_of` writes them."""
        return label_of(self.id, self.name)

    def as_usual(self) -> Person:
        """Return the person with ``usual`` as the name and the current name as an alias; unchanged if there is none."""
        if not self.usual or self.usual == self.name:
            return self
        others = dict.fromkeys((self.name, *self.aliases))
        return replace(self, name=self.usual, aliases=tuple(name for name in others if name != self.usual))

    def is_settled(self, at: datetime) -> bool:
        """Return whether the person was seen in the place a week before ``at``, so that their word counts for it."""
        return 0.0 < self.since <= at.timestamp() - WEEK
