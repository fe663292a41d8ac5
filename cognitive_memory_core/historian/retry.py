"""The retry decision for a failed job: a value, made by a pure function."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import PermanentError, TooSlow, TransientError, UnavailableError
from ..text.failures import described

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 300.0


@dataclass(frozen=True)
class Requeue:
    """Try again after ``delay`` seconds; ``counted=False`` if the attempt does not count against the job."""

    delay: float
    counted: bool


@dataclass(frozen=True)
class Bury:
    """Give up, with the reason in one line."""

    error: str


def decision(error: Exception, attempts: int, *, retries: int, spread: float) -> Requeue | Bury:
    """Decide what to do after try number ``attempts`` failed; ``spread`` in [0, 1] is the jitter.

    An unavailable store or endpoint does not count as an attempt. Every other error does, including unexpected ones
    and an answer that timed out, which may be billed and may never arrive.
    """
    is_away = isinstance(error, UnavailableError) and not isinstance(error, TooSlow)
    if not is_away and (isinstance(error, PermanentError) or attempts > retries):
        return Bury(described(error))
    requested_pause = error.retry_after if isinstance(error, TransientError | UnavailableError) else None
    return Requeue(min(max(_pause(attempts, spread), requested_pause or 0.0), LONGEST_PAUSE), counted=not is_away)


def _pause(attempts: int, spread: float) -> float:
    return min(FIRST_PAUSE * 2 ** min(attempts - 1, 10) * (0.75 + spread / 2), LONGEST_PAUSE)
