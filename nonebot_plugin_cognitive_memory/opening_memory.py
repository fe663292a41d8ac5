"""A memory that is being opened: lines and calls of chat plugins wait for it, in order of arrival."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import cognitive_memory_core as core

LINES = 5_000  # that may wait; later ones are refused
CALLS = 2_000  # turns, dialogues and withdrawals that may wait
WAIT = 60.0  # seconds from the start of the opening for which calls wait


class OpeningMemory(core.CognitiveMemory):
    """Replaces a memory while it is being opened: reads find nothing; once the memory is open, calls are forwarded.

    :meth:`observe` stores a line without waiting; :meth:`remember`, :meth:`consider` and :meth:`recall_message` return
    when the memory has answered. ``calm`` is set while nothing waits, ``is_over`` once the memory has opened or failed
    to open.
    """

    def __init__(self, reason: str = "") -> None:
        """Start with nothing waiting; ``reason`` states why there is no memory yet."""
        super().__init__(reason)
        self._memory = core.CognitiveMemory.absent(reason)
        self.lines: deque[core.Message] = deque()  # that wait, oldest first
        self._calls = 0
        self._order = asyncio.Lock()
        self._released = asyncio.Event()
        self.calm = asyncio.Event()
        self.calm.set()
        self.is_over = self._has_given_up = False
        self.refused_lines = self.refused_calls = 0

    async def observe(self, message: core.Message) -> None:
        """Keep a line until the memory is open; if there is no room, count it as refused."""
        await super().observe(message)  # rejects anything but a message
        if self.is_over:
            await self._memory.observe(message)
        elif len(self.lines) < LINES:
            self.lines.append(message)
            self.calm.clear()
        else:
            self.refused_lines += 1

    async def remember(self, turn: core.Turn) -> str | None:
        """Wait for the memory and hand in a turn; return None if the call was refused."""
        async with self.in_order() as memory:
            return await memory.remember(turn)

    async def consider(self, scene: core.Scene, messages: Sequence[core.Message]) -> str | None:
        """Wait for the memory and hand in a dialogue; return None if the call was refused."""
        async with self.in_order() as memory:
            return await memory.consider(scene, messages)

    async def recall_message(self, scene: core.Scene, message_id: str) -> None:
        """Drop a withdrawn line that waits, then wait for the memory and withdraw it there too."""
        kept = (line for line in self.lines if line.id != message_id or line.scene.scope != scene.scope)
        self.lines = deque(kept)
        async with self.in_order() as memory:
            await memory.recall_message(scene, message_id)

    @asynccontextmanager
    async def in_order(self) -> AsyncGenerator[core.CognitiveMemory, None]:
        """Yield the memory once it is open and earlier callers are done; yield an absent one if the call is refused."""
        if self._calls >= CALLS or self._has_given_up:
            self.refused_calls += 1
            yield core.CognitiveMemory.absent(self.reason)
            return
        self._calls += 1
        self.calm.clear()
        try:
            async with self._order:
                await self._released.wait()
                yield self._memory
        finally:
            self._calls -= 1
            self._note_calm()

    async def hand_over(self, memory: core.CognitiveMemory) -> list[core.Message]:
        """Forward the waiting lines to the opened memory, and use it from now on; return those lines.

        Calls keep waiting until :meth:`release_calls`.
        """
        passed_on: list[core.Message] = []
        while self.lines:
            passed_on.append(self.lines.popleft())
            await memory.observe(passed_on[-1])
        self._memory, self.is_over, self._has_given_up = memory, True, False
        self._note_calm()
        return passed_on

    def release_calls(self) -> None:
        """Resume the waiting calls in order."""
        self._released.set()

    def refuse_calls(self) -> None:
        """Refuse the calls that are waiting, and new ones until the memory is open."""
        if not self.is_over and not self._has_given_up:
            self._has_given_up = True
            self.refused_calls += self._calls
            self.release_calls()

    def close(self) -> None:
        """Refuse all waiting lines and calls, because the memory did not open."""
        if not self.is_over:
            self.refuse_calls()
            self.refused_lines += len(self.lines)
            self.lines.clear()
            self.is_over, self._has_given_up = True, False
            self._note_calm()

    def _note_calm(self) -> None:
        if not self._calls and not self.lines:
            self.calm.set()
