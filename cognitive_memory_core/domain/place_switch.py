"""The switch of a place: whether what is said there is recorded, and whether memories are used there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .scope import Scope

Switch = Literal["on", "off", "record_only", "recall_only"]


@dataclass(frozen=True)
class PlaceSwitch:
    """A place's switch, in force until an instant, or with ``until=None`` until it is changed.

    From ``until`` on, the place is "on" again, as if its switch had never been set.
    """

    scope: Scope
    switch: Switch = "on"
    until: datetime | None = None

    def is_over(self, at: datetime) -> bool:
        """Return whether the switch is no longer in force at an instant."""
        return self.until is not None and at >= self.until
