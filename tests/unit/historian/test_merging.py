"""Facts reach their portraits: in time, together, one entity at a time, and whatever fails waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.errors import BadAnswer, PermanentError, StorageRefused, UnavailableError
from cognitive_memory_core.historian.profiles.merging import MergeState, ProfileMerging
from cognitive_memory_core.settings import HistorianSettings, Live, ProfileSettings, Settings
from tests.support.merging import ScriptedMerger, World
from tests.support.profiles import GROUP_KEY, MILI_THERE, TANG, TANG_THERE
from tests.support.waiting import until

SOON = 0.35  # seconds in which a loop that looks at the clock would have seen it


@asynccontextmanager
async def running(merging: ProfileMerging) -> AsyncIterator[ProfileMerging]:
    """Let the loop run."""
    task = asyncio.create_task(merging.run())
    try:
        yield merging
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def settled(merging: ProfileMerging) -> None:
    """Hurry until nothing waits."""

    async def is_done() -> bool:
        merging.hurry()
        return not await merging.waiting()

    await until(is_done)


async def told(world: World, merging: ProfileMerging, key: ProfileKey, *facts: str) -> None:
    """Let facts wait, and say so, as the worker does."""
    await world.tell(key, *facts)
    merging.nudge()


async def unmoved() -> None:
    """Give a loop the time to do what it should not."""
    await asyncio.sleep(SOON)


async def test_a_first_portrait_comes_after_twenty_seconds_and_the_next_after_ten_minutes() -> None:
    """Facts wait for more of them by the clock: 20 seconds for somebody's first portrait, then merge_delay_seconds."""
    world = World()
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        world.clock.advance(seconds=19)
        await unmoved()
        assert world.merger.merged == []
        world.clock.advance(seconds=1)
        await until(lambda: len(world.merger.merged) == 1)
        await told(world, merging, TANG, "乙")
        world.clock.advance(seconds=599)
        await unmoved()
        assert len(world.merger.merged) == 1
        await told(world, merging, TANG, "丙")
        world.clock.advance(seconds=1)
        await until(lambda: len(world.merger.merged) == 2)
    assert world.merger.merged[1][2] == ["乙", "丙"]


async def test_a_hurry_ends_when_nothing_waits() -> None:
    """After everything was merged at once, new facts wait for more of them again."""
    world = World()
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        await settled(merging)
        await until(lambda: merging.is_idle)
        merging.nudge()
        await unmoved()
        for fact in ("乙", "丙"):
            await told(world, merging, TANG, fact)
            await unmoved()
        assert len(world.merger.merged) == 1
        world.clock.advance(seconds=600)
        await until(lambda: len(world.merger.merged) == 2)
    assert world.merger.merged[1][2] == ["乙", "丙"]


async def test_the_index_is_asked_once_a_look_for_those_who_wait() -> None:
    """However many portraits there are, a look costs one question, about those for whom facts wait."""
    world, asked = World(), list[list[ProfileKey]]()

    class Counting:
        """An index that is never read whole."""

        async def portrayed(self, keys: list[ProfileKey]) -> frozenset[ProfileKey]:
            """Count."""
            asked.append(keys)
            return await world.ledger.profiles.portrayed(keys)

    keys = [ProfileKey.member("10001", str(2000000 + number)) for number in range(20)]
    for key in keys:
        await world.tell(key, "甲")
    await ProfileMerging(replace(world.entity, index=Counting()))._finds_due()
    assert asked == [keys]


async def test_who_has_a_portrait_from_before_the_start_waits_the_whole_delay() -> None:
    """After a restart nobody counts as new who is not."""
    world = World()
    await world.ledger.profiles.put(await world.profiles.write(_portrait(TANG)))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        world.clock.advance(seconds=100)
        await unmoved()
    assert world.merger.merged == []


async def test_many_facts_do_not_wait() -> None:
    """With merge_max_facts there is nothing to wait for."""
    world = World()
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, *(f"第 {number} 件事" for number in range(12)))
        await until(lambda: len(world.merger.merged) == 1)


