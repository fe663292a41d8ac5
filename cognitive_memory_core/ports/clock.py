"""The clock port, and the clock of the machine."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Protocol


class Clock(Protocol):
    """Source of the current time; replaced in tests."""

    def now(self) -> datetime:
        """Return the current instant, with a time zone."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Return the present instant in UTC."""
        return datetime.now(timezone.utc)
