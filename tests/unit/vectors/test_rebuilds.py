"""Tests that simultaneous requests cause one index build, and one more only after an erasure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from cognitive_memory_core.ports import EmbeddedEvent, Generation
from cognitive_memory_core.vectors.reconciler import IndexReconciler
from tests.support.builders import an_event
from tests.support.ledgers import MODEL, Ledger, a_ledger, a_vector, embedded
from tests.support.vector_store import InMemoryVectorStore


class Gated(InMemoryVectorStore):
    """A store that counts its generations and waits at a gate."""

    def __init__(self) -> None:
        """Open the gate."""
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.waits = asyncio.Event()
        self.begun = 0

    async def open(self) -> Generation | None:
        """Wait at the gate."""
        generation = await super().open()
        await self._pass()
        return generation

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Count the generation."""
        self.begun += 1
        return await super().begin(fingerprint, dimensions)

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Wait at the gate."""
        await self._pass()
        await super().upsert(generation, rows)

    async def _pass(self) -> None:
        self.waits.set()
        await self.gate.wait()


async def filled() -> tuple[Gated, Ledger, IndexReconciler]:
    """Return a reconciler with three rows and a closed gate."""
    store, ledger = Gated(), a_ledger()
    await embedded(ledger, [(an_event(f"第 {number} 件事"), a_vector(1.0, number / 10)) for number in range(3)])
    store.gate.clear()
    return store, ledger, IndexReconciler(store, ledger.vectors, ledger.book, MODEL)


async def turns() -> None:
    """Let every task run until it waits for the gate."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_a_purge_is_not_served_by_a_build_that_began_before_it() -> None:
    """A purge needs a build that started after it; two purges share one."""
    store, _, follower = await filled()
    asked = asyncio.create_task(follower.rebuild())
    await turns()
    purges = [asyncio.create_task(follower.rebuild(afresh=True)) for _ in range(2)]
    store.gate.set()
    store.waits.clear()
    store.gate.clear()
    await store.waits.wait()
    purges += [asyncio.create_task(follower.rebuild(afresh=True)) for _ in range(2)]
    await turns()
    store.gate.set()
    await asyncio.gather(asked, *purges)
    assert store.begun == 2
