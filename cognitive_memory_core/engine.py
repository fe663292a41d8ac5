"""The parts put together and set in motion: one object owns every background loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from .consent import Consent
from .context.builder import ContextBuilder
from .errors import UnavailableError
from .forgetting import Forgetting, Purge
from .historian.follower import IndexFollower, IndexState
from .historian.indexer import Indexer
from .historian.intake import Intake
from .historian.journal import Journal
from .historian.pipeline import Pipeline
from .historian.upkeep import Upkeep
from .historian.worker import HistorianWorker
from .pinboard import Pinboard
from .ports.ambient import Clock
from .ports.models import Embedder
from .ports.vectors import VectorIndex
from .recall.nearest import NearestVectors
from .recall.retriever import Retriever
from .settings import Live, Settings
from .status import Status
from .wiring import Parts, parts_of

MIRRORED_AGAIN = 200  # memos: far more than are made in a pause
DRAIN_POLL, LONGEST_POLL = 0.01, 0.25  # seconds: each look counts rows, and what takes long may be looked at less often


class Engine:
    """An open memory's insides. :meth:`start` and :meth:`stop` are idempotent."""

    def __init__(self, parts: Parts, settings: Live[Settings]) -> None:
        """Put parts together."""
        self.parts = parts
        self.settings = settings
        self.consent = Consent(parts.consent, parts.names, parts.eraser)
        self.journal = Journal(parts.log, parts.names)
        self.pinboard = Pinboard(parts.notes, parts.clock)
        self.follower = self._follower()
        self.indexer = Indexer(parts.embedder, parts.shelf, on_stored=self.follow)
        self.worker = self._worker()
        self.intake = self._intake()
        self.purge = Purge(parts.eraser, parts.clock, self._rebuild)
        self.forgetting = self._forgetting()
        self.upkeep = Upkeep(parts.log, settings, parts.clock, self.purge.run_if_due)
        self.retriever = Retriever(parts.events, parts.lexical, self._index(), parts.embedder, settings, parts.clock)
        self.builder = ContextBuilder(
            self.retriever, parts.notes, parts.view.waiting_memos, settings, parts.clock, hide=self.consent.hidden
        )
        self._loops: list[asyncio.Task[None]] = []

    @classmethod
    async def open(
        cls, settings: Live[Settings], data_dir: Path, *, clock: Clock | None, embedder: Embedder | None
    ) -> Engine:
        """Open a data directory as its owner; the parts' resources are the caller's to close."""
        engine = cls(await parts_of(settings.current, data_dir, clock=clock, embedder=embedder), settings)
        try:
            await engine.consent.load()
            await engine.mirror_last_memos()
        except BaseException:
            await engine.close()
            raise
        return engine

    async def mirror_last_memos(self) -> None:
        """Copy what a process that was killed in the pause between two writes did not come to copy."""
        for memo in await self.parts.notes.latest_memos(MIRRORED_AGAIN):
            await self.parts.mirror.copy(memo)

    def start(self) -> None:
        """Set the loops going; a memory that is switched off only keeps its log and memos."""
        if self._loops:
            return
        wanted = [self.journal.run(), self.upkeep.run(), self.parts.meter.run()]
        if self.settings.current.enabled:
            wanted += [self.worker.run(), self.indexer.run()]
            wanted += [self.follower.run()] if self.follower else []
        self._loops = [asyncio.create_task(loop) for loop in wanted]

    async def stop(self) -> None:
        """End the loops; jobs in hand get ``shutdown_seconds``."""
        await self.worker.stop()
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        self._loops = []
        await self.journal.settle()

    async def close(self) -> None:
        """Stop, and let go of files and directory, whatever happens."""
        try:
            await self.stop()
        finally:
            await self.purge.close()
            await self.parts.resources.aclose()

    async def drain(self, seconds: float) -> bool:
        """Wait until nothing waits any more; False when that takes longer. Works without the background, too."""
        resting = not self._loops
        self.start()
        try:
            return await asyncio.wait_for(self._until_idle(), max(seconds, 0.0))
        except asyncio.TimeoutError:
            return False
        finally:
            if resting:
                await self.stop()

    def follow(self) -> None:
        """Let the vector store take note that vectors changed."""
        if self.follower:
            self.follower.nudge()

    async def reindex(self) -> int:
        """Put a new generation of the vector store in use; answers how many rows it holds."""
        if self.follower:
            return await self.follower.rebuild()
        return len(await self.parts.shelf.embedded_ids(self.parts.embedder.fingerprint))

    async def status(self) -> Status:
        """Say how everything is; a ledger that is away leaves its figures at zero and says so."""
        worker, parts = self.worker, self.parts
        status = Status(
            is_running=self.settings.current.enabled,
            jobs=parts.view.counts(),
            paused=worker.paused,
            breakers=tuple((breaker.name, breaker.state) for breaker in parts.breakers),
            last_error=self._last_error(),
            without_model=self._without_model(),
        )
        return await self._with_figures(status)

    async def _with_figures(self, status: Status) -> Status:
        today = self.parts.clock.now().astimezone(self.settings.current.zone).date()
        try:
            return status.with_figures(
                await self.parts.archive.totals(),
                await self.indexer.lag(),
                await self.parts.accounts.spent(today),
                await self.follower.state() if self.follower else IndexState(),
                await self.purge.state(),
            )
        except UnavailableError as away:
            return status.with_error(str(away))

    async def _until_idle(self) -> bool:
        await self.journal.settle()
        pause = DRAIN_POLL
        while not (self.worker.is_idle and await self._is_indexed()):
            self.worker.nudge()
            self.indexer.hurry()
            if self.follower:
                self.follower.hurry()
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, LONGEST_POLL)
        await self.parts.meter.settle()
        return True

    async def _is_indexed(self) -> bool:
        try:
            return not (await self.indexer.lag() or (self.follower and await self.follower.lag()))
        except UnavailableError:
            return False

    def _last_error(self) -> str:
        loops = (self.worker, self.indexer, self.follower, self.journal)
        return next((loop.last_error for loop in loops if loop and loop.last_error), "")

    def _without_model(self) -> tuple[str, ...]:
        has_embedding = bool(self.settings.current.models.embedding.model_name)
        return ("historian",) if has_embedding else ("historian", "embedding")

    def _follower(self) -> IndexFollower | None:
        parts = self.parts
        if parts.store is None:
            return None
        return IndexFollower(parts.store, parts.shelf, parts.book, parts.embedder.fingerprint)

    def _index(self) -> VectorIndex:
        return NearestVectors(self.parts.exact, self.follower) if self.follower else self.parts.exact

    async def _rebuild(self) -> None:
        if self.follower:
            await self.follower.rebuild()

    async def _unindex(self, event_ids: Sequence[str]) -> None:
        self.indexer.nudge()  # reworded texts have no vector
        if self.follower:
            await self.follower.unindex(event_ids)

    def _forgetting(self) -> Forgetting:
        parts = self.parts
        return Forgetting(
            self.journal,
            parts.queue_eraser,
            parts.names,
            parts.archive,
            parts.notes,
            parts.mirror,
            parts.eraser,
            self.consent,
            self.purge,
            parts.clock,
            self.worker.held,
            self._unindex,
        )

    def _worker(self) -> HistorianWorker:
        parts = self.parts
        pipeline = Pipeline(
            parts.historian,
            parts.events,
            parts.notes,
            parts.names,
            parts.mirror,
            self.consent,
            self.settings.current.zone,
        )
        return HistorianWorker(parts.queue, parts.view, pipeline, self.settings, on_stored=self.indexer.nudge)

    def _intake(self) -> Intake:
        parts = self.parts
        return Intake(
            parts.queue,
            parts.view,
            parts.events,
            parts.notes,
            parts.mirror,
            self.journal,
            self.consent,
            self.settings,
            parts.clock,
        )
