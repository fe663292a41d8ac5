"""F30: rows that the vector store lost, or holds although they are unknown, are found and repaired."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from array import array
from dataclasses import replace
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import Draft
from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from cognitive_memory_core.vectors.reconciler import IndexReconciler

from ..chroma_world import MODEL, known_rows
from ..fault_row import Extent, Row

DIMENSIONS = 64


def f30(extent: Extent) -> Row:
    """Remove rows from an index and add foreign ones, in several rounds; count what was not found or not repaired."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return asyncio.run(_drifted(Path(folder), extent.of(5_000, 400), extent.of(10, 2), random.Random(extent.seed)))


async def _drifted(folder: Path, count: int, rounds: int, dice: random.Random) -> Row:
    ledger = await Ledger.open(folder / "ledger.db")
    store = ChromaStore(folder / "chromadb", core.VectorStoreSettings())
    follower = IndexReconciler(store, ledger.vectors, MODEL)
    injected = wrong = lost = 0
    slowest = 0.0
    try:
        await _filled(ledger, count)
        await follower.follow()
        for number in range(rounds):
            struck = await _struck(store, await ledger.vectors.embedded_ids(MODEL), number, dice)
            started = time.perf_counter()
            found = await follower.reconcile()
            await follower.follow()
            slowest = max(slowest, time.perf_counter() - started)
            generation = await store.open()
            assert generation is not None
            left = await store.listed(generation) ^ await ledger.vectors.embedded_ids(MODEL)
            injected, wrong, lost = injected + struck, wrong + abs(found - struck), lost + len(left)
    finally:
        await store.close()
        await ledger.close()
    note = f"found {'all' if not wrong else f'{wrong} more or fewer than there were'}; seconds: to mend {count} rows"
    return Row(injected, lost, 0, 0, slowest, note, failed=bool(wrong))


async def _filled(ledger: Ledger, count: int) -> None:
    rows = known_rows(count, DIMENSIONS)
    for start in range(0, count, 500):
        part = rows[start : start + 500]
        await ledger.events.commit(Draft(f"job{start}", tuple(row.event for row in part)))
        await ledger.vectors.store(MODEL, [(row.event.id, row.event.text, row.vector or array("f")) for row in part])


async def _struck(store: ChromaStore, known: frozenset[str], number: int, dice: random.Random) -> int:
    """Remove some rows (every third time too many for single repairs), and add foreign rows."""
    generation = await store.open()
    assert generation is not None
    share = 0.2 if number % 3 == 2 else 0.03
    gone = dice.sample(sorted(known), int(len(known) * share))
    await store.remove(generation, gone)
    strangers = [_stranger(row, number) for row in known_rows(20, DIMENSIONS)]
    await store.upsert(generation, strangers)
    return len(gone) + len(strangers)


def _stranger(row: EmbeddedEvent, number: int) -> EmbeddedEvent:
    return replace(row, event=replace(row.event, id=f"stranger-{number}-{row.event.id}"))
