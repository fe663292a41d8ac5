"""Composition root: the one file that knows every adapter. Returns parts; knows no façade."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from .adapters.files.directory_owner import DirectoryOwner
from .adapters.files.end_summaries import EndSummaries
from .adapters.files.queue import FileQueue
from .adapters.foreign_embedder import ForeignEmbedder
from .adapters.offline.hashing import HashingEmbedder
from .adapters.offline.rules import RuleHistorian
from .adapters.sqlite import SqliteLedger
from .ports.ambient import Clock
from .ports.ledger import (
    Accounts,
    Archive,
    ConsentBook,
    EventLedger,
    LexicalIndex,
    MessageLog,
    NameBook,
    NoteBook,
    VectorLedger,
)
from .ports.mirror import MemoMirror
from .ports.models import Embedder, Historian
from .ports.queue import JobQueue, QueueView
from .ports.vectors import VectorIndex
from .settings import Settings

GRACE = 5.0  # seconds beyond shutdown_seconds that a dying predecessor is given to let go of the directory


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Give the present instant, in UTC."""
        return datetime.now(timezone.utc)


@dataclass(frozen=True)
class Parts:
    """Everything that the memory is put together from."""

    clock: Clock
    queue: JobQueue
    view: QueueView
    events: EventLedger
    lexical: LexicalIndex
    shelf: VectorLedger
    index: VectorIndex
    log: MessageLog
    notes: NoteBook
    consent: ConsentBook
    names: NameBook
    accounts: Accounts
    archive: Archive
    mirror: MemoMirror
    embedder: Embedder
    historian: Historian
    resources: AsyncExitStack


async def parts_of(
    settings: Settings, data_dir: Path, *, clock: Clock | None = None, embedder: Embedder | None = None
) -> Parts:
    """Open everything under a data directory, as its owner; after DirectoryInUse or StorageRefused nothing is held."""
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        owner = DirectoryOwner(data_dir)
        await owner.acquire(settings.historian.shutdown_seconds + GRACE)
        stack.callback(owner.release)
        ledger = await SqliteLedger.open(data_dir / "ledger.db", clock=clock)
        stack.push_async_callback(ledger.close)
        embedder = ForeignEmbedder(embedder) if embedder else HashingEmbedder()
        ledger.index.follow(embedder.fingerprint)
        queue = await FileQueue.open(data_dir / "queues", settings.queue, clock)
        stack.push_async_callback(queue.close)
        await queue.recover()
        mirror = EndSummaries(data_dir / "end_summaries.json", clock)
        stack.push_async_callback(mirror.flush)
        return Parts(
            clock,
            queue,
            queue,
            ledger.events,
            ledger.lexical,
            ledger.shelf,
            ledger.index,
            ledger.log,
            ledger.notes,
            ledger.consent,
            ledger.names,
            ledger.accounts,
            ledger.archive,
            mirror,
            embedder,
            RuleHistorian(settings.zone),
            stack.pop_all(),
        )
