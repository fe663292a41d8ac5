"""Who may ask a busy model first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

AT_ONCE = 2
_LONGEST_GIVING_WAY = 10.0  # seconds; where somebody always asks, the background still goes on


class Lanes:
    """Questions go at once; of the background at most two go together, and none sets out while a question is asked."""

    def __init__(self) -> None:
        """Begin with nobody on the way."""
        self._questions = 0
        self._is_clear = asyncio.Event()
        self._is_clear.set()
        self._background = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def question(self) -> AsyncGenerator[None, None]:
        """Go now."""
        self._questions += 1
        self._is_clear.clear()
        try:
            yield
        finally:
            self._questions -= 1
            if not self._questions:
                self._is_clear.set()

    @asynccontextmanager
    async def background(self) -> AsyncGenerator[None, None]:
        """Wait for a turn."""
        async with self._background:
            await self._give_way()
            yield

    async def _give_way(self) -> None:
        try:
            await asyncio.wait_for(self._is_clear.wait(), _LONGEST_GIVING_WAY)
        except asyncio.TimeoutError:
            return
