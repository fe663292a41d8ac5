"""Runs the plugin's background loops from the bot's start to its end."""

from __future__ import annotations

import asyncio

import cognitive_memory_core as core

IDLE = 3600.0  # seconds of rest for a loop that has work only after a nudge


class RunningLoops:
    """Runs some loops from :meth:`start` to :meth:`stop`; both may be called again."""

    def __init__(self, *loops: core.BackgroundLoop) -> None:
        """Run these loops from the first :meth:`start` on."""
        self._loops = loops
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Run the loops in the background, unless they run already."""
        if not self._tasks:
            self._tasks = [asyncio.create_task(loop.run()) for loop in self._loops]

    async def stop(self) -> bool:
        """Cancel the loops and wait until they have ended; return whether they ran."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        return bool(tasks)
