"""Time, as the core sees it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time; replaced in tests."""

    def now(self) -> datetime:
        """Give the present instant, with a zone."""
        ...
