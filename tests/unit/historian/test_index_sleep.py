"""The vector store runs only while it is needed; until then exact search answers and the lag is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from cognitive_memory_core.adapters.inmemory.ledger import InMemoryLedger
from cognitive_memory_core.adapters.inmemory.vector_store import InMemoryVectorStore
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.hit import Reading
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.historian.indexing.index_sleep import IDLE_SECONDS, ROWS_BEHIND, SECONDS_BEHIND
from cognitive_memory_core.historian.indexing.reconciler import EVERY_DAY, IndexReconciler
from cognitive_memory_core.ports.ledger import EmbeddedEvent
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.ports.vectors import Generation
from cognitive_memory_core.recall.nearest import NearestVectors
from tests.support.builders import an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import MODEL, a_vector, embedded
from tests.support.waiting import until, until_not

EVERYTHING = Reading(Scene.operator())
ASKED = a_vector(1.0, 0.0)


class CountedStore(InMemoryVectorStore):
    """A store that runs from its first request until it is put to sleep, and counts how often it was started."""

    def __init__(self) -> None:
        """Do not run yet."""
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
        """Start, which may take long."""
        self._start()
        await self.may_open.wait()
        return await super().open()

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Start."""
        self._start()
        return await super().begin(fingerprint, dimensions)

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Start."""
        self._start()
        self.writes += 1
        await self.may_write.wait()
        await super().upsert(generation, rows)

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Start."""
        self._start()
        await super().remove(generation, event_ids)

    async def listed(self, generation: Generation) -> frozenset[str]:
        """Start."""
        self._start()
        self.listings += 1
        return await super().listed(generation)

    async def nearest(
        self, generation: Generation, vector: Vector, reading: Reading, limit: int
    ) -> list[tuple[str, float]]:
        """Start."""
        self._start()
        return await super().nearest(generation, vector, reading, limit)

    async def sleep(self) -> None:
        """End."""
        self.is_running = False

    def _start(self) -> None:
        if self.is_away:
            raise UnavailableError("away")
        self.starts += not self.is_running
        self.is_running = True


class Exact:
    """Exact search that finds everything wide, and answers one event of its own."""

    def __init__(self, event: Event) -> None:
        """Answer this event."""
        self.event = event

    async def is_wide(self, reading: Reading) -> bool:  # everything is
        """Return True."""
        return True

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[Event, float]]:
        """Return the event."""
        return [(self.event, 1.0)]


@dataclass
class World:
    """A follower over a counted store, with a clock that stands still."""

    ledger: InMemoryLedger = field(default_factory=InMemoryLedger)
    store: CountedStore = field(default_factory=CountedStore)
    clock: FrozenClock = field(default_factory=FrozenClock)
    rows: int = 0

    def __post_init__(self) -> None:
        """Follow."""
        self.follower = self.restarted()

    def restarted(self) -> IndexReconciler:
        """Make the follower of the next process; whatever the last one had running is gone."""
        self.store.is_running = False
        self.follower = IndexReconciler(self.store, self.ledger.shelf, self.ledger.book, MODEL, self.clock.elapsed)
        return self.follower

    async def add(self, count: int) -> list[Event]:
        """Write so many more events with vectors that differ."""
        first, self.rows = self.rows, self.rows + count
        events = [an_event(f"第 {number} 件事") for number in range(first, self.rows)]
        await embedded(
            self.ledger, [(event, a_vector(1.0, number / 100)) for number, event in enumerate(events, first)]
        )
        return events

    async def lived(self, seconds: float) -> None:
        """Run the rounds that are due in so many seconds, one after the other."""
        ends = self.clock.elapsed() + seconds
        while True:
            rest = await self.follower.round()
            left = ends - self.clock.elapsed()
            if left <= 0:
                return
            self.clock.advance(seconds=min(max(rest, 0.01), left))

    async def slept(self) -> None:
        """Build the index of what there is, and let the store end for want of questions."""
        await self.follower.follow()
        await self.lived(IDLE_SECONDS + EVERY_DAY / 100)
        assert not self.store.is_running


async def test_few_rows_start_no_store() -> None:
    """A bot that learns less than a batch starts no store until a row has waited its minutes."""
    world = World()
    await world.add(ROWS_BEHIND - 1)
    await world.lived(SECONDS_BEHIND - 1)
    assert world.store.starts == 0
    state = await world.follower.state()
    assert (state.activity, state.behind, state.generation) == ("asleep", ROWS_BEHIND - 1, 0)
    assert not world.follower.loop.last_error


