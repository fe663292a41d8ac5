"""Opens everything under a data directory."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from ..background import BackgroundLoop
from ..cancellation import released_on_failure
from ..disk import DirectoryOwner, Disk
from ..end_summaries import EndSummaries
from ..historian.clock_watch import ClockWatch
from ..migration.takeover import keep_summaries
from ..models.breaker import OVERDUE, Breaker, guarded
from ..models.embedding import Embedding, embedding_of
from ..models.reranking import Reranking, reranking_of
from ..models.spending import SpendingMeter
from ..ports.clock import Clock
from ..ports.supplied_components import SuppliedParts
from ..ports.vectors import SleepingStore
from ..profiles.files import FileProfiles
from ..quality.counting import QualityTally
from ..queue.job_queue import FileQueue
from ..settings import Live, Settings, VectorStoreSettings
from ..store.database.migrations import is_blank
from ..store.ledger import Ledger
from ..store.malloc_tuning import return_large_blocks
from ..vectors.chroma.generations_on_disk import clear_generations
from ..vectors.chroma.store import ChromaStore
from .chat_models import ChatModels, chat_models_of
from .lost_ledger import LEDGER, forget_consent_to_begin_anew, refuse_lost_ledger

GRACE = 5.0  # seconds beyond shutdown_seconds that the former owner gets to release the directory


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Return the present instant in UTC."""
        return datetime.now(timezone.utc)


@dataclass(frozen=True)
class Adapters:
    """The adapters opened under a data directory.

    The ledger, the queue and the profile store each serve several ports.
    """

    clock: Clock
    watch: ClockWatch
    data_dir: Path
    owner: DirectoryOwner
    ledger: Ledger
    reading: Breaker
    queue: FileQueue
    profiles: FileProfiles
    mirror: EndSummaries
    store: SleepingStore | None
    embedding: Embedding
    reranking: Reranking
    chat_models: ChatModels
    meter: SpendingMeter
    tally: QualityTally
    breakers: tuple[Breaker, ...]
    resources: AsyncExitStack

    @property
    def loops(self) -> tuple[BackgroundLoop, ...]:
        """Return the background loops of the adapters."""
        return self.mirror.loop, self.meter.loop, self.watch.loop, self.tally.loop


async def opened_adapters(live: Live[Settings], data_dir: Path, given: SuppliedParts) -> Adapters:
    """Open everything under a data directory as its owner; on DirectoryInUse or StorageRefused, close it again."""
    settings, clock = live.current, given.clock or SystemClock()
    async with released_on_failure() as stack:
        owner = DirectoryOwner(data_dir)
        await owner.acquire(settings.historian.shutdown_seconds + GRACE)
        stack.callback(owner.release)
        ledger = await _ledger(data_dir, clock, owner, stack)
        watch, tally = await _watch(clock, ledger, stack), _tally(clock, ledger, settings, stack)
        meter = await _meter(clock, ledger, settings, stack)
        embedding = await embedding_of(settings, ledger, meter, stack, clock=clock, given=given.embedder)
        ledger.index.follow(embedding.embedder.fingerprint)
        reranking = await reranking_of(settings.models.rerank, meter, stack, given.reranker)
        disk = Disk(owner.check)
        queue = await FileQueue.open(data_dir / "queues", settings.queue, clock, disk=disk, horizon=watch.horizon)
        await _recovered(queue, stack)
        mirror = _mirror(data_dir, clock, disk, stack)
        store = await _store(settings.vector_store, data_dir / "chromadb", stack)
        profiles = FileProfiles(data_dir, settings.profile.revision_keep, clock, settings.zone, disk=disk)
        chat_models = await chat_models_of(live, data_dir / "prompts", meter, stack, given.chat, tally=tally)
        vectors, reading = Breaker("vectors"), Breaker("ledger")
        return Adapters(
            clock=clock,
            watch=watch,
            data_dir=data_dir,
            owner=owner,
            ledger=ledger,
            reading=reading,
            queue=queue,
            profiles=profiles,
            mirror=mirror,
            store=guarded(store, vectors, free=("is_there", "sleep"), overdue=OVERDUE) if store else None,
            embedding=embedding,
            reranking=reranking,
            chat_models=chat_models,
            meter=meter,
            tally=tally,
            breakers=(embedding.breaker, vectors, reading, *reranking.breakers, *chat_models.breakers),
            resources=stack,
        )


async def _ledger(data_dir: Path, clock: Clock, owner: DirectoryOwner, stack: AsyncExitStack) -> Ledger:
    """Open the ledger; later writes are refused if its file was deleted or replaced."""
    return_large_blocks()
    path = data_dir / LEDGER
    await asyncio.to_thread(refuse_lost_ledger, data_dir)
    if await asyncio.to_thread(is_blank, path):
        await asyncio.to_thread(keep_summaries, data_dir, Disk(owner.check))
    ledger = await Ledger.open(path, clock=clock, check=owner.check)
    stack.push_async_callback(ledger.close)
    await asyncio.to_thread(owner.watch, path)
    await asyncio.to_thread(forget_consent_to_begin_anew, data_dir)
    return ledger


async def _watch(clock: Clock, ledger: Ledger, stack: AsyncExitStack) -> ClockWatch:
    watch = ClockWatch(clock, ledger.clock_book)
    await watch.load()
    stack.push_async_callback(watch.close)
    return watch


async def _meter(clock: Clock, ledger: Ledger, settings: Settings, stack: AsyncExitStack) -> SpendingMeter:
    meter = SpendingMeter(ledger.accounts, clock, settings.zone)
    stack.push_async_callback(meter.flush)
    await meter.load()
    return meter


def _tally(clock: Clock, ledger: Ledger, settings: Settings, stack: AsyncExitStack) -> QualityTally:
    tally = QualityTally(ledger.quality, clock, settings.zone)
    stack.push_async_callback(tally.flush)
    return tally


def _mirror(data_dir: Path, clock: Clock, disk: Disk, stack: AsyncExitStack) -> EndSummaries:
    mirror = EndSummaries(data_dir / "end_summaries.json", clock, disk=disk)
    stack.push_async_callback(mirror.flush)
    return mirror


async def _recovered(queue: FileQueue, stack: AsyncExitStack) -> None:
    stack.push_async_callback(queue.close)
    await queue.recover()


async def _store(vector_store: VectorStoreSettings, folder: Path, stack: AsyncExitStack) -> SleepingStore | None:
    """Return the vector store, which runs only while it is needed; None if only exact search is configured."""
    if vector_store.url or vector_store.backend == "exact":
        await asyncio.to_thread(clear_generations, folder)
    if vector_store.backend == "exact":
        return None
    store = ChromaStore(folder, vector_store)
    stack.push_async_callback(store.close)
    return store
