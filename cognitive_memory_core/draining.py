"""Waits until an open memory has no work left, and shortens the pauses of its loops meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from .errors import UnavailableError
from .wiring import UseCases

POLL, LONGEST_POLL = 0.01, 0.25  # seconds; each poll counts rows, so the interval grows


@dataclass(frozen=True)
class Draining:
    """Waits until all stages are idle (messages, jobs, profiles, vectors), and shortens their pauses meanwhile."""

    use_cases: UseCases

    async def until_written(self) -> bool:
        """Wait until captured messages are written; return False if the ledger refuses them."""
        return await self.use_cases.buffer.flush()

    async def until_idle(self) -> None:
        """Wait until no job waits, no merge is due and no vector is missing; the loops must be running."""
        pause = POLL
        while not (await self._is_fed() and await self._is_merged() and await self._is_indexed()):
            self._wake_loops()
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, LONGEST_POLL)
        await self.use_cases.adapters.meter.flush()

    def _wake_loops(self) -> None:
        """Wake the loops of the first stage that has work, and no later ones, so that these batch its output."""
        use = self.use_cases
        use.worker.nudge()
        if not use.worker.is_idle:
            return
        use.merging.wake_now()
        if use.merging.is_idle:
            use.indexer.wake_now()
            use.profile_indexer.wake_now()
            use.belief_indexer.wake_now()
            use.reconciler.wake_now()

    async def _is_fed(self) -> bool:
        return self.use_cases.worker.is_idle and not await self.use_cases.takeover.is_due()

    async def _is_merged(self) -> bool:
        merging = self.use_cases.merging
        try:
            return merging.is_idle and not await merging.waiting()
        except UnavailableError:
            return False

    async def _is_indexed(self) -> bool:
        use = self.use_cases
        stages = (use.indexer.lag, use.profile_indexer.has_lag, use.belief_indexer.has_lag, use.reconciler.lag)
        try:
            for lag in stages:
                if await lag():
                    return False
        except UnavailableError:
            return False
        return True