async def test_facts_wait_a_little_for_those_of_waiting_jobs() -> None:
    """Without a delay in the settings, a burst of jobs costs one merge a profile; it waits ten seconds at most."""
    world, is_learning = World(settings=Live(Settings(profile=ProfileSettings(merge_delay_seconds=0)))), [True]
    async with running(ProfileMerging(world.entity, is_learning=lambda: is_learning[0])) as merging:
        await told(world, merging, TANG, "甲")
        await told(world, merging, TANG, "乙")
        await unmoved()
        assert world.merger.merged == []
        is_learning[0] = False
        merging.nudge()
        await until(lambda: len(world.merger.merged) == 1)
        is_learning[0] = True
        await told(world, merging, TANG, "丙")
        world.clock.advance(seconds=10)
        await until(lambda: len(world.merger.merged) == 2)
    assert [facts for _, _, facts in world.merger.merged] == [["甲", "乙"], ["丙"]]


async def test_settings_change_while_running() -> None:
    """merge_delay_seconds and merge_max_facts are read anew each time."""
    world = World()
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        await unmoved()
        world.settings.replace(Settings(profile=ProfileSettings(merge_delay_seconds=0)))
        merging.nudge()
        await until(lambda: len(world.merger.merged) == 1)


async def test_entities_go_side_by_side_and_none_twice() -> None:
    """Up to ``concurrency`` portraits are merged at once, each alone; facts that come meanwhile are merged after."""
    world = World(ScriptedMerger(seconds=0.05), settings=Live(Settings(historian=HistorianSettings(concurrency=3))))
    keys = [ProfileKey.member("10001", str(2000000 + number)) for number in range(7)]
    async with running(ProfileMerging(world.entity)) as merging:
        for key in keys:
            await told(world, merging, key, "甲")
        merging.hurry()
        await until(lambda: bool(world.merger.in_hand))
        for key in keys:
            await told(world, merging, key, "乙")
        await settled(merging)
    assert world.merger.most_at_once == 3
    assert [await world.summary(key) for key in keys] == ["甲\n乙"] * 7


async def test_facts_from_all_sides_are_all_kept() -> None:
    """Facts that arrive while their portrait is being merged, edited and merged again are all in it at last."""
    world = World(
        ScriptedMerger(seconds=0.003), settings=Live(Settings(profile=ProfileSettings(merge_delay_seconds=0)))
    )
    facts = [f"第 {number:02} 件事" for number in range(40)]
    async with running(ProfileMerging(world.entity)) as merging:
        for number, fact in enumerate(facts):
            await told(world, merging, TANG_THERE, fact)
            if number % 7 == 0 and (standing := await world.profiles.find(TANG_THERE)):
                await world.profiles.write(replace(standing, summary=f"{standing.summary}\n管理员 {number}"))
            await asyncio.sleep(0.005)
        await settled(merging)
    summary = await world.summary(TANG_THERE)
    assert [fact for fact in facts if fact not in summary] == []
    assert "管理员 35" in summary


async def test_a_broken_model_loses_nothing() -> None:
    """Broken three times: the facts wait, the status says so, the pauses grow; well again, the profile has them all."""
    tries: list[str] = []

    def react(person: Person) -> None:
        tries.append(person.id)
        if person.id == "2000001" and tries.count(person.id) <= 3:
            raise BadAnswer("坏答案")

    world = World(ScriptedMerger(react))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲", "乙")
        await told(world, merging, MILI_THERE, "丙")
        merging.hurry()
        await until(lambda: len(tries) == 2)
        for pause, count in ((60, 2), (3600, 3)):
            await unmoved()
            world.clock.advance(seconds=pause - 1)
            merging.hurry()
            await unmoved()
            assert tries.count("2000001") == count - 1
            world.clock.advance(seconds=1)
            merging.hurry()
            await until(lambda count=count: tries.count("2000001") == count)
        await unmoved()
        assert await merging.state() == MergeState(1, 2, 1, "坏答案")
        world.clock.advance(days=1)
        await settled(merging)
        assert await merging.state() == MergeState()
    assert await world.summary(TANG) == "甲\n乙"
    assert await world.summary(MILI_THERE) == "丙"


