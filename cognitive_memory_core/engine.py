"""Assembles the components and owns every background loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from . import sentences
from .background import Trouble
from .completion import completed
from .consent import Consent
from .context.builder import ContextBuilder
from .context.compression import Compressor, admitted
from .domain.job import FailedJob
from .domain.message import Message
from .domain.profile import ProfileKey
from .errors import UnavailableError
from .event_correcting import EventCorrecting
from .event_forgetting import EventForgetting
from .forgetting import Forgetting, Purge
from .historian.indexing.indexer import Indexer
from .historian.indexing.reconciler import IndexReconciler, IndexState
from .historian.jobs.admission import Admission
from .historian.jobs.intake import Intake
from .historian.jobs.pipeline import Pipeline
from .historian.jobs.worker import HistorianWorker
from .historian.messages.message_buffer import MessageBuffer
from .historian.messages.upkeep import Upkeep
from .historian.profiles.entity_merge import EntityMerge
from .historian.profiles.merging import ProfileMerging
from .historian.profiles.name_observer import NameObserver
from .historian.profiles.profile_indexer import ProfileIndexer, taken_in
from .historian.profiles.renaming import Renaming
from .pinboard import Pinboard
from .ports.overrides import Overrides
from .ports.vectors import NearbyEvents
from .profile_history import ProfileHistory
from .read_access import ReadAccess
from .reads import Reads
from .recall.current_names import CurrentNames
from .recall.messages import MessageSearch
from .recall.nearest import NearestVectors
from .recall.profile_reader import ProfileReader
from .recall.quotations import Quotations
from .recall.retriever import Retriever
from .recall.search import Search
from .settings import Live, Settings
from .status import Status
from .wiring import Parts, parts_of

MIRRORED_AGAIN = 200  # memos; far more than are made between two writes of the mirror
DRAIN_POLL, LONGEST_POLL = 0.01, 0.25  # seconds; each poll counts rows, so the interval grows


class Engine:
    """The running components of an open memory. :meth:`start` and :meth:`stop` are idempotent."""

    def __init__(self, parts: Parts, settings: Live[Settings]) -> None:
        """Assemble the components from parts."""
        self.parts = parts
        self.settings = settings
        self.consent = Consent(parts.consent, parts.names, parts.eraser, parts.incognito)
        self.access = ReadAccess(self.consent, settings)
        self.sightings = NameObserver(parts.names, Renaming(parts.profiles, parts.profile_index), parts.clock)
        self.journal = MessageBuffer(parts.log, self.sightings)
        self.pinboard = Pinboard(parts.notes, parts.clock)
        self.follower = self._follower()
        size = settings.current.models.embedding.batch_size
        self.indexer = Indexer(parts.embedder, parts.shelf, on_stored=self.follow, batch=size)
        self.profile_indexer = ProfileIndexer(parts.profiles, parts.profile_index, parts.embedder)
        self.names = CurrentNames(parts.names)
        self.portraits = self._portraits()
        self.merging = self._merging()
        self.history = self._history()
        self.worker = self._worker()
        self.intake = self._intake()
        self.purge = Purge(parts.eraser, parts.clock, self._rebuild)
        self.forgetting = self._forgetting()
        self.event_forgetting = self._event_forgetting()
        self.event_correcting = EventCorrecting(parts.events, self.consent, settings)
        self.upkeep = Upkeep(parts.log, settings, parts.watch.horizon, self._erase_due)
        self.retriever = self._retriever()
        said = MessageSearch(parts.lexical, parts.log, parts.clock, self.journal.settle)
        self.search = Search(self.retriever, said, settings, parts.events)
        self.builder = ContextBuilder(
            self.retriever,
            parts.notes,
            parts.view.waiting_memos,
            settings,
            self.access,
            profiles=self.portraits,
            names=self.names,
            quotations=Quotations(said, parts.log, self.journal.window),
        )
        self.reads = self._reads()
        parts.watch.on_brought_back = self.consent.load
        self._loops: list[asyncio.Task[None]] = []

    @classmethod
    async def open(cls, settings: Live[Settings], data_dir: Path, given: Overrides) -> Engine:
        """Open a data directory as its owner; the caller must call :meth:`close`."""
        engine = cls(await parts_of(settings, data_dir, given), settings)
        try:
            await engine.consent.load()
            await engine.mirror_last_memos()
        except BaseException:
            await completed(engine.close())
            raise
        return engine

    async def mirror_last_memos(self) -> None:
        """Copy the latest memos to the mirror, which lacks some if a process was killed between two writes."""
        for memo in await self.parts.notes.latest_memos(MIRRORED_AGAIN):
            await self.parts.mirror.copy(memo)

    @property
    def is_running(self) -> bool:
        """Whether new memories are made."""
        return self.settings.current.enabled

    @property
    def reason(self) -> str:
        """Why the memory is not running; "" while it is."""
        return "" if self.is_running else sentences.caller.NOT_RUNNING

    @property
    def opened(self) -> Engine:
        """The engine itself; an absent one raises here."""
        return self

    async def compress(self, lines: Sequence[Message], budget: int) -> str:
        """Shorten a dialogue without people who opted out; by a model if one is set and the memory is enabled."""
        summariser = self.parts.thinkers.summariser if self.is_running else None
        compressor = Compressor(summariser, self.consent.hidden)
        return await compressor.compress(admitted(lines, self.consent.admitted), budget)

    async def failed_jobs(self) -> list[FailedJob]:
        """Return the buried jobs with their errors, oldest first."""
        return await self.parts.view.failed()

    def start(self) -> None:
        """Start the loops; with ``enabled=false`` only those of log, names, memos and housekeeping."""
        if self._loops:
            return
        wanted = [self.journal.run(), self.sightings.run(), self.upkeep.run()]
        wanted += [loop.run() for loop in self.parts.loops]
        if self.settings.current.enabled:
            wanted += [self.worker.run(), self.indexer.run(), self.merging.run(), self.profile_indexer.run()]
            wanted += [self.follower.run()] if self.follower else []
            wanted += [self.parts.calibrating.run()] if self.parts.calibrating else []
        self._loops = [asyncio.create_task(loop) for loop in wanted]

    async def stop(self) -> None:
        """Stop the loops; running jobs get ``shutdown_seconds`` to end."""
        await asyncio.gather(self.worker.stop(), self.merging.stop())
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        self._loops = []
        await self.journal.settle()

    async def close(self) -> None:
        """Stop, and release files and directory even if stopping fails."""
        async with self.parts.resources:
            try:
                await self.stop()
            finally:
                await self.purge.close()

    def pause(self) -> None:
        """Stop claiming jobs and starting merges."""
        self.worker.paused = self.merging.paused = True

    def resume(self) -> None:
        """Continue claiming jobs and starting merges."""
        self.worker.paused = self.merging.paused = False
        self.worker.nudge()
        self.merging.nudge()

    async def drain(self, seconds: float) -> bool:
        """Wait until no work is left; return False after ``seconds``. Starts the loops if they are not running."""
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
        """Notify the vector index that vectors changed."""
        if self.follower:
            self.follower.nudge()

    async def reindex(self) -> int:
        """Rebuild the vector index and refresh the profile index; return the number of vectors."""
        await self.profile_indexer.refresh()
        self.portraits.forget()
        if self.follower:
            return await self.follower.rebuild()
        return len(await self.parts.shelf.embedded_ids(self.parts.embedder.fingerprint))

    async def status(self) -> Status:
        """Return the status; if the ledger is unavailable, its figures are zero and ``last_error`` says so."""
        worker, parts, failing = self.worker, self.parts, self._failing()
        status = Status(
            is_running=self.is_running,
            reason=self.reason,
            jobs=parts.view.counts(),
            refused=self.intake.admission.refused,
            paused=worker.paused,
            breakers=tuple((breaker.name, breaker.state) for breaker in parts.breakers),
            last_error=await asyncio.to_thread(parts.problem) or next((error for _, error in failing), ""),
            failing=failing,
            is_over_daily_calls=parts.thinkers.budget.is_spent,
            without_model=self._without_model(),
            dropped_messages=self.journal.dropped,
            removed_messages=self.upkeep.removed,
        )
        return await self._with_figures(status)

    async def _with_figures(self, status: Status) -> Status:
        today = self.parts.clock.now().astimezone(self.settings.current.zone).date()
        try:
            await self.parts.meter.settle()
            return replace(
                status,
                totals=await self.parts.archive.totals(),
                index_lag=await self.indexer.lag(),
                spent_today=tuple(await self.parts.accounts.spent(today)),
                index=await self.follower.state() if self.follower else IndexState(),
                purge=await self.purge.state(),
                merges=await self.merging.state(),
            )
        except UnavailableError as away:
            return status.with_error(str(away))

    async def _until_idle(self) -> bool:
        is_written = await self.journal.settle()
        if not self.is_running:
            return is_written  # no job will run: what waits stays stored, and is counted by the status
        pause = DRAIN_POLL
        while not (self.worker.is_idle and await self._is_merged() and await self._is_indexed()):
            self._hurry()
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, LONGEST_POLL)
        await self.parts.meter.settle()
        return True

    def _hurry(self) -> None:
        """Skip the waits of each stage; a stage that feeds others goes first, so that they can batch its output."""
        self.worker.nudge()
        if not self.worker.is_idle:
            return
        self.merging.hurry()
        if self.merging.is_idle:
            self.indexer.hurry()
            self.profile_indexer.hurry()
            if self.follower:
                self.follower.hurry()

    async def _is_merged(self) -> bool:
        try:
            return self.merging.is_idle and not await self.merging.waiting()
        except UnavailableError:
            return False

    async def _is_indexed(self) -> bool:
        try:
            has_lag = await self.indexer.lag() or await self.profile_indexer.has_lag()
            return not (has_lag or (self.follower and await self.follower.lag()))
        except UnavailableError:
            return False

    def _failing(self) -> tuple[tuple[str, str], ...]:
        """Return what fails at present with its error: loops, the latest failure first; then guarded parts."""
        lasting = sorted((one for one in self._troubles() if one.error), key=lambda one: one.began, reverse=True)
        away = [(breaker.name, breaker.last_error) for breaker in self.parts.breakers if breaker.state == "failed"]
        return (*((trouble.name, trouble.error) for trouble in lasting), *(one for one in away if one[1]))

    def _troubles(self) -> list[Trouble]:
        """Return the error states of all background components."""
        loops = [self.journal.loop, self.sightings.loop, self.upkeep.loop, *self.parts.loops]
        loops += [self.indexer.loop] + ([self.follower.loop] if self.follower else [])
        parts = [self.journal.reading, self.journal.crowding, self.sightings.renaming.trouble, self.parts.watch.trouble]
        own = [*self.worker.troubles, *self.merging.troubles, *self.profile_indexer.troubles]
        return [loop.trouble for loop in loops] + parts + own

    def _without_model(self) -> tuple[str, ...]:
        has_embedding = bool(self.settings.current.models.embedding.model_name)
        missing = {"historian": not self.parts.thinkers.has_model, "embedding": not has_embedding}
        return tuple(name for name, is_missing in missing.items() if is_missing)

    def _follower(self) -> IndexReconciler | None:
        parts = self.parts
        if parts.store is None:
            return None
        return IndexReconciler(parts.store, parts.shelf, parts.book, parts.embedder.fingerprint)

    def _portraits(self) -> ProfileReader:
        parts = self.parts
        return ProfileReader(
            parts.profiles,
            parts.profile_index,
            parts.embedder,
            self.access,
            self.settings,
            facts=parts.facts,
            names=self.names,
        )

    def _reads(self) -> Reads:
        return Reads(
            access=self.access,
            names=self.names,
            contexts=self.builder,
            search=self.search,
            event_ledger=self.parts.events,
            buffer=self.journal,
            profile_reader=self.portraits,
            history=self.history,
            pinboard=self.pinboard,
        )

    def _retriever(self) -> Retriever:
        parts = self.parts
        return Retriever(
            parts.events,
            parts.lexical,
            self._index(),
            parts.embedder,
            self.settings,
            parts.clock,
            names=parts.names,
            reranker=parts.reranker,
        )

    def _index(self) -> NearbyEvents:
        parts = self.parts
        return NearestVectors(parts.exact, self.follower, parts.events) if self.follower else parts.exact

    async def _rebuild(self) -> None:
        if self.follower:
            await self.follower.rebuild(afresh=True)

    async def _erase_due(self) -> None:
        await self.event_forgetting.erase_expired()
        await self.purge.run_if_due()

    async def _unindex(self, event_ids: Sequence[str]) -> None:
        self.indexer.nudge()  # reworded texts have no vector
        self.merging.nudge()  # profiles that lost a place are merged anew
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
            parts.watch,
            self._held,
            self._unindex,
            parts.profile_eraser,
            self._unportray,
            parts.facts,
        )

    def _event_forgetting(self) -> EventForgetting:
        parts = self.parts
        return EventForgetting(
            self.journal,
            parts.events,
            parts.event_eraser,
            parts.profile_eraser,
            parts.clock,
            parts.watch.horizon,
            self.purge,
            self._held,
            self._unindex,
            self._unportray,
            on_changed=self.merging.nudge,
        )

    @asynccontextmanager
    async def _held(self) -> AsyncGenerator[None, None]:
        """Run neither jobs nor merges inside the block."""
        async with self.worker.held(), self.merging.held():
            yield

    async def _unportray(self, keys: Sequence[ProfileKey]) -> None:
        for key in keys:
            await taken_in(self.parts.profiles, self.parts.profile_index, key)
        self.sightings.forget(keys)
        self.portraits.forget()

    def _worker(self) -> HistorianWorker:
        parts = self.parts
        pipeline = Pipeline(
            parts.thinkers.historian,
            parts.events,
            parts.notes,
            self.sightings,
            parts.mirror,
            self.consent,
            self.settings.current.zone,
            parts.facts,
            parts.lexical,
            self.settings,
            parts.log,
            asks_model=parts.thinkers.has_model,
        )
        return HistorianWorker(parts.queue, parts.view, pipeline, self.settings, on_stored=self._note_stored)

    def _note_stored(self) -> None:
        self.indexer.nudge()
        self.merging.nudge()

    def _merging(self) -> ProfileMerging:
        parts = self.parts
        return ProfileMerging(
            EntityMerge(
                parts.thinkers.merger,
                parts.profiles,
                parts.profile_index,
                parts.facts,
                parts.names,
                self.settings,
                parts.clock,
                name_of=self._name_of,
                is_left_out=lambda key: key.user_id in self.consent.opted_out,
                on_written=self._note_drawn,
            ),
            is_learning=lambda: parts.view.counts().pending > 0,
        )

    def _name_of(self, key: ProfileKey) -> str:
        """Return the seen name of a group, or of a person if profiles are shared; else ""."""
        is_wanted = key.entity_type == "group" or self.settings.current.sharing == "shared"
        return self.sightings.name_of(key) if is_wanted else ""

    def _note_drawn(self) -> None:
        self.portraits.forget()
        self.profile_indexer.nudge()

    def _history(self) -> ProfileHistory:
        parts = self.parts
        return ProfileHistory(
            parts.profiles,
            parts.profile_index,
            self.portraits,
            self.access,
            parts.clock,
            self.profile_indexer.nudge,
            parts.event_eraser,
        )

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
            Admission(self.settings),
            on_queued=self.worker.nudge,
            on_withdrawn=self.merging.nudge,
        )
