"""The purge: removes the bytes of erased data from the disk, soon after the rows are gone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from . import sentences
from .domain.figures import PurgeState
from .errors import CognitiveMemoryError
from .ports.clock import Clock
from .store.erasure.eraser import Eraser
from .text import caches

log = logging.getLogger(__name__)
EVERY = timedelta(hours=1)
TRIES = 3  # rebuilds in a row while further erasures happen


class Purge:
    """Removes the bytes of erased data from the disk, at most once an hour.

    The index is purged first. The ledger is purged last, because it records that a purge is due until both are done. If
    the index is unavailable, only the ledger is purged.
    """

    def __init__(self, eraser: Eraser, clock: Clock, rebuild: Callable[[], Awaitable[object]]) -> None:
        """Create for a ledger and an index; ``rebuild`` builds the index anew, without the erased events."""
        self._eraser = eraser
        self._clock = clock
        self._rebuild = rebuild
        self._running = asyncio.Lock()
        self._turn = asyncio.Lock()  # no erasure between the rebuild of the index and the end of the purge
        self._erasures = 0
        self._apart: tuple[int, datetime] | None = (
            None  # number of erasures, and time, of the last purge of the ledger alone
        )
        self._task: asyncio.Task[bool] | None = None

    @asynccontextmanager
    async def erasing(self) -> AsyncGenerator[None, None]:
        """Run the ``with`` block as an erasure, one at a time, and clear the caches of texts at its end.

        A purge that is running does not remove the bytes of this erasure, so that another one stays due.
        """
        async with self._turn:
            try:
                yield
            finally:
                self._erasures += 1
                caches.clear_caches()

    @asynccontextmanager
    async def undisturbed(self) -> AsyncGenerator[None, None]:
        """Prevent erasures during the ``with`` block."""
        async with self._turn:
            yield

    async def state(self) -> PurgeState:
        """Return the time since which erased bytes wait to be removed, and the time of the last purge."""
        return await self._eraser.purge_due()

    def begin(self, state: PurgeState) -> None:
        """Schedule a purge in the background for when it is due."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(
                self._run_after(self._seconds_until_allowed(state)), name="purge"
            )

    async def close(self) -> None:
        """Cancel the background purge; it stays due and runs after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def run_if_due(self) -> bool:
        """Purge if a purge is due and the last one was at least an hour ago; return whether it was done.

        An unavailable store does not raise: the purge stays due.
        """
        try:
            async with self._running:
                return await self._is_due() and await self._has_purged()
        except CognitiveMemoryError as away:
            log.warning("%s", sentences.log.PURGE_WAITS.format(reason=str(away)))
            return False

    async def _run_after(self, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return await self.run_if_due()

    async def _is_due(self) -> bool:
        state = await self._eraser.purge_due()
        return state.erased_at is not None and not self._seconds_until_allowed(state)

    def _seconds_until_allowed(self, state: PurgeState) -> float:
        """Return the seconds until a purge is allowed again; a last purge dated in the future is ignored."""
        passed = EVERY if state.purged_at is None else self._clock.now() - state.purged_at
        return (EVERY - passed).total_seconds() if timedelta() <= passed < EVERY else 0.0

    async def _has_purged(self) -> bool:
        for _ in range(TRIES):
            async with self._turn:  # waits for a running erasure, so that the rebuild sees it
                erasures = self._erasures
            try:
                await self._rebuild()
            except CognitiveMemoryError:
                await self._purge_ledger_only()
                raise
            async with self._turn:
                if erasures == self._erasures:
                    await self._eraser.purge(self._clock.now(), is_over=True)
                    caches.clear_caches()  # entries cached by searches that ran during an erasure
                    return True
        return False

    async def _purge_ledger_only(self) -> None:
        """Purge the ledger alone while the index is unavailable, at most once an hour; a purge of both stays due."""
        async with self._turn:
            now, (erasures, at) = self._clock.now(), self._apart or (-1, None)
            if erasures == self._erasures or (at is not None and timedelta() <= now - at < EVERY):
                return
            await self._eraser.purge(now, is_over=False)
            self._apart = (self._erasures, now)