@pytest.mark.parametrize("error", [BadAnswer("坏"), PermanentError("拒绝"), KeyError("阿棠说的话")])
async def test_a_hurry_does_not_spin(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """What failed stays waiting within its pause, however often drain asks; the log names ids and no words."""

    def react(_: Person) -> None:
        raise error

    world = World(ScriptedMerger(react))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG_THERE, "甲")
        await until(lambda: _hurried(merging) and bool(world.merger.merged))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(settled(merging), 1)
        assert await merging.waiting() == 1
        assert merging.is_idle
    assert len(world.merger.merged) == 1
    assert "historian_profile_merge member group=10001 user=2000001" in caplog.text
    assert "阿棠说的话" not in caplog.text
    assert (await world.ledger.facts.waiting())[0].attempts == 1


async def test_a_model_that_is_away_counts_nothing() -> None:
    """Unreachable is no failure of anybody's facts: all wait, with growing pauses, and go on when it is back."""
    seconds = [0.0]

    def react(_: Person) -> None:
        if seconds[0] < 100:
            raise UnavailableError("away", retry_after=30)

    world = World(ScriptedMerger(react))
    async with running(ProfileMerging(world.entity, elapsed=lambda: seconds[0])) as merging:
        await told(world, merging, TANG, "甲")
        merging.hurry()
        await until(lambda: merging.last_error == "away")
        tried = len(world.merger.merged)
        for _ in range(20):
            merging.hurry()
            await asyncio.sleep(0.02)
        assert len(world.merger.merged) == tried
        seconds[0] = 29.0
        await unmoved()
        assert len(world.merger.merged) == tried
        seconds[0] = 101.0
        await settled(merging)
        await until(lambda: merging.last_error == "")
    assert (await world.summary(TANG)) == "甲"


async def test_one_file_that_cannot_be_written_stops_nobody_else() -> None:
    """A portrait whose store refuses goes to the back: all others are merged."""
    seconds = [0.0]

    def react(person: Person) -> None:
        if person.id == "2000001":
            raise StorageRefused("只读")

    settings = Live(Settings(historian=HistorianSettings(concurrency=1)))
    world = World(ScriptedMerger(react), settings=settings)
    keys = [ProfileKey.member("10001", str(2000001 + number)) for number in range(5)]
    async with running(ProfileMerging(world.entity, elapsed=lambda: seconds[0])) as merging:
        for key in keys:
            await told(world, merging, key, "甲")

        async def others_are_merged() -> bool:
            seconds[0] += 1.0
            merging.hurry()
            return await world.waiting() == 1

        await until(others_are_merged)


class Away:
    """A book of facts that is away for so many calls that matter."""

    def __init__(self, book: Any) -> None:
        """Stand before a book."""
        self._book = book
        self.failures = 2

    def __getattr__(self, name: str) -> Any:
        return getattr(self._book, name)

    async def waiting(self) -> Any:
        """Refuse, or answer."""
        self._refuse()
        return await self._book.waiting()

    async def fail(self, *arguments: Any) -> None:
        """Refuse, or note down."""
        self._refuse()
        await self._book.fail(*arguments)

    def _refuse(self) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise UnavailableError("账本不在")


async def test_a_ledger_that_is_away_ends_nothing() -> None:
    """The loop outlives a ledger that refuses, and notes down later what it could not."""
    seconds = [0.0]
    world = World()
    book = Away(world.ledger.facts)
    merging = ProfileMerging(replace(world.entity, book=book), elapsed=lambda: seconds[0])

    def react(_: Person) -> None:
        book.failures = 1
        world.merger.react = lambda _: None
        raise BadAnswer("坏答案")

    world.merger.react = react
    async with running(merging):
        await world.tell(TANG, "甲")

        async def is_noted() -> bool:
            seconds[0] += 10.0
            merging.hurry()
            return bool((await world.ledger.facts.waiting())[0].attempts)

        await until(is_noted)
        world.clock.advance(seconds=61)
        await until(lambda: len(world.merger.merged) == 2)
        await asyncio.sleep(0.05)
    assert await world.summary(TANG) == "甲"


