"""Tests of the durations of operations."""

from __future__ import annotations

import pytest

from cognitive_memory_core.tasks import Durations, timed


def test_operations_are_counted_by_how_long_they_take() -> None:
    """Each operation is counted once, in the first bucket that it fits, also if it fails."""
    instants = iter([0.0, 0.005, 1.0, 1.006, 2.0, 102.0])
    durations = {"remember": Durations("remember")}
    for _ in range(2):
        with timed(durations, "context", lambda: next(instants)):
            pass
    with pytest.raises(ValueError, match="x"), timed(durations, "context", lambda: next(instants)):
        raise ValueError("x")
    remember, context = durations.values()
    assert (context.counts[0], context.counts[1], context.counts[-1]) == (1, 1, 1)
    assert context.seconds == pytest.approx(100.011)
    assert (sum(context.counts), sum(remember.counts)) == (3, 0)
