"""Waits for conditions that do not signal their change."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

PATIENCE = float(os.environ.get("TEST_PATIENCE", "60"))  # seconds: a bound on a vain wait, never a promise
PAUSE = 0.01  # seconds between two checks


async def until(comes_true: Callable[[], bool | Awaitable[object]], pause: float = PAUSE) -> None:
    """Wait until a condition is true; raise AssertionError after the time limit."""
    ends = time.monotonic() + PATIENCE
    while True:
        seen = comes_true()
        if seen if isinstance(seen, bool) else await seen:
            return
        assert time.monotonic() < ends, f"waited {PATIENCE:.0f} s in vain"
        await asyncio.sleep(pause)


async def until_not(stays_true: Callable[[], Awaitable[object]]) -> None:
    """Wait until a condition is false."""

    async def is_over() -> bool:
        return not await stays_true()

    await until(is_over)


def blocked_until(comes_true: Callable[[], bool]) -> None:
    """Wait without an event loop."""
    ends = time.monotonic() + PATIENCE
    while not comes_true():
        assert time.monotonic() < ends, f"waited {PATIENCE:.0f} s in vain"
        time.sleep(PAUSE)
