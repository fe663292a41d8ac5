"""Tests of finding rows of a vector index that are listed but cannot be found by search."""

from __future__ import annotations

import random
from array import array
from collections.abc import Sequence
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.ports.vectors import EmbeddedEvent, Generation
from cognitive_memory_core.vectors.reconciler import SLICE, IndexReconciler
from tests.support.builders import an_event
from tests.support.ledgers import MODEL, Ledger, a_ledger, embedded
from tests.support.vector_store import InMemoryVectorStore
from tests.support.waiting import until

ROWS = 200
TOGETHER = 10  # rows written together


class Asked(InMemoryVectorStore):
    """A store that records its searches and refuses some of them."""

    def __init__(self) -> None:
        """Have no searches yet."""
        super().__init__()
        self.asked: list[bytes] = []
        self.refused: set[bytes] = set()
        self.begun = 0

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Count the generations; a new one refuses no search."""
        self.begun += 1
        self.refused = set()
        return await super().begin(fingerprint, dimensions)

    async def nearest(self, generation: Generation, vector: Vector, *how: Any) -> list[tuple[str, float]]:
        """Record the search."""
        self.asked.append(vector.tobytes())
        if vector.tobytes() in self.refused:
            raise UnavailableError("died")
        return await super().nearest(generation, vector, *how)


def some_vector(number: int) -> Vector:
    """Return a random vector."""
    dice = random.Random(number)
    return array("f", [dice.gauss(0, 1) for _ in range(16)])


async def indexed(store: InMemoryVectorStore) -> tuple[Ledger, list[Event]]:
    """Index events with different vectors in small batches."""
    ledger = a_ledger()
    events = [an_event(f"第 {number} 件事") for number in range(ROWS)]
    for start in range(0, ROWS, TOGETHER):
        part = range(start, start + TOGETHER)
        await embedded(ledger, [(events[number], some_vector(number)) for number in part])
    await follower_of(ledger, store).follow()
    return ledger, events


def follower_of(ledger: Ledger, store: InMemoryVectorStore, **how: Any) -> IndexReconciler:
    """Return the reconciler of a ledger and a store."""
    return IndexReconciler(store, ledger.vectors, ledger.book, MODEL, **how)


async def tear(store: InMemoryVectorStore, events: Sequence[Event]) -> None:
    """Replace the vectors of rows that stay listed."""
    generation = await store.open()
    assert generation is not None
    torn = [EmbeddedEvent(event, MODEL, some_vector(10_000 + number)) for number, event in enumerate(events)]
    await store.upsert(generation, torn)


async def examined(follower: IndexReconciler) -> int:
    """Run the check until its daily amount is done; return the number of checked rows."""
    total = 0
    while asked := await follower.examine():
        total += asked
    return total


@pytest.mark.parametrize("part", [slice(0, 8), slice(ROWS // 2 - 8, ROWS // 2 + 12), slice(-8, None)])
async def test_opening_notices_damage_at_both_ends_and_in_the_middle(part: slice) -> None:
    """A generation that lost its first, last or middle rows is rejected when it is opened."""
    store = Asked()
    ledger, events = await indexed(store)
    await tear(store, events[part])
    await follower_of(ledger, store).follow()
    assert store.begun == 2


async def test_every_row_is_asked_for_in_the_end() -> None:
    """A damaged range of rows that no sample meets is found by the full check, and the index is rebuilt."""
    store = Asked()
    ledger, events = await indexed(store)
    await tear(store, events[33:37])
    follower = follower_of(ledger, store)
    await follower.follow()
    assert store.begun == 1
    await examined(follower)
    with pytest.raises(UnavailableError):
        await follower.nearest(some_vector(1), None, 5)  # type: ignore[arg-type]  # nobody looks at it
    await follower.follow()
    assert store.begun == 2
    assert await examined(follower) == ROWS
    assert store.begun == 2


async def test_a_single_row_that_is_astray_is_written_anew() -> None:
    """A single row that search does not find is written again without a rebuild."""
    store = Asked()
    ledger, events = await indexed(store)
    await tear(store, events[57:58])
    follower = follower_of(ledger, store)
    await follower.follow()
    await examined(follower)
    await follower.follow()
    store.asked.clear()
    assert await examined(follower_of(ledger, store)) == 0  # it has no open generation
    restarted = follower_of(ledger, store)
    await restarted.follow()
    assert await examined(restarted) == ROWS
    assert store.begun == 1


async def test_a_restart_goes_on_where_the_last_process_stopped_asking() -> None:
    """After a restart the check continues without repeating or skipping rows."""
    store = Asked()
    ledger, _ = await indexed(store)
    first = follower_of(ledger, store)
    await first.follow()
    assert await first.examine() == SLICE
    second = follower_of(ledger, store)
    await second.follow()
    store.asked.clear()
    assert await examined(second) == ROWS - SLICE
    assert len(set(store.asked)) == ROWS - SLICE


async def test_each_day_asks_for_more() -> None:
    """The number of rows checked per day is limited, and after all rows the check starts again."""
    store = Asked()
    ledger, _ = await indexed(store)
    follower = follower_of(ledger, store, checked_a_day=4 * SLICE)
    await follower.follow()
    every = {some_vector(number).tobytes() for number in range(ROWS)}
    store.asked.clear()
    for day in range(1, 4):
        assert await examined(follower) == min(4 * SLICE, ROWS - (day - 1) * 4 * SLICE)
        await follower.reconcile()
    assert set(store.asked) == every
    assert await examined(follower) == 4 * SLICE


async def test_the_follower_asks_by_itself() -> None:
    """The reconciler checks all rows of a small index soon after it was opened, even without new rows."""
    store = Asked()
    ledger, events = await indexed(store)
    follower = follower_of(ledger, store)
    await follower.follow()
    await tear(store, events[33:37])
    follower.loop.start()
    await until(lambda: _again(follower, store))
    await follower.loop.stop()


def _again(follower: IndexReconciler, store: Asked) -> bool:
    follower.wake_now()
    return store.begun == 2


async def test_a_row_at_which_the_store_dies_leads_to_the_next_generation() -> None:
    """If checking a row ends the store, the index is rebuilt after some days without constant retries."""
    store = Asked()
    ledger, _ = await indexed(store)
    follower = follower_of(ledger, store)
    await follower.follow()
    store.refused = {some_vector(30).tobytes()}
    for _ in range(2):
        assert await examined(follower) in (0, SLICE)
        await follower.reconcile()
    await examined(follower)
    await follower.follow()
    assert store.begun == 2
