"""Opens everything under a data directory and names it by port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from ..adapters.breaker import Breaker, GuardedLexical, GuardedStore
from ..adapters.chroma.leftovers import clear_generations
from ..adapters.chroma.store import ChromaStore
from ..adapters.files.directory_owner import DirectoryOwner
from ..adapters.files.end_summaries import EndSummaries
from ..adapters.files.profiles import FileProfiles
from ..adapters.files.queue import FileQueue
from ..adapters.heap import return_large_blocks
from ..adapters.sqlite import SqliteLedger
from ..background import BackgroundLoop
from ..completion import released_on_failure
from ..disk import Disk
from ..historian.clock_watch import ClockWatch
from ..historian.spending.meter import SpendingMeter
from ..ports.ambient import Clock
from ..ports.ledger import (
    Accounts,
    Archive,
    BoundedLog,
    CheckpointBook,
    ConsentBook,
    Eraser,
    EventEraser,
    FactBook,
    IncognitoBook,
    LexicalIndex,
    NameBook,
    NoteBook,
    ProfileIndex,
    TracedEvents,
    VectorLedger,
)
from ..ports.mirror import MemoMirror
from ..ports.models import Embedder, Reranker
from ..ports.overrides import Overrides
from ..ports.profiles import ProfileEraser, ProfileStore
from ..ports.queue import JobQueue, QueueEraser, QueueView
from ..ports.vectors import SleepingStore
from ..recall.calibration import Calibrating
from ..recall.nearest import ExactSearch
from ..settings import Live, Settings, VectorStoreSettings
from .beginning import LEDGER, forget_consent_to_begin_anew, refuse_lost_ledger
from .embedding import Embedding, embedding_of
from .reranking import Reranking, reranking_of
from .thinkers import Thinkers, thinkers_of

GRACE = 5.0  # seconds beyond shutdown_seconds that the former owner gets to release the directory


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Return the present instant in UTC."""
        return datetime.now(timezone.utc)


@dataclass(frozen=True)
class Parts:
    """The components that a memory is assembled from."""

    clock: Clock
    watch: ClockWatch
    data_dir: Path
    problem: Callable[[], str]  # why nothing may be written into the directory, "" where it may; blocking
    queue: JobQueue
    view: QueueView
    queue_eraser: QueueEraser
    events: TracedEvents
    lexical: LexicalIndex
    shelf: VectorLedger
    exact: ExactSearch
    store: SleepingStore | None
    book: CheckpointBook
    log: BoundedLog
    notes: NoteBook
    consent: ConsentBook
    incognito: IncognitoBook
    names: NameBook
    accounts: Accounts
    archive: Archive
    eraser: Eraser
    event_eraser: EventEraser
    facts: FactBook
    profile_index: ProfileIndex
    profiles: ProfileStore
    profile_eraser: ProfileEraser
    mirror: MemoMirror
    loops: tuple[BackgroundLoop, ...]
    embedder: Embedder
    calibrating: Calibrating | None
    reranker: Reranker | None
    thinkers: Thinkers
    meter: SpendingMeter
    breakers: tuple[Breaker, ...]
    resources: AsyncExitStack


