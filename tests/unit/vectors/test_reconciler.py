"""Tests of keeping the vector store equal to the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.figures import IndexState
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import EmbeddedEvent, Generation
from cognitive_memory_core.store.vectors import Checkpoint
from cognitive_memory_core.vectors.chroma.process import ProcessDied
from cognitive_memory_core.vectors.reconciler import IndexReconciler
from tests.support.builders import an_event
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, Ledger, a_ledger, a_vector, committed, embedded
from tests.support.vector_store import InMemoryVectorStore
from tests.support.waiting import until, until_not

EVERYTHING = ReadFilter(Scene.operator())


class TroubledStore(InMemoryVectorStore):
    """A store that can fail and records its requests."""

    def __init__(self) -> None:
        """Work without failures."""
        super().__init__()
        self.is_away = False
        self.is_damaged = False
        self.upserted: list[str] = []
        self.begun = 0

    async def open(self) -> Generation | None:
        """Return the current generation unless it is damaged."""
        self._refuse()
        return None if self.is_damaged else await super().open()

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Count the generations."""
        self._refuse()
        self.begun += 1
        return await super().begin(fingerprint, dimensions)

    async def put_in_use(self, generation: Generation) -> None:
        """Repair the damage."""
        self._refuse()
        self.is_damaged = False
        await super().put_in_use(generation)

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Record the rows."""
        self._refuse()
        self.upserted += [row.event.id for row in rows]
        await super().upsert(generation, rows)

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Raise while unavailable."""
        self._refuse()
        await super().remove(generation, event_ids)

    async def nearest(self, *asked: Any) -> list[tuple[str, float]]:
        """Raise while unavailable."""
        self._refuse()
        return await super().nearest(*asked)

    def _refuse(self) -> None:
        if self.is_away:
            raise UnavailableError("away")


def follower_of(ledger: Ledger, store: InMemoryVectorStore, model: str = MODEL) -> IndexReconciler:
    """Return the reconciler of a ledger and a store."""
    return IndexReconciler(store, ledger.vectors, model)


async def some(ledger: Ledger, count: int, first: int = 1) -> list[Event]:
    """Store events with different vectors."""
    events = [an_event(f"第 {number} 件事") for number in range(first, first + count)]
    await embedded(ledger, [(event, a_vector(1.0, number / 10)) for number, event in enumerate(events, first)])
    return events


async def found(follower: IndexReconciler, limit: int = 100) -> set[str]:
    """Return the ids that the index finds."""
    return {event_id for event_id, _ in await follower.nearest(a_vector(1.0, 0.0), EVERYTHING, limit)}


async def test_an_index_is_built_from_the_ledger_and_then_followed() -> None:
    """Every event with a vector is indexed once, and withdrawn events are removed."""
    ledger, store = a_ledger(), TroubledStore()
    follower = follower_of(ledger, store)
    first = await some(ledger, 3)
    await follower.follow()
    later = await some(ledger, 2, first=4)
    await ledger.eraser.forget(first[0].id, NOON)
    await follower.follow()
    assert await found(follower) == {event.id for event in (*first[1:], *later)}
    assert sorted(store.upserted) == sorted(event.id for event in (*first, *later))
    assert await follower.state() == IndexState(generation=1, activity="awake")


async def test_a_new_process_goes_on_where_the_old_one_stopped() -> None:
    """After a restart indexed rows are not written again."""
    ledger, store = a_ledger(), TroubledStore()
    await some(ledger, 3)
    await follower_of(ledger, store).follow()
    store.upserted.clear()
    later = await some(ledger, 1, first=9)
    restarted = follower_of(ledger, store)
    await restarted.follow()
    assert store.upserted == [later[0].id]
    assert len(await found(restarted)) == 4
    assert store.begun == 1


