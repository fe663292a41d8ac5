"""Gives precedence to writes that a caller waits for; background writes wait for a bounded time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager

QUIET_SECONDS = 0.002  # seconds without an interactive write after which no burst is running
MAX_CHECKS = 5  # checks, :data:`QUIET_SECONDS` seconds apart, after which a background step proceeds anyway


class WritePriority:
    """Delays background writes while an interactive write (a caller waits for it) is running; for one event loop.

    On one disk and under one interpreter lock two writes at once take longer than one after the other.
    """

    def __init__(self, quiet_seconds: float = QUIET_SECONDS, max_checks: int = MAX_CHECKS) -> None:
        """Initialise with no write under way."""
        self._quiet_seconds = quiet_seconds
        self._max_checks = max_checks
        self._under_way = 0
        self._ended_at = float("-inf")

    @contextmanager
    def interactive(self) -> Generator[None, None, None]:
        """Mark the ``with`` block as an interactive write, for which background writes wait."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._ended_at = time.monotonic()

    async def background_turn(self) -> None:
        """Wait until no interactive write is running, or until the limit of checks is reached."""
        for _ in range(self._max_checks):
            if self._is_quiet():
                return
            await asyncio.sleep(self._quiet_seconds)

    def _is_quiet(self) -> bool:
        return not self._under_way and time.monotonic() - self._ended_at >= self._quiet_seconds
