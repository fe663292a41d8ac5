"""Tests that the vector store runs only while needed, and that exact search answers otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import EmbeddedEvent, Generation, Vector
from cognitive_memory_core.vectors.reconciler import (
    EVERY_DAY,
    IDLE_SECONDS,
    SECONDS_BEHIND,
    IndexReconciler,
)
from tests.support.builders import an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import MODEL, Ledger, a_ledger, a_vector, embedded
from tests.support.vector_store import InMemoryVectorStore
from tests.support.waiting import until, until_not

EVERYTHING = ReadFilter(Scene.operator())
ASKED = a_vector(1.0, 0.0)


class CountedStore(InMemoryVectorStore):
    """A store that starts with its first request, stops for inactivity, and counts its starts."""

    def __init__(self) -> None:
        """Be stopped."""
        super().__init__()
        self.is_running = False
        self.starts = 0
        self.listings = 0
        self.may_open = asyncio.Event()
        self.may_open.set()
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.writes = 0
        self.is_away = False

    async def open(self) -> Generation | None:
        """Start and wait until opening is allowed."""
        self._start()
        await self.may_open.wait()
        return await super().open()

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Start if necessary."""
        self._start()
        return await super().begin(fingerprint, dimensions)

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Start if necessary."""
        self._start()
        self.writes += 1
        await self.may_write.wait()
        await super().upsert(generation, rows)

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Start if necessary."""
        self._start()
        await super().remove(generation, event_ids)

    async def listed(self, generation: Generation) -> frozenset[str]:
        """Start if necessary."""
        self._start()
        self.listings += 1
        return await super().listed(generation)

    async def nearest(
        self, generation: Generation, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[str, float]]:
        """Start if necessary."""
        self._start()
        return await super().nearest(generation, vector, read_filter, limit)

    async def sleep(self) -> None:
        """Stop."""
        self.is_running = False

    def _start(self) -> None:
        if self.is_away:
            raise UnavailableError("away")
        self.starts += not self.is_running
        self.is_running = True


@dataclass
class World:
    """A reconciler with a counting store and a fixed clock."""

    ledger: Ledger = field(default_factory=a_ledger)
    store: CountedStore = field(default_factory=CountedStore)
    clock: FrozenClock = field(default_factory=FrozenClock)
    rows: int = 0

    def __post_init__(self) -> None:
        """Create the reconciler."""
        self.follower = self.restarted()

    def restarted(self) -> IndexReconciler:
        """Return the reconciler of a new process, in which the store is stopped."""
        self.store.is_running = False
        self.follower = IndexReconciler(self.store, self.ledger.vectors, MODEL, self.clock.elapsed)
        return self.follower

    async def add(self, count: int) -> list[Event]:
        """Add so many events with different vectors."""
        first, self.rows = self.rows, self.rows + count
        events = [an_event(f"第 {number} 件事") for number in range(first, self.rows)]
        await embedded(
            self.ledger, [(event, a_vector(1.0, number / 100)) for number, event in enumerate(events, first)]
        )
        return events

    async def lived(self, seconds: float) -> None:
        """Run all rounds that are due within so many seconds."""
        ends = self.clock.elapsed() + seconds
        while True:
            rest = await self.follower.round()
            left = ends - self.clock.elapsed()
            if left <= 0:
                return
            self.clock.advance(seconds=min(max(rest, 0.01), left))

    async def slept(self) -> None:
        """Build the index and let the store stop for inactivity."""
        await self.follower.follow()
        await self.lived(IDLE_SECONDS + EVERY_DAY / 100)
        assert not self.store.is_running


async def test_few_rows_start_no_store() -> None:
    """Rows do not start the store until one has waited for the maximum time."""
    world = World()
    await world.add(50)
    await world.lived(SECONDS_BEHIND - 1)
    assert world.store.starts == 0
    state = await world.follower.state()
    assert (state.activity, state.behind, state.generation) == ("asleep", 50, 0)
    assert not world.follower.loop.trouble.error
    await world.lived(2)
    assert world.store.starts == 1


async def test_a_store_that_nobody_needs_ends() -> None:
    """After the idle time the store stops, exact search answers, and the status reports no failure."""
    world = World()
    await world.add(3)
    await world.follower.follow()
    await world.lived(IDLE_SECONDS - 1)
    assert world.store.is_running
    await world.lived(2)
    assert not world.store.is_running
    state = await world.follower.state()
    assert (state.activity, state.behind, state.generation) == ("asleep", 0, 0)
    assert not world.follower.loop.trouble.error
    with pytest.raises(UnavailableError):
        await world.follower.nearest(ASKED, EVERYTHING, 3)


