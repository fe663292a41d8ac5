"""Tests of hot settings through what they steer: an open memory behaves differently once one has changed."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from cognitive_memory_core import sentences
from cognitive_memory_core.settings.configuration import is_hot, with_hot
from cognitive_memory_core.settings.schema import setting_keys, value_at
from tests.support.clock import FrozenClock
from tests.support.telling import say

NOW = datetime(2026, 3, 4, 12, tzinfo=timezone.utc)
OLDEST = 300  # days
WINDOW = 250  # lines
SCENE = core.Scene.group("20001", "30001", user_name="米粒")
QUERY = "米粒喜欢吃什么水果"
BASE: dict[str, Any] = {
    "vector_store": {"backend": "exact"},
    "query": {"time_decay_boost": 5.0, "time_decay_min_similarity": 0.0, "min_relevance": 0.0},
}


@dataclass
class LoggingReranker:
    """A reranker that records how many texts it is asked to score."""

    asked: list[int] = field(default_factory=list[int])

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score all texts alike."""
        self.asked.append(len(texts))
        return [0.5] * len(texts)


@dataclass
class Bench:
    """An open memory with old and new events, memos and lines, and what its reranker was asked."""

    memory: core.CognitiveMemory
    reranker: LoggingReranker
    data_dir: Path

    async def context_lines(self, part: str) -> int:
        """Count the lines of the context that contain a word."""
        return sum(part in line for line in (await self.memory.context(SCENE, QUERY)).text.splitlines())

    async def scores(self) -> list[float]:
        """Return the scores of a search."""
        return [hit.score for hit in await self.memory.search_events(SCENE, QUERY)]

    async def events_shown(self) -> tuple[str, ...]:
        """Return the lines of the events in a context."""
        sections = (await self.memory.context(SCENE, QUERY)).sections
        return next((part.lines for part in sections if part.title == sentences.context.TITLE_EVENTS), ())

    async def context_text(self) -> str:
        """Return the context of a turn."""
        return (await self.memory.context(SCENE, QUERY)).text

    async def queued(self) -> Any:
        """Hand in a long turn and return its job as stored."""
        lines = [core.Message(f"m{n}", SCENE, f"{n}" + "长" * 900, NOW) for n in range(20)]
        turn = core.Turn(SCENE, observations=("米粒来了",), source_message="说" * 2_000, recent_messages=lines)
        job_id = await self.memory.remember(turn)
        [file] = self.data_dir.glob(f"queues/pending/*{job_id}*")
        return json.loads(file.read_text("utf-8"))

    async def profiles_found(self) -> int:
        """Count the profiles that a search of all of them returns."""
        return len(await self.memory.search_profiles(core.Scene.operator(), QUERY))

    async def earlier_lines(self) -> int:
        """Count the earlier messages of a stored job."""
        return len((await self.queued())["recent_messages"])

    async def reranked(self) -> list[int]:
        """Return how many texts the reranker is asked to score for two hits."""
        self.reranker.asked.clear()
        await self.memory.search_events(SCENE, QUERY, top_k=2)
        return list(self.reranker.asked)


async def _length(bench: Bench, wanted: str) -> int:
    """Return the length of the longest run of a character in a stored job."""
    text = json.dumps(await bench.queued(), ensure_ascii=False)
    return max(map(len, "".join(char if char == wanted else " " for char in text).split()))


Look = Callable[[Bench], Awaitable[object]]
CASES: dict[str, tuple[object, Look]] = {
    "query.auto_top_k": (1, lambda bench: bench.context_lines("水果")),
    "query.auto_messages_k": (0, lambda bench: bench.context_lines("闲聊")),
    "query.enable_rerank": (False, Bench.reranked),
    "query.recent_end_summaries_inject_k": (1, lambda bench: bench.context_lines("备忘内容")),
    "query.tool_default_top_k": (1, Bench.scores),
    "query.rerank_candidate_multiplier": (1, Bench.reranked),
    "query.profile_top_k": (1, Bench.profiles_found),
    "query.lexical_weight": (1.0, Bench.scores),
    "query.diversity": (1.0, Bench.scores),
    "query.min_relevance": (1.0, lambda bench: bench.context_lines("水果")),
    "query.context_token_budget": (60, Bench.context_text),
    "query.time_decay_enabled": (False, Bench.scores),
    "query.time_decay_half_life_days_tool": (0.001, Bench.scores),
    "query.time_decay_half_life_days_auto": (0.001, Bench.events_shown),
    "query.time_decay_boost": (0.0, Bench.scores),
    "query.time_decay_min_similarity": (1.0, Bench.scores),
    "historian.recent_messages_inject_k": (2, Bench.earlier_lines),
    "historian.recent_message_line_max_len": (10, lambda bench: _length(bench, "长")),
    "historian.source_message_max_len": (10, lambda bench: _length(bench, "说")),
}