@pytest.mark.parametrize("trouble", ["lost", "damaged", "of another ledger"])
async def test_what_cannot_be_trusted_is_built_anew(trouble: str) -> None:
    """A store with lost, damaged or unknown files is rebuilt automatically."""
    ledger, store = a_ledger(), TroubledStore()
    events = await some(ledger, 3)
    await follower_of(ledger, store).follow()
    if trouble == "lost":
        store = TroubledStore()
    elif trouble == "damaged":
        store.is_damaged = True
    else:
        await ledger.vectors.note_index("another birth", Checkpoint(9, 9))
    follower = follower_of(ledger, store)
    await follower.follow()
    assert await found(follower) == {event.id for event in events}


async def test_no_generation_answers_while_the_next_is_built() -> None:
    """During a rebuild exact search is left to answer, and afterwards the new generation has every row."""
    ledger, store = a_ledger(), TroubledStore()
    follower = follower_of(ledger, store)
    events = await some(ledger, 2)
    await follower.follow()
    refused: list[UnavailableError] = []

    class Watching(TroubledStore):
        """A store that searches while rows are written."""

        async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
            """Search during the write."""
            await super().upsert(generation, rows)
            with pytest.raises(UnavailableError) as away:
                await found(follower)
            refused.append(away.value)

    store.__class__ = Watching
    assert await follower.rebuild() == 2
    assert refused
    assert await found(follower) == {event.id for event in events}
    assert (await follower.state()).generation == 2


async def test_a_generation_of_which_the_process_dies_is_replaced() -> None:
    """A search that ends Chroma's process is answered exactly, and the next one by a new generation."""
    ledger, store = a_ledger(), TroubledStore()
    follower = follower_of(ledger, store)
    events = await some(ledger, 2)
    await follower.follow()

    class Deadly(TroubledStore):
        """A store whose searches end its process."""

        async def nearest(self, *asked: Any) -> list[tuple[str, float]]:
            """Die."""
            raise ProcessDied("died")

    store.__class__ = Deadly
    with pytest.raises(ProcessDied):
        await found(follower)
    store.__class__ = TroubledStore
    await follower.follow()
    assert await found(follower) == {event.id for event in events}
    assert (await follower.state()).generation == 2


async def test_a_store_that_is_away_is_caught_up_with() -> None:
    """While the store is unavailable no wrong answer is given, and afterwards the index is completed."""
    ledger, store = a_ledger(), TroubledStore()
    follower = follower_of(ledger, store)
    await some(ledger, 2)
    await follower.follow()
    follower.loop.start()
    store.is_away = True
    later = await some(ledger, 1, first=7)
    follower.wake_now()
    await until(lambda: bool(follower.loop.trouble.error))
    assert await follower.lag() == 3  # the store must be checked again first
    with pytest.raises(UnavailableError):
        await found(follower)
    store.is_away = False
    await until_not(follower.lag)
    assert later[0].id in await found(follower)
    await follower.loop.stop()


class ReadOnly(TroubledStore):
    """A store whose first generation can be read but not written."""

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Refuse the first generation, otherwise write."""
        if generation.number == 1:
            raise UnavailableError("read-only")
        await super().upsert(generation, rows)


@pytest.mark.parametrize("asked", ["by nobody", "by an operator"])
async def test_a_generation_that_refuses_writes_is_replaced(asked: str) -> None:
    """A generation that cannot be written is replaced after at most three attempts."""
    ledger, store = a_ledger(), TroubledStore()
    follower = follower_of(ledger, store)
    events = await some(ledger, 3)
    await follower.follow()
    store.__class__ = ReadOnly
    events += await some(ledger, 1, first=9)
    if asked == "by an operator":
        await follower.rebuild()
    for _ in range(5):
        try:
            await follower.follow()
        except UnavailableError:
            follower._stop_serving()
    assert (await follower.state()).generation == 2
    assert await found(follower) == {event.id for event in events}


async def test_vectors_of_another_length_stay_out() -> None:
    """A vector of another length is left out without stopping the others."""
    ledger, store = a_ledger(), TroubledStore()
    events, odd = await some(ledger, 2), an_event("奇怪的一条")
    await committed(ledger, odd)
    await ledger.vectors.store(MODEL, [(odd.id, odd.text, a_vector(1.0, 2.0, 3.0))])
    follower = follower_of(ledger, store)
    await follower.follow()
    assert await found(follower) == {event.id for event in events}
