"""The state of a memory that is open: owns its use cases, and their background loops from start to close."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from . import sentences
from .cancellation import completed
from .domain.belief import Evolution
from .domain.figures import Activity
from .domain.job import FailedJob
from .domain.scope import Scene
from .draining import Draining
from .evolution.belief_keeping import group_of
from .historian.jobs.intake import Intake
from .memory_reads import Reads
from .ports.supplied_components import SuppliedParts
from .recall.compression import Compressor, admitted, checked_dialogue
from .settings import Live, Settings
from .status import Status
from .status_collector import StatusCollector
from .wiring import Adapters, UseCases, opened_adapters


class OpenMemory:
    """The running components of an open memory. :meth:`start` and :meth:`stop` are idempotent."""

    def __init__(self, adapters: Adapters, settings: Live[Settings]) -> None:
        """Build the use cases over adapters; no loop runs yet."""
        self.settings = settings
        self._use_cases = UseCases(adapters, settings)
        self._is_started = False

    @classmethod
    async def open(cls, settings: Live[Settings], data_dir: Path, given: SuppliedParts) -> OpenMemory:
        """Open a data directory as its only owner; the caller must call :meth:`close`."""
        running = cls(await opened_adapters(settings, data_dir, given), settings)
        try:
            await running.opened.consent.load()
            await running.opened.memos.copy_latest()
        except BaseException:
            await completed(running.close())
            raise
        return running

    @property
    def is_running(self) -> bool:
        """Whether the memory forms new memories (``enabled``)."""
        return self.settings.current.enabled

    @property
    def reason(self) -> str:
        """Why the memory is not running; "" while it is."""
        return "" if self.is_running else sentences.caller.NOT_RUNNING

    @property
    def opened(self) -> UseCases:
        """The use cases; the same property of a memory that is not open (AbsentMemory) raises UnavailableError."""
        return self._use_cases

    @property
    def reads(self) -> Reads:
        """The reads; they work whether or not a memory is open."""
        return self._use_cases.reads

    @property
    def intake(self) -> Intake:
        """The intake; without an open memory it accepts nothing."""
        return self._use_cases.intake

    async def compress(self, messages: object, budget: int) -> str:
        """Shorten a dialogue, without people who opted out; with a model if one is set and the memory is enabled.

        Raises BadArgument for anything but messages.
        """
        lines = checked_dialogue(messages)
        consent = self._use_cases.consent
        summariser = self._use_cases.adapters.chat_models.summariser if self.is_running else None
        return await Compressor(summariser, consent.hidden).compress(admitted(lines, consent.admitted), budget)

    async def evolve(self, scene: Scene, days: int) -> Evolution:
        """Update the beliefs of a scene's group from the lines of the last ``days``."""
        group_of(scene)
        if not self.is_running:
            return Evolution(message=self.reason)
        now = self._use_cases.adapters.clock.now()
        return await self._use_cases.evolver.evolve(scene, now - timedelta(days=days))

    async def activity(self, scene: Scene, days: int) -> Activity:
        """Count what is stored of a place (for an operator: of all) in total and for each of the last ``days``."""
        return await StatusCollector(self._use_cases).activity(scene, days)

    async def evolve_groups(self, within: float) -> int:
        """Update the beliefs of the groups that are due, spread over ``within`` seconds; return how many groups."""
        return await self._use_cases.evolution_rounds.run(within) if self.is_running else 0

    async def failed_jobs(self) -> list[FailedJob]:
        """Return the buried jobs with their errors, oldest first."""
        return await self._use_cases.adapters.queue.failed()

    async def status(self) -> Status:
        """Return the status; if the ledger is unavailable, its figures are zero and ``last_error`` says so."""
        return await StatusCollector(self._use_cases).status(reason=self.reason)

    def reconsider(self) -> None:
        """Wake the loops whose pauses depend on settings, after a change of settings."""
        self._use_cases.reconsider()

    def start(self) -> None:
        """Start the background loops; with ``enabled=false`` only those of log, names, memos and housekeeping."""
        if self._is_started:
            return
        self._is_started = True
        for loop in self._use_cases.loops:
            loop.start()
        if self.is_running:
            self._use_cases.worker.start()
            self._use_cases.merging.start()
            for loop in self._use_cases.learning_loops:
                loop.start()

    async def stop(self) -> None:
        """Stop the loops; running jobs get ``shutdown_seconds`` to end."""
        self._is_started, use = False, self._use_cases
        await asyncio.gather(use.worker.stop(), use.merging.stop())
        await asyncio.gather(*(loop.stop() for loop in (*use.loops, *use.learning_loops)))
        await use.buffer.flush()

    async def close(self) -> None:
        """Stop the loops, then release files and directory, also if stopping fails."""
        async with self._use_cases.adapters.resources:
            try:
                await self.stop()
            finally:
                await self._use_cases.purge.close()

    async def drain(self, seconds: float) -> bool:
        """Wait until no work is left; return False after ``seconds``. Starts the loops if they are not running."""
        resting = not self._is_started
        self.start()
        try:
            return await asyncio.wait_for(self._until_idle(), max(seconds, 0.0))
        except asyncio.TimeoutError:
            return False
        finally:
            if resting:
                await self.stop()

    async def _until_idle(self) -> bool:
        draining = Draining(self._use_cases)
        is_written = await draining.until_written()
        if not self.is_running:
            return is_written  # no job will run: what waits stays stored, and is counted by the status
        await draining.until_idle()
        return True
