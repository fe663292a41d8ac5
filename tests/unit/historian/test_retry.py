"""Tests of what happens to a failed job."""

from __future__ import annotations

import pytest

from cognitive_memory_core.errors import PermanentError, StorageRefused, TooSlow, TransientError
from cognitive_memory_core.historian.worker import LONGEST_PAUSE, decision, is_outage


@pytest.mark.parametrize(
    ("error", "attempts", "expected"),
    [
        (TransientError("x"), 1, 1.0),
        (TransientError("x"), 3, 4.0),
        (TransientError("x"), 4, None),
        (TransientError("x", retry_after=7), 1, 7.0),
        (TransientError("x", retry_after=86_400), 1, LONGEST_PAUSE),
        (TransientError("x", retry_after=-1), 1, 1.0),
        (PermanentError("bad"), 1, None),
        (StorageRefused("full"), 9, 256.0),
        (TooSlow("60 s"), 1, 1.0),
        (TooSlow("60 s"), 4, None),
        (ValueError("bug"), 2, 2.0),
        (ValueError("bug"), 4, None),
    ],
)
def test_every_error_has_one_outcome(error: Exception, attempts: int, expected: float | None) -> None:
    """A hopeless job is set aside, another is retried, and an unavailable store uses no attempt."""
    assert is_outage(error) == isinstance(error, StorageRefused)
    assert decision(error, attempts, retries=3, spread=0.5) == expected


@pytest.mark.parametrize("attempts", [1, 2, 5, 40, 10_000])
def test_pauses_are_spread_and_bounded(attempts: int) -> None:
    """The pause is limited for any number of failures, and never zero."""
    low = decision(StorageRefused(""), attempts, retries=3, spread=0.0)
    high = decision(StorageRefused(""), attempts, retries=3, spread=1.0)
    assert low is not None
    assert high is not None
    assert 0.5 <= low <= high <= LONGEST_PAUSE
