"""Gives interactive writes precedence; background writes wait for a bounded time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager

CALM = 0.002  # seconds without an interactive write after which no burst is running
LOOKS = 5  # checks, :data:`CALM` seconds apart, after which a background step proceeds anyway


class WritePriority:
    """Delays background writes while one that a caller waits for is running; for one event loop.

    On one disk and under one interpreter lock two writes at once take longer than one after the other.
    """

    def __init__(self, calm: float = CALM, looks: int = LOOKS) -> None:
        """Initialise with no write under way."""
        self._calm = calm
        self._looks = looks
        self._under_way = 0
        self._ended_at = float("-inf")

    @contextmanager
    def taken(self) -> Generator[None, None, None]:
        """Mark the block as an interactive write; background writes that ask meanwhile wait."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._ended_at = time.monotonic()

    async def given(self) -> None:
        """Wait until no interactive write is running, or the limit is reached."""
        for _ in range(self._looks):
            if self._is_calm():
                return
            await asyncio.sleep(self._calm)

    def _is_calm(self) -> bool:
        return not self._under_way and time.monotonic() - self._ended_at >= self._calm
