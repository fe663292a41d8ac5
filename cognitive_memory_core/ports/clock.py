"""The clock port."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Source of the current time; replaced in tests."""

    def now(self) -> datetime:
        """Return the current instant, with a time zone."""
        ...