async def test_whoever_drains_gets_a_whole_index() -> None:
    """A drain completes the index even for one missing row, and starts nothing if none is missing."""
    world = World()
    await world.add(1)
    world.follower.loop.start()
    world.follower.wake_now()
    await until_not(world.follower.lag)
    assert world.store.starts == 1
    await world.follower.loop.stop()
    await world.slept()
    world.follower.wake_now()
    await world.lived(SECONDS_BEHIND)
    assert world.store.starts == 1
    await world.add(1)
    await world.lived(1)
    assert world.store.starts == 1  # the drain is over


async def test_an_erasure_is_behind_and_a_purge_builds_anew() -> None:
    """What was forgotten while the store was stopped is behind; a purge starts it and rebuilds."""
    world = World()
    events = await world.add(3)
    await world.slept()
    old = await world.store.open()
    world.store.is_running, world.store.starts = False, 1
    await world.ledger.eraser.forget(events[0].id, NOON)
    assert (world.store.starts, await world.follower.lag()) == (1, 1)
    assert await world.follower.rebuild() == 2
    new = await world.store.open()
    assert old is not None
    assert new is not None
    assert new.number == old.number + 1
    assert await world.store.listed(new) == {event.id for event in events[1:]}
    await world.lived(IDLE_SECONDS + 1)
    assert not world.store.is_running


async def test_a_long_build_is_not_cut_off() -> None:
    """A build longer than the idle time is completed, and the idle time starts at its end."""
    world = World()
    await world.add(3)
    await world.follower.follow()
    world.store.may_write.clear()
    world.store.writes = 0
    building = asyncio.create_task(world.follower.rebuild())
    await until(lambda: world.store.writes > 0)
    world.clock.advance(seconds=IDLE_SECONDS * 3)
    round_ = asyncio.create_task(world.follower.round())
    await asyncio.sleep(0)
    world.store.may_write.set()
    assert await building == 3
    await round_
    assert (world.store.is_running, world.store.starts) == (True, 1)


async def test_the_daily_check_waits_until_the_store_runs() -> None:
    """The daily comparison and self-check do not start the store but wait until it runs."""
    world = World()
    await world.add(20)
    await world.slept()
    listings = world.store.listings
    await world.lived(3 * EVERY_DAY)
    assert (world.store.starts, world.store.listings) == (1, listings)
    for _ in range(2):
        await world.add(1)
        await world.lived(SECONDS_BEHIND + IDLE_SECONDS + 1)
    assert (world.store.starts, world.store.listings) == (3, listings + 1)


async def test_a_damage_done_while_the_store_slept_is_found() -> None:
    """If the generation changed while the store was stopped, it is checked and rebuilt."""
    world = World()
    events = await world.add(4)
    await world.slept()
    foreign = await world.store.begin(MODEL, 2)
    await world.store.put_in_use(foreign)
    world.store.is_running = False
    with pytest.raises(UnavailableError):
        await world.follower.nearest(ASKED, EVERYTHING, 4)
    await world.follower.round()
    found = {found for found, _ in await world.follower.nearest(ASKED, EVERYTHING, 4)}
    assert found == {event.id for event in events}


async def test_a_store_that_does_not_wake_is_tried_again() -> None:
    """If the store cannot start, large searches use exact search, the status gives the reason, and it is retried."""
    world = World()
    await world.add(2)
    await world.slept()
    world.store.is_away = True
    world.follower.loop.start()
    with pytest.raises(UnavailableError):
        await world.follower.nearest(ASKED, EVERYTHING, 2)
    await until(lambda: bool(world.follower.loop.trouble.error))
    assert (await world.follower.state()).activity == "waking"
    with pytest.raises(UnavailableError):
        await world.follower.nearest(ASKED, EVERYTHING, 2)
    world.store.is_away = False
    await until(lambda: _is_awake(world.follower))
    await until(lambda: not world.follower.loop.trouble.error)
    await world.follower.loop.stop()


async def _is_awake(follower: IndexReconciler) -> bool:
    return (await follower.state()).activity == "awake"
