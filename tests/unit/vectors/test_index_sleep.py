"""Tests that the vector store runs only while needed, and that exact search answers otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.vectors.reconciler import (
    EVERY_DAY,
    IDLE_SECONDS,
    SECONDS_BEHIND,
    IndexReconciler,
)
from tests.support.builders import an_event
from tests.support.clock import FrozenClock
from tests.support.ledgers import MODEL, Ledger, a_ledger, a_vector, embedded
from tests.support.ports import Wrapping
from tests.support.vector_store import InMemoryVectorStore
from tests.support.waiting import until_not

EVERYTHING = ReadFilter(Scene.operator())
ASKED = a_vector(1.0, 0.0)


class CountedStore(Wrapping):
    """A store that starts with its first request, stops for inactivity, and counts its starts and listings."""

    def __init__(self) -> None:
        """Be stopped."""
        super().__init__(InMemoryVectorStore())
        self.is_running = False
        self.starts = self.listings = 0

    def __getattr__(self, name: str) -> Any:
        """Start if necessary, and forward."""
        if name in ("open", "begin", "upsert", "listed"):
            self.starts += not self.is_running
            self.is_running = True
            self.listings += name == "listed"
        return super().__getattr__(name)

    async def sleep(self) -> None:
        """Stop."""
        self.is_running = False


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
