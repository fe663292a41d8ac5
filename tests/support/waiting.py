"""Waiting for what tells nobody when it comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

PATIENCE = 60.0  # seconds for anything that a test waits for: a bound on a vain wait, never a promise
PAUSE = 0.01  # seconds between two looks


async def until(comes_true: Callable[[], bool | Awaitable[object]], pause: float = PAUSE) -> None:
    """Wait for something to come true; a vain wait raises AssertionError."""
    ends = time.monotonic() + PATIENCE
    while True:
        seen = comes_true()
        if seen if isinstance(seen, bool) else await seen:
            return
        assert time.monotonic() < ends, f"waited {PATIENCE:.0f} s in vain"
        await asyncio.sleep(pause)


async def until_not(stays_true: Callable[[], Awaitable[object]]) -> None:
    """Wait for something to be true no more."""

    async def is_over() -> bool:
        return not await stays_true()

    await until(is_over)


def blocked_until(comes_true: Callable[[], bool]) -> None:
    """Wait where there is no event loop."""
    ends = time.monotonic() + PATIENCE
    while not comes_true():
        assert time.monotonic() < ends, f"waited {PATIENCE:.0f} s in vain"
        time.sleep(PAUSE)
