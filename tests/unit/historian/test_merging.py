"""Tests of the loop that merges facts into profiles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from cognitive_memory_core.domain.figures import MergeState
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.errors import BadAnswer, StorageRefused, UnavailableError
from cognitive_memory_core.historian.merging import ProfileMerging
from cognitive_memory_core.profiles.files import Overtaken
from cognitive_memory_core.settings.schema import HistorianSettings, Live, Settings
from cognitive_memory_core.store.facts import PendingFacts
from cognitive_memory_core.tasks import latest
from tests.support.merging import ScriptedMerger, World
from tests.support.profiles import MILI_THERE, TANG
from tests.support.waiting import until

SOON = 0.35  # seconds within which a loop without a fixed clock would have acted


@asynccontextmanager
async def running(merging: ProfileMerging) -> AsyncIterator[ProfileMerging]:
    """Run the loop."""
    merging.loop.start()
    try:
        yield merging
    finally:
        await merging.loop.stop()


async def settled(merging: ProfileMerging) -> None:
    """Request immediate merging until nothing waits."""

    async def is_done() -> bool:
        merging.wake_now()
        return not await merging.waiting()

    await until(is_done)


async def told(world: World, merging: ProfileMerging, key: ProfileKey, *facts: str) -> None:
    """Add facts and wake the loop, as the worker does."""
    await world.tell(key, *facts)
    merging.nudge()


async def unmoved() -> None:
    """Give the loop time to do what it should not do."""
    await asyncio.sleep(SOON)


async def test_entities_go_side_by_side_and_none_twice() -> None:
    """Up to ``concurrency`` profiles are merged at once, each by one merge at a time."""
    world = World(ScriptedMerger(seconds=0.05), settings=Live(Settings(historian=HistorianSettings(concurrency=3))))
    keys = [ProfileKey.member("10001", str(2000000 + number)) for number in range(7)]
    async with running(ProfileMerging(world.entity)) as merging:
        for key in keys:
            await told(world, merging, key, "甲")
        merging.wake_now()
        await until(lambda: bool(world.merger.in_hand))
        for key in keys:
            await told(world, merging, key, "乙")
        await settled(merging)
    assert world.merger.most_at_once == 3
    assert [await world.summary(key) for key in keys] == ["甲\n乙"] * 7


async def test_a_broken_model_loses_nothing() -> None:
    """After three failures the facts wait with growing pauses, the status reports it, and later all are merged."""
    tries: list[str] = []

    def react(person: Person) -> None:
        tries.append(person.id)
        if person.id == "2000001" and tries.count(person.id) <= 3:
            raise BadAnswer("坏答案")

    world = World(ScriptedMerger(react))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲", "乙")
        await told(world, merging, MILI_THERE, "丙")
        merging.wake_now()
        await until(lambda: len(tries) == 2)
        for pause, count in ((60, 2), (3600, 3)):
            await unmoved()
            world.clock.advance(seconds=pause - 1)
            merging.wake_now()
            await unmoved()
            assert tries.count("2000001") == count - 1
            world.clock.advance(seconds=1)
            merging.wake_now()
            await until(lambda count=count: tries.count("2000001") == count)
        await unmoved()
        assert await merging.state() == MergeState(1, 2, 1, "坏答案")
        world.clock.advance(days=1)
        await settled(merging)
        await until(lambda: latest(merging.error_states) == "")
        assert await merging.state() == MergeState()
    assert await world.summary(TANG) == "甲\n乙"
    assert await world.summary(MILI_THERE) == "丙"


async def test_a_file_that_is_always_written_meanwhile_costs_few_calls() -> None:
    """A merge that somebody's editor overtakes is repeated at once, twice; then its facts wait as after a failure."""
    tries: list[str] = []

    def react(person: Person) -> None:
        tries.append(person.id)
        if len(tries) <= 3:
            raise Overtaken("有人在改")

    world = World(ScriptedMerger(react))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲", "乙")
        merging.wake_now()
        await until(lambda: len(tries) == 3)
        await unmoved()
        await unmoved()
        assert len(tries) == 3
        assert await merging.state() == MergeState(1, 2, 1, "有人在改")
        world.clock.advance(days=1)
        await settled(merging)
    assert await world.summary(TANG) == "甲\n乙"


async def test_a_model_that_is_away_counts_nothing() -> None:
    """An unreachable model does not count as a failure of facts; all wait until the pause that it asks for is over."""
    is_away, tried = True, 0

    def react(_: Person) -> None:
        nonlocal tried
        tried += 1
        if is_away:
            raise UnavailableError("away", retry_after=1.2)

    world = World(ScriptedMerger(react))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        merging.wake_now()
        await until(lambda: latest(merging.error_states) == "away")
        is_away = False
        for _ in range(20):
            merging.wake_now()
            await asyncio.sleep(0.02)
        assert tried == 1
        assert (await merging.state()).failing == 0
        await settled(merging)
        await until(lambda: latest(merging.error_states) == "")
    assert (await world.summary(TANG)) == "甲"


async def test_one_file_that_cannot_be_written_stops_nobody_else() -> None:
    """A profile that cannot be written is retried later, and all others are merged."""

    def react(person: Person) -> None:
        if person.id == "2000001":
            raise StorageRefused("只读")

    settings = Live(Settings(historian=HistorianSettings(concurrency=1)))
    world = World(ScriptedMerger(react), settings=settings)
    keys = [ProfileKey.member("10001", str(2000001 + number)) for number in range(5)]
    async with running(ProfileMerging(world.entity)) as merging:
        for key in keys:
            await told(world, merging, key, "甲")

        async def others_are_merged() -> bool:
            merging.wake_now()
            return await world.waiting() == 1

        await until(others_are_merged)


async def test_whoever_is_left_out_does_not_hold_up_drain() -> None:
    """Facts of a person who opted out do not delay a drain and are not counted."""
    world = World(left_out={"2000001"})
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        await told(world, merging, MILI_THERE, "乙")
        await settled(merging)
        assert await merging.state() == MergeState()
    assert await world.waiting() == 1
    assert [person.id for person, _, _ in world.merger.merged] == ["2000002"]


async def test_what_is_told_during_a_look_is_merged() -> None:
    """Facts that come while the waiting ones are read are merged at once if they are asked for then."""
    world = World()

    class ToldMeanwhile(ProfileMerging):
        looks = 0

        async def waiting(self) -> Sequence[PendingFacts]:
            found = await super().waiting()
            self.looks += 1
            if self.looks == 1:
                await told(world, self, TANG, "甲")
                self.wake_now()
            return found

    async with running(ToldMeanwhile(world.entity)):
        await until(lambda: len(world.merger.merged) == 1)


async def test_while_held_nothing_is_merged() -> None:
    """While merging is held for an erasure, running merges stop and none starts; afterwards it continues."""
    world = World(ScriptedMerger(seconds=0.2))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        merging.wake_now()
        await until(lambda: bool(world.merger.in_hand))
        async with merging.suspended():
            assert world.merger.in_hand == []
            merging.wake_now()
            await unmoved()
            assert world.merger.in_hand == []
            assert await world.profiles.keys() == []
        await settled(merging)
    assert await world.summary(TANG) == "甲"
