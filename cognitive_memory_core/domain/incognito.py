"""Periods in which what a person says in a place is not recorded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .scope import Scope


@dataclass(frozen=True)
class Incognito:
    """The half-open period ``[starts_at, ends_at)`` in which a person asked not to be recorded in a place."""

    scope: Scope
    user_id: str
    starts_at: datetime
    ends_at: datetime

    def covers(self, at: datetime) -> bool:
        """Return whether an instant lies in the period."""
        return self.starts_at <= at < self.ends_at