async def test_whoever_is_left_out_does_not_hold_up_drain() -> None:
    """Facts of somebody who opted out wait for nobody, and are not counted."""
    world = World(left_out={"2000001"})
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        await told(world, merging, MILI_THERE, "乙")
        await settled(merging)
        assert await merging.state() == MergeState()
    assert await world.waiting() == 1
    assert [person.id for person, _, _ in world.merger.merged] == ["2000002"]


async def test_while_held_nothing_is_merged() -> None:
    """Whoever erases holds the merging: what is in hand is put down, nothing begins, and afterwards it goes on."""
    world = World(ScriptedMerger(seconds=0.2))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        merging.hurry()
        await until(lambda: bool(world.merger.in_hand))
        async with merging.held():
            assert world.merger.in_hand == []
            merging.hurry()
            await unmoved()
            assert world.merger.in_hand == []
            assert await world.profiles.keys() == []
        await settled(merging)
    assert await world.summary(TANG) == "甲"


async def test_stopping_lets_a_merge_end() -> None:
    """What is in hand when the memory stops gets its time, and nothing new begins."""
    world = World(ScriptedMerger(seconds=0.1), settings=Live(Settings(historian=HistorianSettings(concurrency=1))))
    async with running(ProfileMerging(world.entity)) as merging:
        await told(world, merging, TANG, "甲")
        await told(world, merging, GROUP_KEY, "乙")
        merging.hurry()
        await until(lambda: bool(world.merger.in_hand))
        await merging.stop()
        await unmoved()
        assert merging.is_idle
    assert await world.summary(TANG) == "甲"
    assert await world.waiting() == 1


async def test_a_pause_holds_and_ends() -> None:
    """While paused nothing is merged, whatever hurries."""
    world = World()
    async with running(ProfileMerging(world.entity)) as merging:
        merging.paused = True
        await told(world, merging, TANG, "甲")
        merging.hurry()
        await unmoved()
        assert world.merger.merged == []
        merging.paused = False
        await settled(merging)


@pytest.mark.parametrize(("people", "most"), [(10, 60), (1, 18)])
async def test_a_chat_of_fifty_minutes_costs_few_merges(people: int, most: int) -> None:
    """A hundred turns, 30 seconds apart, two facts each: ten people cost 60 merges at most, one as many as fill up."""
    world = World()
    merging = ProfileMerging(world.entity)
    async with running(merging):
        for turn in range(100):
            await told(
                world, merging, ProfileKey.member("10001", str(2000000 + turn % people)), f"{turn} 甲", f"{turn} 乙"
            )
            await _quiet(merging)
            world.clock.advance(seconds=30)
            await _quiet(merging)
        await settled(merging)
    assert len(world.merger.merged) <= most
    assert sum(len(facts) for _, _, facts in world.merger.merged) == 200


async def test_a_burst_costs_a_merge_or_two_each() -> None:
    """The same hundred turns at once cost at most two merges a person."""
    world = World()
    merging = ProfileMerging(world.entity)
    async with running(merging):
        for turn in range(100):
            await told(world, merging, ProfileKey.member("10001", str(2000000 + turn % 10)), f"{turn} 甲", f"{turn} 乙")
        await settled(merging)
    assert len(world.merger.merged) <= 20


async def _quiet(merging: ProfileMerging) -> None:
    """Wait until the loop has done what is due; it is told to look rather than waited for."""
    merging.nudge()
    merging.loop.hurry()
    await asyncio.sleep(0.005)
    await until(lambda: merging.is_idle)


def _portrait(key: ProfileKey) -> Any:
    from tests.support.profiles import a_profile

    return a_profile("已有的侧写", key)


def _hurried(merging: ProfileMerging) -> bool:
    merging.hurry()
    return True
