"""Waiting for what tells nobody when it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

PATIENCE = 60.0  # seconds for anything that a test waits for: a bound on a vain wait, never a promise
PAUSE = 0.01  # seconds between two looks


async def until(comes_true: Callable[[], bool | Awaitable[object]]) -> None:
    """Wait for something to come true; the test's own time-out ends a vain wait."""
    while True:
        seen = comes_true()
        if seen if isinstance(seen, bool) else await seen:
            return
        await asyncio.sleep(PAUSE)


async def until_not(stays_true: Callable[[], Awaitable[object]]) -> None:
    """Wait for something to be true no more."""
    while await stays_true():  # noqa: ASYNC110  # see above
        await asyncio.sleep(PAUSE)
