"""Assembles the components and owns every background loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import pairwise
from pathlib import Path

from . import sentences
from .background import Trouble
from .completion import completed
from .consent import Consent
from .context.builder import ContextBuilder
from .context.compression import Compressor, admitted
from .domain.belief import Evolution
from .domain.interval import Interval
from .domain.job import FailedJob
from .domain.message import Message
from .domain.profile import ProfileKey
from .domain.scope import Scene
from .errors import UnavailableError
from .event_correcting import EventCorrecting
from .event_forgetting import EventForgetting
from .evolution.belief_indexer import BeliefIndexer
from .evolution.belief_keeping import BeliefKeeping, group_of
from .evolution.evolver import Evolver, EvolverLedger
from .forgetting import ErasureSurroundings, Forgetting, LedgerErasure, Purge
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
from .ports.ledger import Activity
from .ports.overrides import Overrides
from .ports.vectors import NearbyEvents
from .profile_history import ProfileHistory
from .read_access import ReadAccess
from .reads import Reads
from .recall.belief_search import BeliefSearch
from .recall.current_names import CurrentNames
from .recall.message_search import MessageSearch
from .recall.nearest import NearestVectors
from .recall.profile_reader import ProfileReader
from .recall.quotations import Quotations
from .recall.retriever import Retriever
from .recall.search import Search
from .settings import Live, Settings
from .status import Status
from .wiring import Adapters, opened_adapters

MIRRORED_AGAIN = 200  # memos; far more than are made between two writes of the mirror
DRAIN_POLL, LONGEST_POLL = 0.01, 0.25  # seconds; each poll counts rows, so the interval grows


class Engine:
    """The running components of an open memory. :meth:`start` and :meth:`stop` are idempotent."""

    def __init__(self, adapters: Adapters, settings: Live[Settings]) -> None:
        """Assemble the components from adapters."""
        self.adapters = adapters
        self.settings = settings
        ledger, embedder = adapters.ledger, adapters.embedding.embedder
        self.consent = Consent(ledger.consent, ledger.names, ledger.eraser, ledger.incognito)
        self.access = ReadAccess(self.consent, settings)
        renaming = Renaming(adapters.profiles, ledger.profiles)
        self.name_observer = NameObserver(ledger.names, renaming, adapters.clock)
        self.buffer = MessageBuffer(ledger.log, self.name_observer)
        self.pinboard = Pinboard(ledger.notes, adapters.clock)
        self.reconciler = self._reconciler()
        size = settings.current.models.embedding.batch_size
        self.indexer = Indexer(embedder, ledger.vectors, on_stored=self.follow, batch=size)
        self.profile_indexer = ProfileIndexer(adapters.profiles, ledger.profiles, embedder)
        self.names = CurrentNames(ledger.names)
        self.beliefs = BeliefKeeping(ledger.beliefs, adapters.clock)
        self.belief_search = BeliefSearch(ledger.beliefs, embedder, settings)
        self.belief_indexer = BeliefIndexer(ledger.beliefs, embedder)
        self.evolver = self._evolver()
        self.profile_reader = self._profile_reader()
        self.merging = self._merging()
        self.history = self._history()
        self.worker = self._worker()
        self.intake = self._intake()
        self.purge = Purge(ledger.eraser, adapters.clock, self._rebuild)
        self.forgetting = self._forgetting()
        self.event_forgetting = self._event_forgetting()
        self.event_correcting = EventCorrecting(ledger.events, self.consent, settings)
        self.upkeep = Upkeep(ledger.log, settings, adapters.watch.horizon, self._erase_due)
        self.retriever = self._retriever()
        said = MessageSearch(adapters.lexical, ledger.log, adapters.clock, self.buffer.settle)
        self.search = Search(self.retriever, said, settings, ledger.events)
        self.builder = self._builder(said)
        self.reads = self._reads()
        adapters.watch.on_brought_back = self.consent.load
        self._loops: list[asyncio.Task[None]] = []

    @classmethod
    async def open(cls, settings: Live[Settings], data_dir: Path, given: Overrides) -> Engine:
        """Open a data directory as its owner; the caller must call :meth:`close`."""
        engine = cls(await opened_adapters(settings, data_dir, given), settings)
        try:
            await engine.consent.load()
            await engine.mirror_last_memos()
        except BaseException:
            await completed(engine.close())
            raise
        return engine

    async def mirror_last_memos(self) -> None:
        """Copy the latest memos to the mirror, which lacks some if a process was killed between two writes."""
        for memo in await self.adapters.ledger.notes.latest_memos(MIRRORED_AGAIN):
            await self.adapters.mirror.copy(memo)

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
        summariser = self.adapters.chat_models.summariser if self.is_running else None
        compressor = Compressor(summariser, self.consent.hidden)
        return await compressor.compress(admitted(lines, self.consent.admitted), budget)

    async def evolve(self, scene: Scene, days: int) -> Evolution:
        """Evolve the beliefs of a scene's group by the lines of the last days."""
        group_of(scene)
        if not self.is_running:
            return Evolution(message=self.reason)
        return await self.evolver.evolve(scene, self.adapters.clock.now() - timedelta(days=days))

    async def failed_jobs(self) -> list[FailedJob]:
        """Return the buried jobs with their errors, oldest first."""
        return await self.adapters.queue.failed()

    def start(self) -> None:
        """Start the loops; with ``enabled=false`` only those of log, names, memos and housekeeping."""
        if self._loops:
            return
        wanted = [self.buffer.run(), self.name_observer.run(), self.upkeep.run()]
        wanted += [loop.run() for loop in self.adapters.loops]
        if self.settings.current.enabled:
            wanted += [self.worker.run(), self.indexer.run(), self.merging.run(), self.profile_indexer.run()]
            wanted += [self.belief_indexer.run()]
            wanted += [self.reconciler.run()] if self.reconciler else []
            wanted += [self.adapters.embedding.calibrating.run()] if self.adapters.embedding.calibrating else []
        self._loops = [asyncio.create_task(loop) for loop in wanted]

    async def stop(self) -> None:
        """Stop the loops; running jobs get ``shutdown_seconds`` to end."""
        await asyncio.gather(self.worker.stop(), self.merging.stop())
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        self._loops = []
        await self.buffer.settle()

    async def close(self) -> None:
        """Stop, and release files and directory even if stopping fails."""
        async with self.adapters.resources:
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

    def reconsider(self) -> None:
        """Wake the loops that wait for a time computed from settings which changed."""
        self.worker.nudge()
        self.merging.nudge()
        self.upkeep.loop.nudge()

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
        if self.reconciler:
            self.reconciler.nudge()

    async def reindex(self) -> int:
        """Rebuild the vector index and refresh the profile index; return the number of vectors."""
        await self.profile_indexer.refresh()
        self.profile_reader.forget()
        if self.reconciler:
            return await self.reconciler.rebuild()
        return len(await self.adapters.ledger.vectors.embedded_ids(self.adapters.embedding.embedder.fingerprint))

    async def status(self) -> Status:
        """Return the status; if the ledger is unavailable, its figures are zero and ``last_error`` says so."""
        worker, adapters, failing = self.worker, self.adapters, self._failing()
        status = Status(
            is_running=self.is_running,
            reason=self.reason,
            jobs=adapters.queue.counts(),
            refused=self.intake.admission.refused,
            paused=worker.paused,
            breakers=tuple((breaker.name, breaker.state) for breaker in adapters.breakers),
            last_error=await asyncio.to_thread(adapters.owner.problem) or next((error for _, error in failing), ""),
            failing=failing,
            is_over_daily_calls=adapters.chat_models.budget.is_spent,
            without_model=self._without_model(),
            dropped_messages=self.buffer.dropped,
            removed_messages=self.upkeep.removed,
        )
        return await self._with_figures(status)

    async def activity(self, scene: Scene, days: int) -> Activity:
        """Count what is stored of a place, or of everything for an operator, in total and for each of the last days."""
        zone = self.settings.current.zone
        today = self.adapters.clock.now().astimezone(zone).date()
        midnights = [
            datetime.combine(today - timedelta(days=back), time(), tzinfo=zone) for back in range(days - 1, -2, -1)
        ]
        await self.buffer.settle()
        scope = None if scene.kind == "operator" else scene.scope
        return await self.adapters.ledger.archive.activity(
            scope, [Interval(start, stop) for start, stop in pairwise(midnights)]
        )

    async def _with_figures(self, status: Status) -> Status:
        today = self.adapters.clock.now().astimezone(self.settings.current.zone).date()
        try:
            await self.adapters.meter.settle()
            return replace(
                status,
                totals=await self.adapters.ledger.archive.totals(),
                index_lag=await self.indexer.lag(),
                spent_today=tuple(await self.adapters.ledger.accounts.spent(today)),
                index=await self.reconciler.state() if self.reconciler else IndexState(),
                purge=await self.purge.state(),
                merges=await self.merging.state(),
            )
        except UnavailableError as away:
            return status.with_error(str(away))

    async def _until_idle(self) -> bool:
        is_written = await self.buffer.settle()
        if not self.is_running:
            return is_written  # no job will run: what waits stays stored, and is counted by the status
        pause = DRAIN_POLL
        while not (self.worker.is_idle and await self._is_merged() and await self._is_indexed()):
            self._hurry()
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, LONGEST_POLL)
        await self.adapters.meter.settle()
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
            self.belief_indexer.hurry()
            if self.reconciler:
                self.reconciler.hurry()

    async def _is_merged(self) -> bool:
        try:
            return self.merging.is_idle and not await self.merging.waiting()
        except UnavailableError:
            return False

    async def _is_indexed(self) -> bool:
        try:
            has_lag = await self.indexer.lag() or await self.profile_indexer.has_lag()
            has_lag = has_lag or await self.belief_indexer.has_lag()
            return not (has_lag or (self.reconciler and await self.reconciler.lag()))
        except UnavailableError:
            return False

    def _failing(self) -> tuple[tuple[str, str], ...]:
        """Return what fails at present with its error: loops, the latest failure first; then guarded adapters."""
        lasting = sorted((one for one in self._troubles() if one.error), key=lambda one: one.began, reverse=True)
        away = [(breaker.name, breaker.last_error) for breaker in self.adapters.breakers if breaker.state == "failed"]
        return (*((trouble.name, trouble.error) for trouble in lasting), *(one for one in away if one[1]))

    def _troubles(self) -> list[Trouble]:
        """Return the error states of all background components."""
        loops = [self.buffer.loop, self.name_observer.loop, self.upkeep.loop, *self.adapters.loops]
        loops += [self.indexer.loop, self.belief_indexer.loop] + ([self.reconciler.loop] if self.reconciler else [])
        parts = [
            self.buffer.reading,
            self.buffer.crowding,
            self.name_observer.renaming.trouble,
            self.adapters.watch.trouble,
        ]
        own = [*self.worker.troubles, *self.merging.troubles, *self.profile_indexer.troubles]
        return [loop.trouble for loop in loops] + parts + own

    def _without_model(self) -> tuple[str, ...]:
        has_embedding = bool(self.settings.current.models.embedding.model_name)
        missing = {"historian": not self.adapters.chat_models.has_model, "embedding": not has_embedding}
        return tuple(name for name, is_missing in missing.items() if is_missing)

    def _reconciler(self) -> IndexReconciler | None:
        adapters = self.adapters
        if adapters.store is None:
            return None
        return IndexReconciler(
            adapters.store, adapters.ledger.vectors, adapters.ledger.book, adapters.embedding.embedder.fingerprint
        )

    def _profile_reader(self) -> ProfileReader:
        adapters = self.adapters
        return ProfileReader(
            adapters.profiles,
            adapters.ledger.profiles,
            adapters.embedding.embedder,
            self.access,
            self.settings,
            facts=adapters.ledger.facts,
            names=self.names,
        )

    def _builder(self, said: MessageSearch) -> ContextBuilder:
        adapters = self.adapters
        return ContextBuilder(
            self.retriever,
            adapters.ledger.notes,
            adapters.queue.waiting_memos,
            self.settings,
            self.access,
            profiles=self.profile_reader,
            names=self.names,
            quotations=Quotations(said, adapters.ledger.log, self.buffer.window),
            beliefs=self.belief_search,
        )

    def _reads(self) -> Reads:
        return Reads(
            access=self.access,
            names=self.names,
            contexts=self.builder,
            search=self.search,
            event_ledger=self.adapters.ledger.events,
            buffer=self.buffer,
            profile_reader=self.profile_reader,
            history=self.history,
            pinboard=self.pinboard,
            beliefs=self.beliefs,
            belief_search=self.belief_search,
        )

    def _retriever(self) -> Retriever:
        adapters = self.adapters
        return Retriever(
            adapters.ledger.events,
            adapters.lexical,
            self._index(),
            adapters.embedding.embedder,
            self.settings,
            adapters.clock,
            names=adapters.ledger.names,
            reranker=adapters.reranking.reranker,
        )

    def _index(self) -> NearbyEvents:
        adapters = self.adapters
        return (
            NearestVectors(adapters.ledger.index, self.reconciler, adapters.ledger.events)
            if self.reconciler
            else adapters.ledger.index
        )

    async def _rebuild(self) -> None:
        if self.reconciler:
            await self.reconciler.rebuild(afresh=True)

    async def _erase_due(self) -> None:
        await self.event_forgetting.erase_expired()
        await self.consent.erase_ended(self.adapters.clock.now())
        await self.purge.run_if_due()

    async def _unindex(self, event_ids: Sequence[str]) -> None:
        self.indexer.nudge()  # reworded texts have no vector
        self.merging.nudge()  # profiles that lost a place are merged anew
        if self.reconciler:
            await self.reconciler.unindex(event_ids)

    def _forgetting(self) -> Forgetting:
        adapters = self.adapters
        ledger = adapters.ledger
        erased = LedgerErasure(ledger.eraser, ledger.names, ledger.archive, ledger.notes, ledger.facts)
        return Forgetting(erased, self._around_erasures(), adapters.queue, adapters.mirror, self.consent)

    def _around_erasures(self) -> ErasureSurroundings:
        return ErasureSurroundings(
            buffer=self.buffer,
            profiles=self.adapters.profiles,
            purge=self.purge,
            clock=self.adapters.watch,
            held=self._held,
            unindex=self._unindex,
            refresh=self._refresh_profiles,
        )

    def _event_forgetting(self) -> EventForgetting:
        adapters = self.adapters
        around = replace(self._around_erasures(), clock=adapters.clock)
        ledger, changed = adapters.ledger, self.merging.nudge
        return EventForgetting(ledger.events, ledger.event_eraser, around, adapters.watch.horizon, changed)

    @asynccontextmanager
    async def _held(self) -> AsyncGenerator[None, None]:
        """Run neither jobs nor merges inside the block, and let no evolution commit."""
        async with self.worker.held(), self.merging.held(), self.evolver.held():
            yield

    async def _refresh_profiles(self, keys: Sequence[ProfileKey]) -> None:
        for key in keys:
            await taken_in(self.adapters.profiles, self.adapters.ledger.profiles, key)
        self.name_observer.forget(keys)
        self.profile_reader.forget()

    def _worker(self) -> HistorianWorker:
        adapters = self.adapters
        pipeline = Pipeline(
            adapters.chat_models.historian,
            adapters.ledger.events,
            adapters.ledger.notes,
            self.name_observer,
            adapters.mirror,
            self.consent,
            self.settings.current.zone,
            adapters.ledger.facts,
            adapters.lexical,
            self.settings,
            adapters.ledger.log,
            asks_model=adapters.chat_models.has_model,
        )
        return HistorianWorker(adapters.queue, adapters.queue, pipeline, self.settings, on_stored=self._note_stored)

    def _evolver(self) -> Evolver:
        adapters, ledger = self.adapters, self.adapters.ledger
        return Evolver(
            adapters.chat_models.evolver,
            EvolverLedger(ledger.beliefs, ledger.beliefs, ledger.beliefs, ledger.log, ledger.events, ledger.names),
            adapters.embedding.embedder,
            self.consent,
            self.settings,
            adapters.clock,
            settle=self.buffer.settle,
            on_stored=self.belief_indexer.nudge,
        )

    def _note_stored(self) -> None:
        self.indexer.nudge()
        self.merging.nudge()

    def _merging(self) -> ProfileMerging:
        adapters = self.adapters
        return ProfileMerging(
            EntityMerge(
                adapters.chat_models.merger,
                adapters.profiles,
                adapters.ledger.profiles,
                adapters.ledger.facts,
                adapters.ledger.names,
                self.settings,
                adapters.clock,
                name_of=self._name_of,
                is_left_out=lambda key: key.user_id in self.consent.opted_out,
                on_written=self._note_profile_written,
            ),
            is_learning=lambda: adapters.queue.counts().pending > 0,
        )

    def _name_of(self, key: ProfileKey) -> str:
        """Return the seen name of a group, or of a person if profiles are shared; else ""."""
        is_wanted = key.entity_type == "group" or self.settings.current.sharing == "shared"
        return self.name_observer.name_of(key) if is_wanted else ""

    def _note_profile_written(self) -> None:
        self.profile_reader.forget()
        self.profile_indexer.nudge()

    def _history(self) -> ProfileHistory:
        adapters = self.adapters
        return ProfileHistory(
            adapters.profiles,
            adapters.ledger.profiles,
            self.profile_reader,
            self.access,
            adapters.clock,
            self.profile_indexer.nudge,
            adapters.ledger.event_eraser,
        )

    def _intake(self) -> Intake:
        adapters = self.adapters
        return Intake(
            adapters.queue,
            adapters.queue,
            adapters.ledger.events,
            adapters.ledger.notes,
            adapters.mirror,
            self.buffer,
            self.consent,
            self.settings,
            adapters.clock,
            Admission(self.settings),
            on_queued=self.worker.nudge,
            on_withdrawn=self.merging.nudge,
        )