async def parts_of(live: Live[Settings], data_dir: Path, given: Overrides) -> Parts:
    """Open everything under a data directory as its owner; on DirectoryInUse or StorageRefused, release everything."""
    settings, clock = live.current, given.clock or SystemClock()
    return_large_blocks()
    async with released_on_failure() as stack:
        owner = DirectoryOwner(data_dir)
        await owner.acquire(settings.historian.shutdown_seconds + GRACE)
        stack.callback(owner.release)
        ledger = await _ledger(data_dir, clock, owner, stack)
        watch = ClockWatch(clock, ledger.clock_book)
        await watch.load()
        stack.push_async_callback(watch.close)
        meter = SpendingMeter(ledger.accounts, clock, settings.zone)
        stack.push_async_callback(meter.settle)
        await meter.load()
        embedding = await embedding_of(settings, ledger, meter, stack, clock=clock, given=given.embedder)
        ledger.index.follow(embedding.embedder.fingerprint)
        reranking = await reranking_of(settings.models.rerank, meter, stack, given.reranker)
        disk = Disk(owner.check)
        queue = await FileQueue.open(data_dir / "queues", settings.queue, clock, disk=disk, horizon=watch.horizon)
        stack.push_async_callback(queue.close)
        await queue.recover()
        mirror = EndSummaries(data_dir / "end_summaries.json", clock, disk=disk)
        stack.push_async_callback(mirror.flush)
        store = await _store(settings.vector_store, data_dir / "chromadb", stack)
        profiles = FileProfiles(data_dir, settings.profile.revision_keep, clock, settings.zone, disk=disk)
        thinkers = await thinkers_of(live, data_dir / "prompts", meter, stack, given.chat)
        others = _Outside(clock, owner, data_dir, mirror, embedding, reranking, store, profiles, thinkers, meter, watch)
        return _put_together(queue, ledger, others, stack)


@dataclass(frozen=True)
class _Outside:
    """The components beside queue and ledger."""

    clock: Clock
    owner: DirectoryOwner
    data_dir: Path
    mirror: EndSummaries
    embedding: Embedding
    reranking: Reranking
    store: SleepingStore | None
    profiles: FileProfiles
    thinkers: Thinkers
    meter: SpendingMeter
    watch: ClockWatch


def _put_together(queue: FileQueue, ledger: SqliteLedger, outside: _Outside, resources: AsyncExitStack) -> Parts:
    """Assign every component to its port, with a breaker around each that can be unavailable."""
    vectors, words = stores = (Breaker("vectors"), Breaker("ledger"))
    return Parts(
        clock=outside.clock,
        watch=outside.watch,
        data_dir=outside.data_dir,
        problem=outside.owner.problem,
        queue=queue,
        view=queue,
        queue_eraser=queue,
        events=ledger.events,
        lexical=GuardedLexical(ledger.lexical, words),
        shelf=ledger.shelf,
        exact=ledger.index,
        store=GuardedStore(outside.store, vectors) if outside.store else None,
        book=ledger.book,
        log=ledger.log,
        notes=ledger.notes,
        consent=ledger.consent,
        incognito=ledger.incognito,
        names=ledger.names,
        accounts=ledger.accounts,
        archive=ledger.archive,
        eraser=ledger.eraser,
        event_eraser=ledger.event_eraser,
        facts=ledger.facts,
        profile_index=ledger.profiles,
        profiles=outside.profiles,
        profile_eraser=outside.profiles,
        mirror=outside.mirror,
        loops=(outside.mirror.loop, outside.meter.loop, outside.watch.loop),
        embedder=outside.embedding.embedder,
        calibrating=outside.embedding.calibrating,
        reranker=outside.reranking.reranker,
        thinkers=outside.thinkers,
        meter=outside.meter,
        breakers=(outside.embedding.breaker, *stores, *outside.reranking.breakers, *outside.thinkers.breakers),
        resources=resources,
    )


async def _ledger(data_dir: Path, clock: Clock, owner: DirectoryOwner, stack: AsyncExitStack) -> SqliteLedger:
    """Open the ledger; from then on, writes are refused if the file of that name is another one."""
    path = data_dir / LEDGER
    await asyncio.to_thread(refuse_lost_ledger, data_dir)
    ledger = await SqliteLedger.open(path, clock=clock, check=owner.check)
    stack.push_async_callback(ledger.close)
    await asyncio.to_thread(owner.watch, path)
    await asyncio.to_thread(forget_consent_to_begin_anew, data_dir)
    return ledger


async def _store(vector_store: VectorStoreSettings, folder: Path, stack: AsyncExitStack) -> SleepingStore | None:
    """Return the vector store, which runs only while it is needed; None for exact search only."""
    if vector_store.url or vector_store.backend == "exact":
        await asyncio.to_thread(clear_generations, folder)
    if vector_store.backend == "exact":
        return None
    store = ChromaStore(folder, vector_store)
    stack.push_async_callback(store.close)
    return store
