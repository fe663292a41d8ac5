"""Tests of hot settings of the write path and of evolution: background work goes by a changed one while it runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import cognitive_memory_core as core
from cognitive_memory_core.ports import Ask
from tests.support.builders import GROUP
from tests.support.chats import statements
from tests.support.clock import FrozenClock
from tests.support.waiting import until

T = TypeVar("T")
CAT = "阿棠(2000001) 养了一只猫"
VAGUE = "他昨天去了那里"  # no statement that the gate accepts


@dataclass
class HeldChat:
    """A model that gives one answer, or one for each purpose; while ``gate`` is cleared it holds them back."""

    answer: object = ""
    answers: Mapping[str, str] = field(default_factory=dict[str, str])
    asked: list[Ask[Any]] = field(default_factory=list[Ask[Any]])
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    busy: int = 0
    busiest: int = 0

    async def ask(self, ask: Ask[T]) -> T:
        """Answer once it may."""
        self.asked.append(ask)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            await self.gate.wait()
        finally:
            self.busy -= 1
        given = self.answers.get(ask.purpose, self.answer)
        answer = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        return ask.parse(answer)

    def count(self, purpose: str) -> int:
        """Return how often it was asked for a purpose."""
        return sum(one.purpose == purpose for one in self.asked)


@dataclass
class Bench:
    """An open memory at work, its model and its clock."""

    memory: core.CognitiveMemory
    chat: HeldChat
    clock: FrozenClock

    async def remember(self, text: str, group: str = "") -> None:
        """Hand in one observation."""
        scene = core.Scene.group(group or GROUP.group_id, "2000001", user_name="阿棠")
        assert await self.memory.remember(core.Turn(scene, observations=[text]))

    async def idle(self) -> None:
        """Wait until no job is left; profiles are not waited for."""

        async def is_idle() -> bool:
            jobs = (await self.memory.status()).jobs
            return not (jobs.pending or jobs.processing)

        await until(is_idle)

    async def stored(self, text: str) -> core.Event:
        """Hand in one observation; return the event that it became."""
        before = {event.id for event in await self.memory.events(GROUP)}
        await self.remember(text)
        await self.idle()
        [event] = [event for event in await self.memory.events(GROUP) if event.id not in before]
        return event

    async def move(self, group: str, **changed: object) -> None:
        """Change settings of a group; all other ones have their defaults."""
        await self.memory.configure(settings({group: changed}))


def jobs_in(data_dir: Path, folder: str) -> list[str]:
    """Return the job files of a folder of the queue; one that is moved meanwhile is left out."""
    found: list[str] = []
    for path in data_dir.glob(f"queues/{folder}/*.json"):
        with suppress(FileNotFoundError):
            found.append(path.read_text("utf-8"))
    return found


def settings(given: dict[str, Any]) -> core.Settings:
    """Return settings of a memory without a vector store."""
    return core.Settings.from_mapping({"vector_store": {"backend": "exact"}, **given})


@asynccontextmanager
async def at_work(tmp_path: Path, answer: object = "", **given: Any) -> AsyncIterator[Bench]:
    """Open a memory with its background work; the model's gate is open."""
    chat, clock = HeldChat(answer), FrozenClock()
    chat.gate.set()
    async with core.CognitiveMemory.open(settings(given), tmp_path, chat=chat, clock=clock) as memory:
        yield Bench(memory, chat, clock)


async def test_the_number_of_rewrites_moves(tmp_path: Path) -> None:
    """`historian.rewrite_max_retry` decides how often a statement that the gate refuses is asked for again."""
    async with at_work(tmp_path, statements(VAGUE)) as bench:
        await bench.stored("他前天来过")
        assert bench.chat.count("rewrite") == 3
        await bench.move("historian", rewrite_max_retry=0)
        await bench.stored("他前天走了")
        assert bench.chat.count("rewrite") == 4


async def test_how_many_places_are_served_at_once_moves(tmp_path: Path) -> None:
    """`historian.concurrency` bounds the places for which the model is asked at once, also while jobs wait."""
    async with at_work(tmp_path, statements(CAT), historian={"concurrency": 1}) as bench:
        for number in range(3):
            await bench.remember("她养了一只猫", f"1000{number}")
        await bench.idle()
        assert bench.chat.busiest == 1
        bench.chat.gate.clear()
        for number in range(6):
            await bench.remember("她又养了一只猫", f"1000{number}")
        await until(lambda: bench.chat.busy == 1)
        await bench.move("historian", concurrency=4)
        await until(lambda: bench.chat.busy == 4)
        bench.chat.gate.set()
        await bench.idle()
        assert bench.chat.busiest == 4


async def test_how_long_a_job_may_run_moves(tmp_path: Path) -> None:
    """`historian.stale_job_timeout_seconds` bounds the jobs that begin after a change; a running one keeps its own."""
    async with at_work(tmp_path, historian={"shutdown_seconds": 0}) as bench:
        bench.chat.gate.clear()
        await bench.remember("她养了一只猫", "10001")
        await until(lambda: bench.chat.busy == 1)
        await bench.move("historian", stale_job_timeout_seconds=0.05, shutdown_seconds=0)
        await bench.remember("她养了一只狗", "10002")

        async def is_turned_back() -> bool:
            return len(bench.chat.asked) > 1 and any("10002" in job for job in jobs_in(tmp_path, "pending"))

        await until(is_turned_back)
        assert any("10001" in job for job in jobs_in(tmp_path, "processing"))


async def test_how_many_facts_a_profile_waits_for_moves(tmp_path: Path) -> None:
    """`profile.merge_min_facts` decides how many facts make an existing profile due."""
    scene = core.Scene.group(GROUP.group_id, "2000001", user_name="阿棠")
    clock = FrozenClock()
    async with core.CognitiveMemory.open(settings({}), tmp_path, clock=clock) as memory:

        async def written(word: str) -> bool:
            profile = await memory.get_profile(scene, "user", "2000001")
            return profile is not None and word in profile.summary

        async def waits(facts: int = 1) -> bool:
            return (await memory.status()).merges.facts == facts

        for text, minutes in (("我喜欢吃苹果", 1), ("我喜欢吃桃子", 60)):
            await memory.consider(scene, [core.Message(f"m{minutes}", scene, text, clock.now())])
            await until(waits)
            clock.advance(minutes=minutes)
            await memory.configure(settings({}))
            if minutes == 1:
                await until(lambda: written("苹果"))
                await until(lambda: waits(0))
        assert not await written("桃子")
        await memory.configure(settings({"profile": {"merge_min_facts": 1}}))
        await until(lambda: written("桃子"))
