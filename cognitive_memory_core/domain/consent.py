"""What people and places have decided: opting out, sharing, switches, incognito."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .scope import Scope

Switch = Literal["on", "off", "record_only", "recall_only"]


@dataclass(frozen=True)
class OptOut:
    """One person's opt-out, as exported."""

    user_id: str
    at: datetime


@dataclass(frozen=True)
class Shared:
    """One person's consent to show their own profile in every place, as exported."""

    user_id: str
    at: datetime


@dataclass(frozen=True)
class PlaceSwitch:
    """A place's switch, in force until an instant, or with ``until=None`` until it is changed.

    From ``until`` on, the place is "on" again, as if its switch had never been set.
    """

    scope: Scope
    switch: Switch = "on"
    until: datetime | None = None

    @property
    def records(self) -> bool:
        """Whether the switch lets what is said here be recorded."""
        return self.switch in ("on", "record_only")

    def is_over(self, at: datetime) -> bool:
        """Return whether the switch is no longer in force at an instant."""
        return self.until is not None and at >= self.until


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