async def test_a_whole_batch_starts_the_store_once() -> None:
    """The row that completes a batch starts the store, which takes in all of them; nothing starts it again."""
    world = World()
    for count in (ROWS_BEHIND - 1, 1):
        assert world.store.starts == 0
        await world.add(count)
        await world.follower.round()
    state = await world.follower.state()
    assert (state.activity, state.behind, state.generation) == ("awake", 0, 1)
    await world.lived(SECONDS_BEHIND * 3)
    assert world.store.starts == 1


async def test_a_row_waits_some_minutes_at_most() -> None:
    """A single row is in the index after the minutes that an index may be behind."""
    world = World()
    await world.add(1)
    await world.lived(SECONDS_BEHIND + 1)
    assert (world.store.starts, await world.follower.lag()) == (1, 0)


async def test_the_minutes_of_the_next_row_are_its_own() -> None:
    """The time that an index may be behind begins with the first row that it lacks, not with the last batch."""
    world = World()
    await world.add(1)
    await world.lived(SECONDS_BEHIND + IDLE_SECONDS + 1)
    assert not world.store.is_running
    await world.lived(SECONDS_BEHIND)
    await world.add(1)
    await world.lived(SECONDS_BEHIND - 1)
    assert (world.store.starts, await world.follower.lag()) == (1, 1)
    await world.lived(2)
    assert (world.store.starts, await world.follower.lag()) == (2, 0)


async def test_a_store_that_nobody_needs_ends() -> None:
    """After the idle minutes the store ends, exact search answers, and status calls that a state and no failure."""
    world = World()
    await world.add(3)
    await world.follower.follow()
    await world.lived(IDLE_SECONDS - 1)
    assert world.store.is_running
    await world.lived(2)
    assert not world.store.is_running
    state = await world.follower.state()
    assert (state.activity, state.behind, state.generation) == ("asleep", 0, 0)
    assert not world.follower.loop.last_error
    with pytest.raises(UnavailableError):
        await world.follower.nearest(ASKED, EVERYTHING, 3)


async def test_questions_keep_the_store_running() -> None:
    """While wide questions come the store does not end."""
    world = World()
    await world.add(3)
    await world.follower.follow()
    for _ in range(5):
        await world.lived(IDLE_SECONDS - 1)
        assert len(await world.follower.nearest(ASKED, EVERYTHING, 3)) == 3
    assert world.store.starts == 1


async def test_rows_that_trickle_in_do_not_keep_the_store_running() -> None:
    """Single rows are written while the store runs, and do not prolong that."""
    world = World()
    await world.add(3)
    await world.follower.follow()
    for _ in range(4):
        await world.lived(IDLE_SECONDS / 4)
        await world.add(1)
        await world.follower.round()
    await world.lived(1)
    assert not world.store.is_running


async def test_a_wide_question_is_answered_from_the_ledger_and_starts_the_store() -> None:
    """A question that finds the store asleep gets its answer from exact search at once, while the store starts."""
    world = World()
    [event] = await world.add(1)
    await world.slept()
    world.store.may_open.clear()
    vectors = NearestVectors(Exact(event), world.follower, world.ledger.events)
    running = asyncio.create_task(world.follower.run())
    assert [found for found, _ in await vectors.nearest(ASKED, EVERYTHING, 1)] == [event]
    await until(lambda: world.store.starts == 2)
    assert (await world.follower.state()).activity == "waking"
    assert [found for found, _ in await vectors.nearest(ASKED, EVERYTHING, 1)] == [event]
    world.store.may_open.set()
    await until(lambda: _is_awake(world.follower))
    assert await world.follower.nearest(ASKED, EVERYTHING, 1) == [(event.id, pytest.approx(1.0))]
    assert world.store.starts == 2
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_the_store_answers_only_with_all_rows() -> None:
    """What came in while the store slept is in it before it answers."""
    world = World()
    await world.add(2)
    await world.slept()
    late = await world.add(1)
    with pytest.raises(UnavailableError):
        await world.follower.nearest(ASKED, EVERYTHING, 3)
    await world.follower.round()
    assert late[0].id in {found for found, _ in await world.follower.nearest(ASKED, EVERYTHING, 3)}


