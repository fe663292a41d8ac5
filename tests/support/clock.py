"""A clock that stands still until it is told to go on."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

SHANGHAI = timezone(timedelta(hours=8))
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=SHANGHAI)  # a Wednesday


class FrozenClock:
    """Tells the time it was given."""

    def __init__(self, instant: datetime = NOON) -> None:
        """Stand at an instant."""
        self.instant = instant
        self._elapsed = 0.0

    def now(self) -> datetime:
        """Give the instant."""
        return self.instant

    def advance(self, **stretch: float) -> None:
        """Go on by ``timedelta(**stretch)``."""
        self.instant += timedelta(**stretch)
        self._elapsed += max(timedelta(**stretch).total_seconds(), 0.0)

    def elapsed(self) -> float:
        """Give the seconds it has gone on; setting it back takes none of them away."""
        return self._elapsed
