"""A memory that is opened for use and released soon afterwards, so that a bot can start between two uses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from ..memory import CognitiveMemory

IDLE = 3.0  # seconds without a use; a bot that starts waits for its directory at least 5
SETTLING = 5.0  # seconds that waiting jobs get before the memory is released; the rest stay queued


class MemoryOnDemand:
    """Keeps a memory open between uses that follow each other closely, and releases it afterwards."""

    def __init__(self, opened: Callable[[], AbstractAsyncContextManager[CognitiveMemory]], idle: float = IDLE) -> None:
        """Create without opening; after ``idle`` seconds without a use the memory is released."""
        self._open = opened
        self._idle = idle
        self._lock = asyncio.Lock()
        self._stack: AsyncExitStack | None = None
        self._memory: CognitiveMemory | None = None
        self._uses = 0
        self._releasing: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Return whether this process has the memory open and therefore owns the data directory."""
        return self._memory is not None

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[CognitiveMemory, None]:
        """Yield the memory, after opening it if it is closed; raises what opening raises."""
        async with self._lock:
            memory = self._memory or await self._opened()
            self._uses += 1
        try:
            yield memory
        finally:
            self._uses -= 1
            self._release_later()

    async def close(self) -> None:
        """Release the memory at once."""
        if self._releasing:
            self._releasing.cancel()
        async with self._lock:
            await self._release()

    async def _opened(self) -> CognitiveMemory:
        async with AsyncExitStack() as stack:
            self._memory = await stack.enter_async_context(self._open())
            self._stack = stack.pop_all()
        return self._memory

    def _release_later(self) -> None:
        if self._releasing:
            self._releasing.cancel()
        self._releasing = asyncio.create_task(self._release_when_idle())

    async def _release_when_idle(self) -> None:
        await asyncio.sleep(self._idle)
        async with self._lock:
            if not self._uses:
                await asyncio.shield(self._release())

    async def _release(self) -> None:
        if self._memory is None or self._stack is None:
            return
        await self._memory.drain(SETTLING)
        stack, self._stack, self._memory = self._stack, None, None
        await stack.aclose()