async def fill(memory: core.CognitiveMemory) -> None:
    """Store events of different ages, memos and lines."""
    for number, (days, fruit) in enumerate([(300, "苹果"), (200, "桃子"), (20, "香蕉"), (1, "西瓜"), (2, "葡萄")]):
        then = NOW - timedelta(days=days)
        await memory.remember(core.Turn(SCENE, memo=f"备忘内容 {number}", happened_at=then))
        await say(memory, SCENE, f"我喜欢吃{'什么水果都行，最好是' * (days == OLDEST)}{fruit}这种水果", at=then)
        at = NOW - timedelta(days=3, minutes=number)
        await memory.observe(core.Message(f"line{number}", SCENE, f"闲聊 {number}：米粒喜欢吃什么，{fruit}吧", at))
    other = core.Scene.group("20001", "30002", user_name="阿棠")
    said = "闲聊：米粒喜欢吃什么水果我知道，她在超市买了两个榴莲"
    await memory.observe(core.Message("line9", other, said, NOW - timedelta(days=4)))
    await say(memory, other, "我喜欢吃榴莲这种水果", at=NOW)
    for number in range(WINDOW):  # newer lines: what is still in the window is not quoted
        at = NOW - timedelta(hours=2) + timedelta(seconds=number)
        await memory.observe(core.Message(f"chat{number}", other, f"今天作业第 {number} 题好难", at))
    assert await memory.drain(60)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill a directory, of which each test gets a copy."""
    path = tmp_path_factory.mktemp("filled") / "data"

    async def lived() -> None:
        settings, clock = core.Settings.from_mapping(BASE), FrozenClock(NOW)
        async with core.CognitiveMemory.open(settings, path, background=False, clock=clock) as memory:
            await fill(memory)

    asyncio.run(lived())
    return path


@pytest.mark.parametrize("key", CASES)
async def test_a_hot_setting_acts_at_once(filled: Path, tmp_path: Path, key: str) -> None:
    """The behaviour that a setting steers differs after `configure`, and is the earlier one after a reset."""
    value, look = CASES[key]
    reranker = LoggingReranker()
    group, _, name = key.partition(".")
    base = {**BASE, "query": {**BASE["query"], "auto_top_k": 1}} if name.endswith("days_auto") else BASE
    settings = core.Settings.from_mapping(base)
    given = None if key.startswith(("query.time", "query.lex", "query.div", "query.min")) else reranker
    data = shutil.copytree(filled, tmp_path / "data")
    async with core.CognitiveMemory.open(
        settings, data, background=False, reranker=given, clock=FrozenClock(NOW)
    ) as memory:
        bench = Bench(memory, reranker, data)
        before = await look(bench)
        wanted = core.Settings.from_mapping({**base, group: {**base.get(group, {}), name: value}})
        await memory.configure(wanted)
        after = await look(bench)
        assert after != before
        await memory.configure(settings)
        assert await look(bench) == before


async def test_a_cold_setting_does_not_move(tmp_path: Path) -> None:
    """`configure` leaves settings that are not hot as they were at the start."""
    settings = core.Settings.from_mapping({**BASE, "pins": {"max": 1}})
    async with core.CognitiveMemory.open(settings, tmp_path, background=False) as memory:
        await memory.pin(SCENE, "一")
        await memory.configure(core.Settings.from_mapping({**BASE, "pins": {"max": 5}, "enabled": False}))
        assert memory.is_running
        with pytest.raises(core.LimitReached):
            await memory.pin(SCENE, "二")
    assert with_hot(settings, settings) == settings


def test_exactly_the_hot_settings_move() -> None:
    """A change of a number takes effect where its setting is called hot, whatever its group, and nowhere else."""
    present = core.Settings()
    halves = {key: value / 2 for key in setting_keys() if type(value := value_at(present, key)) is float}
    halves |= {key: value // 2 for key in setting_keys() if type(value := value_at(present, key)) is int and value > 1}
    moved = with_hot(present, core.Settings.from_mapping(halves))
    now_hot = {key for key in halves if value_at(moved, key) != value_at(present, key)}
    assert now_hot == {key for key in halves if is_hot(key) and halves[key]}
