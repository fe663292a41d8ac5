"""Tasks that work on items side by side, bounded while they may call a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from ..settings import Live, Settings

MAX_STORING = 16  # tasks that store their results beside those that may call a model
T = TypeVar("T")


class Slots(Generic[T]):
    """Runs up to ``historian.concurrency`` tasks, and up to :data:`MAX_STORING` more after their last model call."""

    def __init__(self, settings: Live[Settings], on_room: Callable[[], None]) -> None:
        """Start empty; ``on_room`` is called whenever another task may begin."""
        self._settings = settings
        self._on_room = on_room
        self._storing: set[asyncio.Task[None]] = set()
        self.running: dict[asyncio.Task[None], T] = {}
        self.turn = asyncio.Lock()  # held while work begins, and by whoever lets none begin

    @property
    def has_room(self) -> bool:
        """Whether another task may begin."""
        most, busy = self._settings.current.historian.concurrency, len(self.running)
        return busy - len(self._storing) < most and busy < most + MAX_STORING

    def begin(
        self, item: T, work: Callable[[T, Callable[[], None]], Coroutine[Any, Any, None]], name: str
    ) -> asyncio.Task[None]:
        """Begin work on an item; it gets a function to call after its last model call."""

        def note_last_call() -> None:
            self._storing.add(task)
            self._on_room()

        task = asyncio.create_task(work(item, note_last_call), name=name)
        self.running[task] = item
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: asyncio.Task[None]) -> None:
        del self.running[task]
        self._storing.discard(task)
        self._on_room()

    async def finish(self) -> None:
        """Wait up to ``shutdown_seconds`` for the running tasks."""
        if self.running:
            await asyncio.wait(self.running, timeout=self._settings.current.historian.shutdown_seconds)

    async def cancel(self) -> None:
        """Cancel the running tasks and wait until they have ended."""
        for task in self.running:
            task.cancel()
        if self.running:
            await asyncio.wait(self.running)