async def test_lag_is_counted_while_the_store_sleeps() -> None:
    """Rows that the sleeping index lacks are counted from its mark, also by the next process."""
    world = World()
    await world.add(5)
    await world.slept()
    await world.add(2)
    assert (await world.follower.state()).behind == 2
    assert (await world.restarted().state()).behind == 2
    assert world.store.starts == 1


async def test_a_new_process_starts_no_store_for_an_index_that_is_whole() -> None:
    """After a restart an index that lacks nothing is left alone."""
    world = World()
    await world.add(ROWS_BEHIND + 5)
    await world.slept()
    world.restarted()
    await world.lived(SECONDS_BEHIND * 3)
    assert world.store.starts == 1


async def test_whoever_drains_gets_a_whole_index() -> None:
    """A hurried follower brings the index up to date though only one row is missing; nothing missing starts nothing."""
    world = World()
    await world.add(1)
    running = asyncio.create_task(world.follower.run())
    world.follower.hurry()
    await until_not(world.follower.lag)
    assert world.store.starts == 1
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await world.slept()
    world.follower.hurry()
    await world.lived(SECONDS_BEHIND)
    assert world.store.starts == 1
    await world.add(1)
    await world.lived(1)
    assert world.store.starts == 1  # the hurry is over


async def test_an_erasure_is_behind_and_a_purge_builds_anew() -> None:
    """What is erased while the store sleeps is shipped before it answers; a purge starts it and builds the next."""
    world = World()
    events = await world.add(3)
    await world.slept()
    old = await world.store.open()
    world.store.is_running, world.store.starts = False, 1
    await world.ledger.events.retire(events[0].id, NOON)
    await world.follower.unindex([events[0].id])
    assert (world.store.starts, await world.follower.lag()) == (1, 1)
    assert await world.follower.rebuild(afresh=True) == 2
    new = await world.store.open()
    assert old is not None
    assert new is not None
    assert new.number == old.number + 1
    assert await world.store.listed(new) == {event.id for event in events[1:]}
    await world.lived(IDLE_SECONDS + 1)
    assert not world.store.is_running


async def test_a_purge_during_the_store_going_to_sleep_leaves_nothing_running() -> None:
    """A rebuild that waits for the store to end starts it again, and the idle minutes end it again."""
    world = World()
    await world.add(3)
    await world.follower.follow()
    world.clock.advance(seconds=IDLE_SECONDS + 1)
    await asyncio.gather(world.follower.round(), world.follower.rebuild(afresh=True))
    assert (await world.follower.state()).activity == "awake"
    await world.lived(IDLE_SECONDS + 1)
    assert not world.store.is_running


async def test_a_long_build_is_not_cut_off() -> None:
    """A build that takes longer than the idle minutes is finished, and the minutes begin with its end."""
    world = World()
    await world.add(3)
    await world.follower.follow()
    world.store.may_write.clear()
    world.store.writes = 0
    building = asyncio.create_task(world.follower.rebuild(afresh=True))
    await until(lambda: world.store.writes > 0)
    world.clock.advance(seconds=IDLE_SECONDS * 3)
    round_ = asyncio.create_task(world.follower.round())
    await asyncio.sleep(0)
    world.store.may_write.set()
    assert await building == 3
    await round_
    assert (world.store.is_running, world.store.starts) == (True, 1)


async def test_the_daily_check_waits_until_the_store_runs() -> None:
    """Comparison and self-check start no store: they are done when it runs for another reason, once a day."""
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
    """Another generation than the one that fell asleep is looked at as at a start of the bot, and built anew."""
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
    """While the store cannot start every wide question is refused to exact search, status names why, and it comes."""
    world = World()
    await world.add(2)
    await world.slept()
    world.store.is_away = True
    running = asyncio.create_task(world.follower.run())
    with pytest.raises(UnavailableError):
        await world.follower.nearest(ASKED, EVERYTHING, 2)
    await until(lambda: bool(world.follower.loop.last_error))
    assert (await world.follower.state()).activity == "waking"
    with pytest.raises(UnavailableError):
        await world.follower.nearest(ASKED, EVERYTHING, 2)
    world.store.is_away = False
    await until(lambda: _is_awake(world.follower))
    assert not world.follower.loop.last_error
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def _is_awake(follower: IndexReconciler) -> bool:
    return (await follower.state()).activity == "awake"
