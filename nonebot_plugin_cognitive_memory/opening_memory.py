"""A memory that is being opened: lines and calls of chat plugins wait for it, in order of arrival."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import cognitive_memory_core as core

LINES = 5_000  # that may wait; later ones are refused
CALLS = 2_000  # turns, dialogues and withdrawals that may wait
WAIT = 60.0  # seconds from the start of the opening for which calls wait


@dataclass
class RefusalCounts:
    """The numbers of lines and calls refused because the memory was not open yet."""

    lines: int = 0
    calls: int = 0

    def __bool__(self) -> bool:
        """Return whether anything was refused."""
        return bool(self.lines or self.calls)


class OpeningMemory(core.CognitiveMemory):
    """Replaces a memory while it is being opened: reads find nothing; once the memory is open, calls are forwarded.

    :meth:`observe` stores a line without waiting; :meth:`remember`, :meth:`consider` and :meth:`recall_message` return
    when the memory has answered.
    """

    def __init__(self, reason: str = "") -> None:
        """Start with nothing waiting; ``reason`` states why there is no memory yet."""
        super().__init__(reason)
        self._memory = core.CognitiveMemory.absent(reason)
        self._lines: deque[core.Message] = deque()
        self._calls = 0
        self._order = asyncio.Lock()
        self._released = asyncio.Event()
        self._calm = asyncio.Event()
        self._calm.set()
        self._is_over = self._has_given_up = False
        self.refused = RefusalCounts()

    @property
    def is_idle(self) -> bool:
        """Return whether no line and no call is waiting."""
        return self._calm.is_set()

    @property
    def is_over(self) -> bool:
        """Return whether the memory has opened or failed to open."""
        return self._is_over

    async def idle(self) -> None:
        """Wait until no line and no call is waiting."""
        await self._calm.wait()

    def waiting_lines(self, scene: core.Scene) -> list[core.Message]:
        """Return the waiting lines of a place, oldest first."""
        return [line for line in self._lines if line.scene.scope == scene.scope]

    async def observe(self, message: core.Message) -> None:
        """Keep a line until the memory is open; if there is no room, count it as refused."""
        await super().observe(message)  # rejects anything but a message
        if self._is_over:
            await self._memory.observe(message)
        elif len(self._lines) < LINES:
            self._lines.append(message)
            self._calm.clear()
        else:
            self.refused.lines += 1

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
        kept = (line for line in self._lines if line.id != message_id or line.scene.scope != scene.scope)
        self._lines = deque(kept)
        async with self.in_order() as memory:
            await memory.recall_message(scene, message_id)

    @asynccontextmanager
    async def in_order(self) -> AsyncGenerator[core.CognitiveMemory, None]:
        """Yield the memory once it is open and earlier callers are done; yield an absent one if the call is refused."""
        if self._calls >= CALLS or self._has_given_up:
            self.refused.calls += 1
            yield core.CognitiveMemory.absent(self.reason)
            return
        self._calls += 1
        self._calm.clear()
        try:
            async with self._order:
                await self._released.wait()
                yield self._memory
        finally:
            self._calls -= 1
            self._note_calm()

    async def hand_over(self, memory: core.CognitiveMemory) -> list[core.Message]:
        """Forward the waiting lines to the opened memory, and use it from now on; return those lines.

        Calls keep waiting until :meth:`release`.
        """
        passed_on: list[core.Message] = []
        while self._lines:
            passed_on.append(self._lines.popleft())
            await memory.observe(passed_on[-1])
        self._memory, self._is_over, self._has_given_up = memory, True, False
        self._note_calm()
        return passed_on

    def release(self) -> None:
        """Resume the waiting calls in order."""
        self._released.set()

    def refuse_calls(self) -> None:
        """Refuse the calls that are waiting, and new ones until the memory is open."""
        if not self._is_over and not self._has_given_up:
            self._has_given_up = True
            self.refused.calls += self._calls
            self.release()

    def close(self) -> None:
        """Refuse all waiting lines and calls, because the memory did not open."""
        if not self._is_over:
            self.refuse_calls()
            self.refused.lines += len(self._lines)
            self._lines.clear()
            self._is_over, self._has_given_up = True, False
            self._note_calm()

    def _note_calm(self) -> None:
        if not self._calls and not self._lines:
            self._calm.set()
