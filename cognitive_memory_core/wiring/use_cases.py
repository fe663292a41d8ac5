"""Builds the use cases of an open memory from its adapters; no other module passes them their dependencies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from ..background import BackgroundLoop
from ..consent import Consent
from ..disk import Disk
from ..domain.job import QueueCounts
from ..domain.profile import ProfileKey
from ..domain.scope import Scope
from ..event_correcting import EventCorrecting
from ..event_forgetting import EventForgetting
from ..evolution.belief_indexer import BeliefIndexer
from ..evolution.belief_keeping import BeliefKeeping
from ..evolution.evolver import Evolver
from ..evolution.schedule import EvolutionRounds
from ..evolution.suggesting import Suggesting
from ..historian.integrity_watch import IntegrityWatch
from ..historian.jobs.admission import Admission
from ..historian.jobs.intake import Intake
from ..historian.jobs.memo_writer import MemoWriter
from ..historian.jobs.pipeline import Pipeline
from ..historian.jobs.worker import HistorianWorker
from ..historian.messages.log_pruning import LogPruning
from ..historian.messages.message_buffer import MessageBuffer
from ..historian.profiles.entity_merge import EntityMerge
from ..historian.profiles.merging import ProfileMerging
from ..historian.profiles.name_observer import NameObserver
from ..historian.profiles.profile_indexer import ProfileIndexer, taken_in
from ..historian.profiles.renaming import Renaming
from ..historian.rewriting.dialogue_context import DialogueContext
from ..historian.rewriting.repeated_events import RepeatedEvents
from ..listings import Listings
from ..memory_reads import Reads
from ..migration.takeover import SummaryTakeover
from ..models.spending import EVOLUTION
from ..permanent_erasure import ErasureSurroundings, PermanentErasure
from ..pinboard import Pinboard
from ..profile_history import ProfileHistory
from ..purge_schedule import Purge
from ..quality.reporting import Reporting
from ..read_access import ReadAccess
from ..recall.belief_search import BeliefSearch
from ..recall.current_names import CurrentNames
from ..recall.one_pass import Sources
from ..recall.profile_reader import ProfileReader
from ..recall.recall import Recall
from ..settings import Live, Settings
from ..vectors.indexer import Indexer
from ..vectors.null_reconciler import NullReconciler
from ..vectors.reconciler import IndexReconciler
from .adapters import Adapters


class UseCases:
    """The use cases of an open memory, and the operations that involve several of them.

    Building them starts nothing. Where one component must react to another's work, a callback connects them here.
    """

    def __init__(self, adapters: Adapters, settings: Live[Settings]) -> None:
        """Build the use cases over the adapters."""
        self.adapters = adapters
        self.settings = settings
        ledger, clock = adapters.ledger, adapters.clock
        self.consent = Consent(ledger.consent, ledger.names, ledger.eraser, ledger.incognito, clock.now)
        adapters.watch.on_brought_back = self.consent.load
        self.access = ReadAccess(self.consent, settings)
        self.reconciler = self._reconciler()
        self.name_observer = self._name_observer()
        self.buffer = MessageBuffer(ledger.log, self.name_observer)
        self.memos = MemoWriter(ledger.notes, adapters.mirror)
        self.pinboard = Pinboard(ledger.notes, clock)
        self.indexer = self._indexer()
        self.profile_indexer = ProfileIndexer(adapters.profiles, ledger.profiles, adapters.embedding.embedder)
        self.beliefs = BeliefKeeping(ledger.beliefs, clock)
        self.belief_indexer = BeliefIndexer(ledger.beliefs, adapters.embedding.embedder)
        self._names = CurrentNames(ledger.names)
        self._belief_search = BeliefSearch(ledger.beliefs, adapters.embedding.embedder, settings)
        self.profile_reader = self._profile_reader()
        self.recall = self._recall()
        self.evolver = self._evolver()
        self.evolution_rounds = self._evolution_rounds()
        self.suggesting = self._suggesting()
        self.merging = self._merging()
        self.worker = self._worker()
        self.intake = self._intake()
        self.purge = Purge(ledger.eraser, clock, self._rebuild_afresh)
        self.forgetting = self._forgetting()
        self.event_forgetting = self._event_forgetting()
        self.event_correcting = EventCorrecting(ledger.events, self.consent, settings)
        self.upkeep = LogPruning(ledger.log, settings, adapters.watch.horizon, self._erase_due)
        self.history = self._history()
        self.integrity = IntegrityWatch(ledger.examiner)
        self.takeover = self._takeover()
        self.reads = self._reads()
        self.listings = self._listings()
        self.reporting = self._reporting()

    @property
    def loops(self) -> list[BackgroundLoop]:
        """The loops that run whenever the memory is open."""
        own = self.buffer.loop, self.name_observer.loop, self.upkeep.loop, self.integrity.loop
        return [*own, *self.adapters.loops]

    @property
    def learning_loops(self) -> list[BackgroundLoop]:
        """The loops that run while the memory forms new memories, beside those of worker and merging."""
        calibrating = self.adapters.embedding.calibrating
        own = self.takeover.loop, self.profile_indexer.loop, self.indexer.loop, self.belief_indexer.loop
        return [*own, *self.reconciler.loops, *([calibrating.loop] if calibrating else [])]

    def pause(self) -> None:
        """Stop claiming jobs and starting merges."""
        self.worker.paused = self.merging.paused = True

    def resume(self) -> None:
        """Process waiting jobs and merge profiles again; no effect if not paused."""
        self.worker.paused = self.merging.paused = False
        self.worker.nudge()
        self.merging.nudge()

    async def revive(self, job_id: str | None, *, by_rules: bool) -> int:
        """Queue one buried job again, or all, and then try waiting jobs and models at once; return how many."""
        revived = await self.adapters.queue.revive(job_id)
        for breaker in () if job_id else self.adapters.breakers:
            breaker.try_now()
            if by_rules:
                breaker.give_up()
        self.worker.nudge()
        return revived

    def reconsider(self) -> None:
        """Wake the loops that wait for a time computed from settings, after the settings changed."""
        self.worker.nudge()
        self.merging.nudge()
        self.upkeep.loop.nudge()

    def note_stored(self) -> None:
        """Wake the loops that process new events: the indexer and profile merging."""
        self.indexer.nudge()
        self.merging.nudge()

    async def import_file(self, path: Path) -> int:
        """Import an export, then refresh caches and indexes; return the number of new rows."""
        transfer = await asyncio.to_thread(_transfer)
        await self.consent.drop_ended_switches()
        absorbed = await transfer.imported(
            self.adapters.ledger.archive,
            path,
            profiles=self.adapters.profiles,
            is_excluded=self.consent.keeps_out,
        )
        await self._note_imported()
        return absorbed

    async def _note_imported(self) -> None:
        await self.consent.load()
        await self.profile_indexer.refresh()
        self.profile_reader.forget()
        self.recall.sources.known.drop()
        self.indexer.nudge()
        self.reconciler.nudge()

    async def reindex(self) -> int:
        """Rebuild the vector index and refresh the profile index; return the number of vectors."""
        await self.profile_indexer.refresh()
        self.profile_reader.forget()
        return await self.reconciler.rebuild()

    def _takeover(self) -> SummaryTakeover:
        settings, adapters = self.settings.current, self.adapters
        agent = None if settings.isolate_bots else settings.agent
        return SummaryTakeover(adapters.data_dir, agent, self.import_file, Disk(adapters.owner.check))

    def _reconciler(self) -> IndexReconciler | NullReconciler:
        ledger, fingerprint = self.adapters.ledger, self.adapters.embedding.embedder.fingerprint
        if self.adapters.store is None:
            return NullReconciler(ledger.vectors, fingerprint)
        return IndexReconciler(self.adapters.store, ledger.vectors, ledger.book, fingerprint)

    def _name_observer(self) -> NameObserver:
        ledger = self.adapters.ledger
        renaming = Renaming(self.adapters.profiles, ledger.profiles)
        return NameObserver(ledger.names, renaming, self.adapters.clock, on_changed=self._note_names)

    def _indexer(self) -> Indexer:
        return Indexer(
            self.adapters.embedding.embedder,
            self.adapters.ledger.vectors,
            on_stored=self.reconciler.nudge,
            batch=self.settings.current.models.embedding.batch_size,
        )

    def _merging(self) -> ProfileMerging:
        adapters, ledger = self.adapters, self.adapters.ledger
        entity = EntityMerge(
            merger=adapters.chat_models.merger,
            store=adapters.profiles,
            index=ledger.profiles,
            book=ledger.facts,
            names=ledger.names,
            settings=self.settings,
            clock=adapters.clock,
            name_of=self._name_of,
            is_left_out=lambda key: key.user_id in self.consent.opted_out,
            on_written=self._note_profile_written,
        )
        return ProfileMerging(entity, is_learning=lambda: adapters.queue.counts().pending > 0)

    def _name_of(self, key: ProfileKey) -> str:
        """Return the latest name of a group or, if profiles are shared between places, of a person; else ""."""
        is_wanted = key.entity_type == "group" or self.settings.current.sharing == "shared"
        return self.name_observer.name_of(key) if is_wanted else ""

    def _note_profile_written(self) -> None:
        self.profile_reader.forget()
        self.profile_indexer.nudge()

    def _worker(self) -> HistorianWorker:
        adapters, ledger = self.adapters, self.adapters.ledger
        pipeline = Pipeline(
            historian=adapters.chat_models.historian,
            events=ledger.events,
            log=ledger.log,
            memos=self.memos,
            name_observer=self.name_observer,
            consent=self.consent,
            neighbourhood=RepeatedEvents(ledger.facts, ledger.lexical),
            surroundings=DialogueContext(ledger.log, ledger.events, self.consent),
            settings=self.settings,
            asks_model=adapters.chat_models.has_model,
        )
        return HistorianWorker(adapters.queue, pipeline, self.settings, on_stored=self.note_stored)

    def _evolution_rounds(self) -> EvolutionRounds:
        adapters, models = self.adapters, self.adapters.chat_models

        def may_call() -> bool:
            return models.evolver is not None and models.budget.bears(EVOLUTION)

        return EvolutionRounds(
            evolver=self.evolver,
            book=adapters.ledger.beliefs,
            consent=self.consent,
            settings=self.settings,
            clock=adapters.clock,
            may_call=may_call,
        )

    def _evolver(self) -> Evolver:
        adapters = self.adapters
        return Evolver(
            model=adapters.chat_models.evolver,
            ledger=adapters.ledger,
            consent=self.consent,
            settings=self.settings,
            clock=adapters.clock,
            flush=self.buffer.flush,
            on_stored=self.belief_indexer.nudge,
        )

    def _suggesting(self) -> Suggesting:
        adapters, ledger = self.adapters, self.adapters.ledger
        return Suggesting(
            events=ledger.events,
            decisions=ledger.decisions,
            beliefs=ledger.beliefs,
            embedder=adapters.embedding.embedder,
            access=self.access,
            settings=self.settings,
            clock=adapters.clock,
            named=self._names.of_events,
            on_stored=self.belief_indexer.nudge,
            model=adapters.chat_models.evolver,
        )

    def _intake(self) -> Intake:
        adapters = self.adapters
        return Intake(
            queue=adapters.queue,
            events=adapters.ledger.events,
            memos=self.memos,
            buffer=self.buffer,
            consent=self.consent,
            settings=self.settings,
            clock=adapters.clock,
            admission=Admission(self.settings),
            on_queued=self.worker.nudge,
            on_withdrawn=self.merging.nudge,
        )

    def _forgetting(self) -> PermanentErasure:
        return PermanentErasure(
            ledger=self.adapters.ledger,
            around=self._around_erasures(),
            queue=self.adapters.queue,
            mirror=self.adapters.mirror,
            consent=self.consent,
        )

    def _event_forgetting(self) -> EventForgetting:
        adapters = self.adapters
        return EventForgetting(
            events=adapters.ledger.events,
            eraser=adapters.ledger.event_eraser,
            around=replace(self._around_erasures(), clock=adapters.clock),
            horizon=adapters.watch.horizon,
            on_changed=self.merging.nudge,
        )

    def _around_erasures(self) -> ErasureSurroundings:
        return ErasureSurroundings(
            buffer=self.buffer,
            profiles=self.adapters.profiles,
            purge=self.purge,
            clock=self.adapters.watch,
            suspended=self._suspended,
            remove_from_index=self._unindex,
            refresh=self._refresh_profiles,
        )

    @asynccontextmanager
    async def _suspended(self) -> AsyncGenerator[None, None]:
        """Keep jobs, merges, evolution, decisions on suggestions and the takeover from running meanwhile."""
        async with AsyncExitStack() as stack:
            for work in (self.worker, self.merging, self.evolver, self.suggesting, self.takeover):
                await stack.enter_async_context(work.suspended())
            yield

    async def _unindex(self, event_ids: Sequence[str]) -> None:
        self.note_stored()  # reworded texts have no vector, and profiles that lost a place are merged anew
        await self.reconciler.remove_from_index(event_ids)

    async def _refresh_profiles(self, keys: Sequence[ProfileKey]) -> None:
        for key in keys:
            await taken_in(self.adapters.profiles, self.adapters.ledger.profiles, key)
        self.name_observer.forget(keys)
        self.profile_reader.forget()

    async def _rebuild_afresh(self) -> None:
        await self.reconciler.rebuild(afresh=True)

    async def _erase_due(self) -> None:
        await self.event_forgetting.erase_expired()
        await self.consent.erase_ended(self.adapters.clock.now())
        await self.purge.run_if_due()

    def _profile_reader(self) -> ProfileReader:
        return ProfileReader(
            store=self.adapters.profiles,
            index=self.adapters.ledger.profiles,
            embedder=self.adapters.embedding.embedder,
            access=self.access,
            settings=self.settings,
            facts=self.adapters.ledger.facts,
            names=self._names,
        )

    def _history(self) -> ProfileHistory:
        return ProfileHistory(
            store=self.adapters.profiles,
            index=self.adapters.ledger.profiles,
            reader=self.profile_reader,
            access=self.access,
            clock=self.adapters.clock,
            on_restored=self.profile_indexer.nudge,
            events=self.adapters.ledger.event_eraser,
        )

    def _listings(self) -> Listings:
        ledger = self.adapters.ledger
        return Listings(
            self.access,
            self._names,
            ledger.listings,
            ledger.events,
            ledger.log,
            ledger.missed,
            self.adapters.clock,
            self.recall,
        )

    def _reads(self) -> Reads:
        adapters, ledger = self.adapters, self.adapters.ledger
        return Reads(
            access=self.access,
            names=self._names,
            recall=self.recall,
            event_ledger=ledger.events,
            buffer=self.buffer,
            profile_reader=self.profile_reader,
            history=self.history,
            pinboard=self.pinboard,
            beliefs=self.beliefs,
            belief_search=self._belief_search,
            suggesting=self.suggesting,
            event_eraser=ledger.event_eraser,
            tally=adapters.tally,
        )

    def _reporting(self) -> Reporting:
        adapters, ledger = self.adapters, self.adapters.ledger

        async def counts() -> QueueCounts:
            return adapters.queue.counts()

        return Reporting(
            ledger=ledger.quality,
            names=ledger.names,
            facts=ledger.facts,
            consent=self.consent,
            settings=self.settings,
            clock=adapters.clock,
            counts=counts,
            lag=self.indexer.lag,
            missed=ledger.missed,
        )

    def _recall(self) -> Recall:
        adapters = self.adapters
        sources = Sources(
            adapters.ledger,
            adapters.embedding.embedder,
            adapters.clock,
            self.access,
            self.profile_reader,
            self._belief_search,
            None if isinstance(self.reconciler, NullReconciler) else self.reconciler,
            adapters.reranking.reranker,
        )
        return Recall(
            sources,
            self.settings,
            waiting_memos=adapters.queue.waiting_memos,
            flush=self.buffer.flush,
            tally=adapters.tally,
            guarded=adapters.reading.call,
        )

    def _note_names(self, scopes: Iterable[Scope]) -> None:
        self.recall.sources.known.drop(scopes)


def _transfer() -> ModuleType:
    from .. import transfer  # noqa: PLC0415  # only needed for export, import and backup

    return transfer
