"""What is open: the files of a data directory and every use case over them, composed here and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import ModuleType

from .consent import Consent
from .disk import DirectoryOwner, Disk
from .domain.profile import ProfileKey
from .domain.scope import Scope
from .domain.turn import QueueCounts
from .end_summaries import EndSummaries
from .errors import UnavailableError
from .evolution.beliefs import BeliefIndexer, BeliefKeeping
from .evolution.evolver import EvolutionRounds, Evolver
from .evolution.suggesting import Suggesting
from .forgetting import ErasureSurroundings, EventCorrecting, EventForgetting, PermanentErasure, Purge
from .historian.intake import Admission, Intake
from .historian.merging import EntityMerge, ProfileMerging
from .historian.messages import MessageBuffer
from .historian.names import NameObserver, Renaming
from .historian.neighbours import DialogueContext, RepeatedEvents
from .historian.pipeline import MemoWriter, Pipeline
from .historian.profile_indexer import ProfileIndexer, taken_in
from .historian.upkeep import ClockWatch, IntegrityWatch, LogPruning
from .historian.worker import HistorianWorker
from .lost_ledger import LEDGER, forget_consent_to_begin_anew, refuse_lost_ledger
from .migration.takeover import SummaryTakeover, keep_summaries
from .models.breaker import OVERDUE, Breaker, guarded
from .models.embedding import embedding_of
from .models.reranking import reranking_of
from .models.spending import EVOLUTION, SpendingMeter
from .ports.clock import Clock, SystemClock
from .ports.models import Chat, Embedder, Reranker
from .profiles.files import FileProfiles
from .quality.counting import QualityTally
from .quality.reporting import Reporting
from .queue.job_queue import FileQueue
from .read_access import ReadAccess
from .reads import Listings, Pinboard, ProfileHistory, Reads
from .recall.belief_search import BeliefSearch
from .recall.names import CurrentNames
from .recall.one_pass import Sources
from .recall.profile_reader import ProfileReader
from .recall.recall import Recall
from .settings import Live, Settings
from .store.database.migrations import is_blank
from .store.ledger import Ledger
from .store.malloc_tuning import return_large_blocks
from .tasks import BackgroundLoop, completed
from .vectors.chroma.place import clear_generations
from .vectors.chroma.store import ChromaStore
from .vectors.indexer import Indexer
from .vectors.reconciler import IndexReconciler
from .wiring.chat_models import chat_models_of

GRACE = 5.0  # seconds beyond shutdown_seconds that the former owner gets to release the directory
POLL, LONGEST_POLL = 0.01, 0.25  # seconds; each poll of a drain counts rows, so the interval grows


class Opened:
    """An open memory: its stores and models, its use cases, and its background loops from :meth:`start` to close.

    :meth:`open` opens the stores and builds the use cases over them; both steps start nothing. :meth:`start` and
    :meth:`stop` are idempotent.
    """

    def __init__(self, settings: Live[Settings], data_dir: Path) -> None:
        """Prepare for one data directory; nothing is opened yet."""
        self.settings = settings
        self.data_dir = data_dir
        self.resources = AsyncExitStack()
        self._is_started = False

    async def open(
        self,
        *,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        chat: Chat | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Open the data directory as its only owner; the caller must call :meth:`close`, unless this raises."""
        try:
            await self.open_stores(clock=clock, embedder=embedder, chat=chat, reranker=reranker)
            self.compose()
            await self.consent.load()
            await self.memos.copy_latest()
        except BaseException:
            await completed(self.resources.aclose())
            raise

    async def open_stores(
        self,
        *,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        chat: Chat | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Open what needs the disk or a model, in the order in which it must be closed the other way round."""
        live, settings, data_dir, stack = self.settings, self.settings.current, self.data_dir, self.resources
        self.clock = clock = clock or SystemClock()
        self.owner = owner = DirectoryOwner(data_dir)
        await owner.acquire(settings.historian.shutdown_seconds + GRACE)
        stack.callback(owner.release)
        self.disk = Disk(owner.check)
        self.ledger = ledger = await self._open_ledger()
        self.watch = ClockWatch(clock, ledger.clock_book)
        await self.watch.load()
        stack.push_async_callback(self.watch.close)
        self.tally = QualityTally(ledger.quality, clock, settings.zone)
        stack.push_async_callback(self.tally.flush)
        self.meter = SpendingMeter(ledger.accounts, clock, settings.zone)
        stack.push_async_callback(self.meter.flush)
        await self.meter.load()
        self.embedding = await embedding_of(settings, ledger, self.meter, stack, clock=clock, given=embedder)
        self.embedder = self.embedding.embedder
        ledger.corpora.follow(self.embedder.fingerprint)
        self.reranking = await reranking_of(settings.models.rerank, self.meter, stack, reranker)
        self.queue = await FileQueue.open(
            data_dir / "queues", settings.queue, clock, disk=self.disk, horizon=self.watch.horizon
        )
        stack.push_async_callback(self.queue.close)
        await self.queue.recover()
        self.mirror = EndSummaries(data_dir / "end_summaries.json", clock, disk=self.disk)
        stack.push_async_callback(self.mirror.flush)
        vectors, self.reading = Breaker("vectors"), Breaker("ledger")
        store = await self._open_vector_store()
        self.store = guarded(store, vectors, free=("is_there", "sleep"), overdue=OVERDUE) if store else None
        self.profiles = FileProfiles(data_dir, settings.profile.revision_keep, clock, settings.zone, disk=self.disk)
        self.chat_models = await chat_models_of(live, data_dir / "prompts", self.meter, stack, chat, tally=self.tally)
        self.breakers = (
            *(self.embedding.breaker, vectors, self.reading),
            *self.reranking.breakers,
            *self.chat_models.breakers,
        )

    async def _open_ledger(self) -> Ledger:
        """Open the ledger; later writes are refused if its file was deleted or replaced."""
        return_large_blocks()
        path = self.data_dir / LEDGER
        await asyncio.to_thread(refuse_lost_ledger, self.data_dir)
        if await asyncio.to_thread(is_blank, path):
            await asyncio.to_thread(keep_summaries, self.data_dir, self.disk)
        ledger = await Ledger.open(path, clock=self.clock, check=self.owner.check)
        self.resources.push_async_callback(ledger.close)
        await asyncio.to_thread(self.owner.watch, path)
        await asyncio.to_thread(forget_consent_to_begin_anew, self.data_dir)
        return ledger

    async def _open_vector_store(self) -> ChromaStore | None:
        """Return the vector store, which runs only while it is needed; None if only exact search is configured."""
        wanted, folder = self.settings.current.vector_store, self.data_dir / "chromadb"
        if wanted.url or wanted.backend == "exact":
            await asyncio.to_thread(clear_generations, folder)
        if wanted.backend == "exact":
            return None
        store = ChromaStore(folder, wanted)
        self.resources.push_async_callback(store.close)
        return store

    def compose(self) -> None:
        """Build the use cases; where one must react to another's work, a callback connects them here."""
        live, settings, ledger, clock = self.settings, self.settings.current, self.ledger, self.clock
        embedder, models = self.embedder, self.chat_models
        self.consent = Consent(ledger.consent, ledger.names, ledger.eraser, ledger.incognito, clock.now)
        self.watch.on_brought_back = self.consent.load
        self.access = ReadAccess(self.consent, live)
        names = CurrentNames(ledger.names)
        self.memos = MemoWriter(ledger.notes, self.mirror)
        self.pinboard = Pinboard(ledger.notes, clock)

        store = self.store
        self.reconciler = store and IndexReconciler(store, ledger.vectors, ledger.book, embedder.fingerprint)
        self.indexer = Indexer(
            embedder,
            ledger.vectors,
            on_stored=self.reconciler.nudge if self.reconciler else lambda: None,
            batch=settings.models.embedding.batch_size,
        )
        self.name_observer = NameObserver(
            ledger.names,
            Renaming(self.profiles, ledger.profiles),
            clock,
            on_changed=self._note_names,
        )
        self.buffer = MessageBuffer(ledger.log, self.name_observer)
        self.profile_indexer = ProfileIndexer(self.profiles, ledger.profiles, embedder)
        self.profile_reader = ProfileReader(
            store=self.profiles,
            index=ledger.profiles,
            embedder=embedder,
            access=self.access,
            settings=live,
            facts=ledger.facts,
            names=names,
        )
        self.history = ProfileHistory(
            store=self.profiles,
            index=ledger.profiles,
            reader=self.profile_reader,
            access=self.access,
            clock=clock,
            on_restored=self.profile_indexer.nudge,
            events=ledger.event_eraser,
        )

        self.beliefs = BeliefKeeping(ledger.beliefs, clock)
        self.belief_indexer = BeliefIndexer(ledger.beliefs, embedder)
        belief_search = BeliefSearch(ledger.beliefs, embedder, live)
        sources = Sources(
            ledger,
            embedder,
            clock,
            self.access,
            self.profile_reader,
            belief_search,
            self.reconciler,
            self.reranking.reranker,
        )
        self.recall = Recall(
            sources,
            live,
            waiting_memos=self.queue.waiting_memos,
            flush=self.buffer.flush,
            tally=self.tally,
            guarded=self.reading.call,
        )
        self.evolver = Evolver(
            model=models.evolver,
            ledger=ledger,
            consent=self.consent,
            settings=live,
            clock=clock,
            flush=self.buffer.flush,
            on_stored=self.belief_indexer.nudge,
        )
        self.evolution_rounds = EvolutionRounds(
            evolver=self.evolver,
            book=ledger.beliefs,
            consent=self.consent,
            settings=live,
            clock=clock,
            may_call=lambda: models.evolver is not None and models.budget.bears(EVOLUTION),
        )
        self.suggesting = Suggesting(
            events=ledger.events,
            decisions=ledger.decisions,
            beliefs=ledger.beliefs,
            embedder=embedder,
            access=self.access,
            settings=live,
            clock=clock,
            named=names.of_events,
            on_stored=self.belief_indexer.nudge,
            model=models.evolver,
        )

        self.merging = ProfileMerging(
            EntityMerge(
                merger=models.merger,
                store=self.profiles,
                index=ledger.profiles,
                book=ledger.facts,
                names=ledger.names,
                settings=live,
                clock=clock,
                name_of=self._name_of,
                is_left_out=lambda key: key.user_id in self.consent.opted_out,
                on_written=self._note_profile_written,
            ),
            is_learning=lambda: self.queue.counts().pending > 0,
        )
        self.worker = HistorianWorker(
            self.queue,
            Pipeline(
                historian=models.historian,
                events=ledger.events,
                log=ledger.log,
                memos=self.memos,
                name_observer=self.name_observer,
                consent=self.consent,
                neighbourhood=RepeatedEvents(ledger.facts, ledger.corpora),
                surroundings=DialogueContext(ledger.log, ledger.events, self.consent),
                settings=live,
                asks_model=models.has_model,
            ),
            live,
            on_stored=self.note_stored,
        )
        self.intake = Intake(
            queue=self.queue,
            events=ledger.events,
            memos=self.memos,
            buffer=self.buffer,
            consent=self.consent,
            settings=live,
            clock=clock,
            admission=Admission(live),
            on_queued=self.worker.nudge,
            on_withdrawn=self.merging.nudge,
        )
        self.takeover = SummaryTakeover(
            self.data_dir,
            None if settings.isolate_bots else settings.agent,
            self.import_file,
            self.disk,
        )

        self.purge = Purge(ledger.eraser, clock, self._rebuild_afresh)
        around = ErasureSurroundings(
            buffer=self.buffer,
            profiles=self.profiles,
            purge=self.purge,
            suspended=self._suspended,
            remove_from_index=self._unindex,
            refresh=self._refresh_profiles,
        )
        self.forgetting = PermanentErasure(
            ledger=ledger,
            around=around,
            queue=self.queue,
            mirror=self.mirror,
            consent=self.consent,
            clock=self.watch,
        )
        self.event_forgetting = EventForgetting(
            events=ledger.events,
            eraser=ledger.event_eraser,
            around=around,
            clock=clock,
            horizon=self.watch.horizon,
            on_changed=self.merging.nudge,
        )
        self.event_correcting = EventCorrecting(ledger.events, self.consent, live)
        self.upkeep = LogPruning(ledger.log, live, self.watch.horizon, self._erase_due)
        self.integrity = IntegrityWatch(ledger.examiner)

        self.reads = Reads(
            access=self.access,
            names=names,
            recall=self.recall,
            event_ledger=ledger.events,
            buffer=self.buffer,
            profile_reader=self.profile_reader,
            history=self.history,
            pinboard=self.pinboard,
            beliefs=self.beliefs,
            belief_search=belief_search,
            suggesting=self.suggesting,
            event_eraser=ledger.event_eraser,
            tally=self.tally,
        )
        self.listings = Listings(
            self.access,
            names,
            ledger.listings,
            ledger.events,
            ledger.log,
            ledger.missed,
            clock,
            self.recall,
        )
        self.reporting = Reporting(
            ledger=ledger.quality,
            names=ledger.names,
            facts=ledger.facts,
            consent=self.consent,
            settings=live,
            clock=clock,
            counts=self._job_counts,
            lag=self.indexer.lag,
            missed=ledger.missed,
        )

    @property
    def loops(self) -> list[BackgroundLoop]:
        """The loops that run whenever the memory is open."""
        own = self.buffer.loop, self.name_observer.loop, self.upkeep.loop, self.integrity.loop
        return [*own, self.mirror.loop, self.meter.loop, self.watch.loop, self.tally.loop]

    @property
    def learning_loops(self) -> list[BackgroundLoop]:
        """The loops that run while the memory forms new memories, beside those of worker and merging."""
        calibrating = self.embedding.calibrating
        own = self.takeover.loop, self.profile_indexer.loop, self.indexer.loop, self.belief_indexer.loop
        return [*own, *(one.loop for one in (self.reconciler, calibrating) if one)]

    def start(self) -> None:
        """Start the background loops; with ``enabled=false`` only those of log, names, memos and housekeeping."""
        if self._is_started:
            return
        self._is_started = True
        for loop in self.loops:
            loop.start()
        if self.settings.current.enabled:
            self.worker.start()
            self.merging.start()
            for loop in self.learning_loops:
                loop.start()

    async def stop(self) -> None:
        """Stop the loops; running jobs get ``shutdown_seconds`` to end."""
        self._is_started = False
        await asyncio.gather(self.worker.stop(), self.merging.stop())
        await asyncio.gather(*(loop.stop() for loop in (*self.loops, *self.learning_loops)))
        await self.buffer.flush()

    async def close(self) -> None:
        """Stop the loops, then release files and directory, also if stopping fails."""
        async with self.resources:
            try:
                await self.stop()
            finally:
                await self.purge.close()

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
        """Wait until no job waits, no merge is due and no vector is missing; shorten the loops' pauses meanwhile.

        While the memory is disabled no job runs; then return whether the captured messages could be written.
        """
        is_written, pause = await self.buffer.flush(), POLL
        if not self.settings.current.enabled:
            return is_written
        while not await self._is_idle():
            self._wake_loops()
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, LONGEST_POLL)
        await self.meter.flush()
        return True

    async def _is_idle(self) -> bool:
        if not self.worker.is_idle or await self.takeover.is_due():
            return False
        lags = [self.indexer.lag, self.profile_indexer.has_lag, self.belief_indexer.has_lag]
        if self.reconciler:
            lags.append(self.reconciler.lag)
        try:
            if not self.merging.is_idle or await self.merging.waiting():
                return False
            for lag in lags:
                if await lag():
                    return False
        except UnavailableError:
            return False
        return True

    def _wake_loops(self) -> None:
        """Wake the loops of the first stage that has work, and no later ones, so that these batch its output."""
        self.worker.nudge()
        if self.worker.is_idle:
            self.merging.wake_now()
            if self.merging.is_idle:
                for loop in (self.indexer, self.profile_indexer, self.belief_indexer, self.reconciler):
                    if loop:
                        loop.wake_now()

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
            self.ledger.archive, path, profiles=self.profiles, is_excluded=self.consent.keeps_out
        )
        await self.consent.load()
        await self.profile_indexer.refresh()
        self.profile_reader.forget()
        self.recall.sources.known.drop()
        self.indexer.nudge()
        if self.reconciler:
            self.reconciler.nudge()
        return absorbed

    def _name_of(self, key: ProfileKey) -> str:
        """Return the latest name of a group or, if profiles are shared between places, of a person; else ""."""
        is_wanted = key.entity_type == "group" or self.settings.current.sharing == "shared"
        return self.name_observer.name_of(key) if is_wanted else ""

    def _note_names(self, scopes: Iterable[Scope]) -> None:
        self.recall.sources.known.drop(scopes)

    def _note_profile_written(self) -> None:
        self.profile_reader.forget()
        self.profile_indexer.nudge()

    @asynccontextmanager
    async def _suspended(self) -> AsyncGenerator[None, None]:
        """Keep jobs, merges, evolution, decisions on suggestions and the takeover from running meanwhile."""
        async with AsyncExitStack() as stack:
            for work in (self.worker, self.merging, self.evolver, self.suggesting, self.takeover):
                await stack.enter_async_context(work.suspended())
            yield

    async def _unindex(self, event_ids: Sequence[str]) -> None:
        self.note_stored()  # reworded texts have no vector, and profiles that lost a place are merged anew
        if self.reconciler:
            await self.reconciler.remove_from_index(event_ids)

    async def _refresh_profiles(self, keys: Sequence[ProfileKey]) -> None:
        for key in keys:
            await taken_in(self.profiles, self.ledger.profiles, key)
        self.name_observer.forget(keys)
        self.profile_reader.forget()

    async def _rebuild_afresh(self) -> None:
        if self.reconciler:
            await self.reconciler.rebuild(afresh=True)

    async def _erase_due(self) -> None:
        await self.event_forgetting.erase_expired()
        await self.consent.erase_ended(self.clock.now())
        await self.purge.run_if_due()

    async def _job_counts(self) -> QueueCounts:
        return self.queue.counts()


def _transfer() -> ModuleType:
    from . import transfer  # noqa: PLC0415  # only needed for export, import and backup

    return transfer
