"""What is open: the files of a data directory, and what takes messages in and reads them, composed here."""

from __future__ import annotations

import asyncio
import ctypes
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from .. import sentences
from ..consent import Consent
from ..directory_owner import LEDGER, LOCK, DirectoryOwner
from ..disk import Disk
from ..end_summaries import EndSummaries
from ..errors import UnavailableError
from ..evolution.beliefs import BeliefKeeping
from ..historian.admission import Admission
from ..historian.clock_watch import ClockWatch
from ..historian.intake import Intake
from ..historian.message_buffer import MessageBuffer
from ..historian.name_observer import NameObserver
from ..migration.layout import SUMMARIES, keep_summaries
from ..models.breaker import Breaker
from ..models.embedding import embedding_of
from ..models.lent_models import Lend, Lender
from ..models.reranking import reranking_of
from ..models.spending import Budget
from ..ports import Clock, Embedder, Reranker, SystemClock
from ..profiles.files import FileProfiles
from ..queue.job_queue import FileQueue
from ..recall.beliefs_and_profiles import BeliefSearch, ProfileReader
from ..recall.names import CurrentNames
from ..recall.one_pass import Sources
from ..recall.recall import Recall
from ..settings.schema import Live, Settings
from ..store.database.migrations import MAGIC, copies_of, is_blank
from ..store.ledger import Ledger
from ..store.quality import QualityTally
from ..tasks import BackgroundLoop
from ..vectors.chroma.location import clear_generations
from ..vectors.chroma.store import ChromaStore
from ..vectors.reconciler import IndexReconciler

NEW_LEDGER = "ledger.new"  # an empty file with which the operator requests a new ledger despite remains of an older one
GRACE = 5.0  # seconds beyond shutdown_seconds that the former owner gets to release the directory
LARGE = 1024 * 1024  # bytes; glibc's own bound rises to 32 MB with the first large block that is freed
HEAPS = 2  # for all threads together: each heap keeps what any thread ever freed in it
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # mallopt's numbers in malloc.h


