"""Tests of what happens to a failed job."""

from __future__ import annotations

import pytest

from cognitive_memory_core.errors import PermanentError, StorageRefused, TooSlow, TransientError
from cognitive_memory_core.historian.worker import LONGEST_PAUSE, Requeue, decision


@pytest.mark.parametrize(
    ("error", "attempts", "expected"),
    [
        (TransientError("x"), 1, Requeue(1.0, counted=True)),
        (TransientError("x"), 3, Requeue(4.0, counted=True)),
        (TransientError("x"), 4, None),
        (TransientError("x", retry_after=7), 1, Requeue(7.0, counted=True)),
        (TransientError("x", retry_after=86_400), 1, Requeue(LONGEST_PAUSE, counted=True)),
        (TransientError("x", retry_after=-1), 1, Requeue(1.0, counted=True)),
        (PermanentError("bad"), 1, None),
        (StorageRefused("full"), 9, Requeue(256.0, counted=False)),
        (TooSlow("60 s"), 1, Requeue(1.0, counted=True)),
        (TooSlow("60 s"), 4, None),
        (ValueError("bug"), 2, Requeue(2.0, counted=True)),
        (ValueError("bug"), 4, None),
    ],
)
def test_every_error_has_one_outcome(error: Exception, attempts: int, expected: Requeue | None) -> None:
    """A hopeless job is set aside, another is retried, and an unavailable store uses no attempt."""
    assert decision(error, attempts, retries=3, spread=0.5) == expected


@pytest.mark.parametrize("attempts", [1, 2, 5, 40, 10_000])
def test_pauses_are_spread_and_bounded(attempts: int) -> None:
    """The pause is limited for any number of failures, and never zero."""
    low = decision(StorageRefused(""), attempts, retries=3, spread=0.0)
    high = decision(StorageRefused(""), attempts, retries=3, spread=1.0)
    assert isinstance(low, Requeue)
    assert isinstance(high, Requeue)
    assert 0.5 <= low.delay <= high.delay <= LONGEST_PAUSE
