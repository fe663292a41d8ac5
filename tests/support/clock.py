"""A clock that only advances when told to."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

SHANGHAI = timezone(timedelta(hours=8))
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=SHANGHAI)  # a Wednesday


class FrozenClock:
    """Returns the instant that it was given."""

    def __init__(self, instant: datetime = NOON) -> None:
        """Start at an instant."""
        self.instant = instant
        self._elapsed = 0.0

    def now(self) -> datetime:
        """Return the instant."""
        return self.instant

    def advance(self, **duration: float) -> None:
        """Advance by ``timedelta(**duration)``."""
        self.instant += timedelta(**duration)
        self._elapsed += max(timedelta(**duration).total_seconds(), 0.0)

    def elapsed(self) -> float:
        """Return the seconds advanced in all; setting the clock back does not reduce them."""
        return self._elapsed