@dataclass(eq=False)
class Opened:
    """The stores of an open memory, and the parts that take messages in and answer reads; ``Learning`` is built on it.

    Created for one data directory, with what the caller gives in place of what the settings name. :meth:`open` opens
    the stores and builds what stands over them; both steps start nothing.
    """

    settings: Live[Settings]
    data_dir: Path
    clock: Clock = field(default_factory=SystemClock)
    given_embedder: Embedder | None = None
    given_reranker: Reranker | None = None
    lend: Lend | None = None
    lender: Lender | None = None
    resources: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Each is closed, the last one first, also if closing another one fails."""

    async def open(self) -> None:
        """Open the data directory as its only owner; the caller must close ``resources``, also if this raises."""
        await self.open_stores()
        self.compose()
        await self.consent.load()
        await self.memos.flush()

    async def open_stores(self) -> None:
        """Open what needs the disk or a model, in the order in which it must be closed the other way round."""
        settings, data_dir, stack, clock = self.settings.current, self.data_dir, self.resources, self.clock
        self.owner = owner = DirectoryOwner(data_dir)
        await owner.acquire(settings.historian.shutdown_seconds + GRACE)
        stack.callback(owner.release)
        self.disk = Disk(owner.check)
        self.ledger = ledger = await self._open_ledger()
        self.watch = ClockWatch(clock, ledger.housekeeping)
        await self.watch.load()
        stack.push_async_callback(self.watch.close)
        self.tally = QualityTally(ledger.quality, clock, settings.zone)
        stack.push_async_callback(self.tally.flush)
        self.budget = Budget(ledger.housekeeping, clock, self.settings)
        stack.push_async_callback(self.budget.flush)
        await self.budget.load()
        self.lender = Lender(self.lend, is_new=await ledger.housekeeping.may_borrow()) if self.lend else None
        models = await self.lender.beside(settings.models) if self.lender else settings.models
        lender = self.lender.last.lender if self.lender and self.lender.last else ""
        self.embedder = await embedding_of(
            models.embedding,
            ledger,
            self.budget.count,
            stack,
            data_dir=data_dir,
            given=self.given_embedder,
            lender="" if models.embedding is settings.models.embedding else lender,
        )
        ledger.corpora.follow(self.embedder.fingerprint)
        self.reranking = await reranking_of(
            models.rerank,
            self.budget.count,
            stack,
            data_dir=data_dir,
            given=self.given_reranker,
            lender="" if models.rerank is settings.models.rerank else lender,
        )
        self.queue = await FileQueue(
            data_dir / "queues", settings.queue, clock, disk=self.disk, horizon=self.watch.horizon
        ).opened()
        stack.push_async_callback(self.queue.close)
        await self.queue.recover()
        self.memos = EndSummaries(ledger.notes, data_dir / "end_summaries.json", clock, disk=self.disk)
        stack.push_async_callback(self.memos.flush)
        vectors, self.reading = Breaker("vectors"), Breaker("ledger")
        self.store = await self._open_vector_store(vectors)
        self.profiles = FileProfiles(
            data_dir,
            settings.profile.revision_keep,
            clock,
            settings.zone,
            disk=self.disk,
            without_gone=ledger.without_gone,
        )
        reranking = [self.reranking.breaker] if self.reranking else []
        self.breakers = (self.embedder.breaker, vectors, self.reading, *reranking)

    async def _open_ledger(self) -> Ledger:
        """Open the ledger; later writes are refused if its file was deleted or replaced."""
        return_large_blocks()
        path = self.data_dir / LEDGER
        await asyncio.to_thread(refuse_lost_ledger, self.data_dir)
        is_new = await asyncio.to_thread(is_blank, path)
        if is_new:
            await asyncio.to_thread(keep_summaries, self.data_dir, self.disk)
        ledger = await Ledger.open(path, clock=self.clock, check=self.owner.check)
        self.resources.push_async_callback(ledger.close)
        if is_new and not await asyncio.to_thread((self.data_dir / SUMMARIES).exists):  # an older system left it
            await ledger.housekeeping.note_borrowing()
        await asyncio.to_thread(self.owner.watch, path)
        with suppress(OSError):
            await asyncio.to_thread((self.data_dir / NEW_LEDGER).unlink)  # it is valid for one start
            await ledger.consent.note_unknown(self.clock.now())
        return ledger

    async def _open_vector_store(self, breaker: Breaker) -> ChromaStore | None:
        """Return the vector store, which runs only while it is needed; None if only exact search is configured."""
        wanted, folder = self.settings.current.vector_store, self.data_dir / "chromadb"
        if wanted.url or wanted.backend == "exact":
            await asyncio.to_thread(clear_generations, folder)
        if wanted.backend == "exact":
            return None
        store = ChromaStore(folder, wanted, breaker=breaker)
        self.resources.push_async_callback(store.close)
        return store

    def compose(self) -> None:
        """Build the parts that take messages in and answer reads; ``Learning`` sets their callbacks later."""
        live, ledger, clock, embedder = self.settings, self.ledger, self.clock, self.embedder
        self.consent = Consent(ledger, live, clock.now)
        self.watch.on_brought_back = self.consent.load
        self.names = CurrentNames(ledger.names)
        store = self.store
        self.reconciler = store and IndexReconciler(store, ledger.vectors, embedder.fingerprint)
        self.name_observer = NameObserver(
            ledger.names, self.profiles, ledger.profiles, clock, on_changed=self.names.drop
        )
        self.buffer = MessageBuffer(ledger.log, self.name_observer)
        self.profile_reader = ProfileReader(
            store=self.profiles,
            index=ledger.profiles,
            embedder=embedder,
            consent=self.consent,
            settings=live,
            facts=ledger.facts,
            names=self.names,
        )
        self.belief_search = BeliefSearch(ledger.beliefs, embedder, live, self.consent)
        self.recall = Recall(
            Sources(
                ledger,
                embedder,
                clock,
                self.consent,
                self.names,
                self.profile_reader,
                self.belief_search,
                self.reconciler and self.reconciler.nearest,
                self.reranking,
            ),
            live,
            waiting_memos=self.queue.waiting_memos,
            flush=self.buffer.flush,
            tally=self.tally,
            guarded=self.reading.call,
        )
        self.beliefs = BeliefKeeping(ledger.beliefs, clock)
        self.on_restored: Callable[[], None] = lambda: None
        self.intake = Intake(
            queue=self.queue,
            events=ledger.events,
            memos=self.memos,
            buffer=self.buffer,
            consent=self.consent,
            settings=live,
            clock=clock,
            admission=Admission(live),
        )
        self.resources.push_async_callback(self.buffer.flush)

    @property
    def loops(self) -> list[BackgroundLoop]:
        """The loops that write what was taken in."""
        own = self.buffer.loop, self.memos.loop
        return [*own, self.budget.loop, self.watch.loop, self.tally.loop]


def return_large_blocks() -> None:
    """From now on, allocate each block of a megabyte or more in its own memory mapping; no effect without glibc.

    Vectors and postings are copied as they grow: without this the process would keep the memory of the largest copies.
    """
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018  # other libraries number their options otherwise
        libc.mallopt(_MMAP_THRESHOLD, LARGE)
        libc.mallopt(_ARENA_MAX, HEAPS)


def refuse_lost_ledger(data_dir: Path) -> None:
    """Raise UnavailableError if there is no ledger, but files exist that prove that there was one; blocking.

    Jobs, end_summaries.json, settings and templates prove nothing: they may exist before the first start. If the
    operator requested a new ledger, nothing is raised, and an old WAL file is renamed to a name under which the next
    purge deletes it.
    """
    ledger, wal = data_dir / LEDGER, data_dir / f"{LEDGER}-wal"
    if not is_blank(ledger):
        return
    kept = [copy for copy in copies_of(ledger) if copy.suffix == ".db" and _is_ledger(copy)]  # by migrations
    traces = [copy.name for copy in kept]
    with suppress(OSError):
        if wal.stat().st_size:
            traces.insert(0, wal.name)
    if any(data_dir.glob("profiles/**/*.md")) or any(data_dir.glob("agents/*/profiles/**/*.md")):
        traces.append("profiles/")
    if any(data_dir.glob("chromadb/[0-9][0-9][0-9][0-9]*")):
        traces.append("chromadb/")
    if not traces:
        return
    if not (data_dir / NEW_LEDGER).exists():
        with suppress(OSError):  # backups stand in sibling directories, which have no lock file
            for place in sorted(data_dir.absolute().parent.iterdir()):
                if _is_ledger(place / LEDGER) and not (place / LOCK).exists():
                    kept.append(place / LEDGER)  # noqa: PERF401  # those before an error are named
        copies = "、".join(map(str, kept))
        raise UnavailableError(sentences.storage_errors.ledger_lost(ledger, "、".join(traces), copies, NEW_LEDGER))
    with suppress(FileNotFoundError):
        wal.replace(data_dir / "ledger.v0.db-wal")


def _is_ledger(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
