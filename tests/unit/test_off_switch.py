"""Tests of switching the memory off and on again, and of the file that a mode without it reads meanwhile."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from tests.support.builders import GROUP, PRIVATE
from tests.support.clock import NOON, FrozenClock
from tests.support.waiting import PATIENCE

QUIET: dict[str, Any] = {"vector_store": {"backend": "exact"}}
ON, OFF = core.Settings.model_validate(QUIET), core.Settings.model_validate({**QUIET, "enabled": False})
OPERATOR = core.Scene.operator()


def older_mode(path: Path) -> list[dict[str, Any]]:
    """Read the file as the mode without a memory does: texts, or objects whose fields have the known types."""
    rows = json.loads(path.read_text("utf-8"))
    assert isinstance(rows, list)
    for row in rows:
        assert isinstance(row, dict)
        assert isinstance(row["summary"], str)
        assert row["location"]["type"] in ("group", "private")
        assert isinstance(row["location"]["name"], str)
    times = [datetime.fromisoformat(row["timestamp"]) for row in rows]
    assert times == sorted(times)
    return rows


def job_files(data: Path) -> dict[str, bytes]:
    """Return the contents of all jobs by job, whatever their state and attempts."""
    return {path.name.partition(".")[0]: path.read_bytes() for path in data.glob("queues/*/*.json")}


def states(data: Path) -> dict[str, int]:
    """Count the jobs by state."""
    return {folder.name: len(list(folder.iterdir())) for folder in (data / "queues").iterdir()}


def likes(number: int) -> core.Turn:
    """Return a turn with a memo and one thing to learn."""
    told = f"阿棠(2000001) 收藏了第 {number} 张唱片"
    return core.Turn(GROUP, memo=f"第 {number} 轮", observations=(told,), happened_at=NOON)


async def left_undone(data: Path) -> None:
    """Leave three turns and a dialogue in the queue, one of them as a killed process leaves a job in hand."""
    async with core.CognitiveMemory.open(ON, data, background=False, clock=FrozenClock()) as memory:
        for number in range(3):
            await memory.remember(likes(number))
        line = core.Message("m9", GROUP, "我对花生过敏", NOON)
        await memory.observe(line)
        await memory.consider(GROUP, [line])
    first = min((data / "queues" / "pending").iterdir())
    first.rename(data / "queues" / "processing" / first.name)


async def test_off_and_on_again_loses_no_pending_job(tmp_path: Path) -> None:
    """Jobs that wait when the memory is switched off are untouched while it is off, and done once it is on again."""
    await left_undone(tmp_path)
    jobs = job_files(tmp_path)
    assert len(jobs) == 4
    for _ in range(2):
        async with core.CognitiveMemory.open(OFF, tmp_path, clock=FrozenClock()) as memory:
            assert await memory.remember(likes(7))
            assert await memory.consider(GROUP, [core.Message("m10", GROUP, "我养了一只猫", NOON)]) is None
            await memory.drain(5)
            assert (await memory.status()).jobs.pending == 4
        assert job_files(tmp_path) == jobs
        assert states(tmp_path) == {"pending": 4, "processing": 0, "failed": 0}
    async with core.CognitiveMemory.open(ON, tmp_path, clock=FrozenClock()) as memory:
        assert await memory.drain(PATIENCE)
        texts = [event.text for event in await memory.events(OPERATOR, limit=50)]
        memos = [memo.text for memo in await memory.memos(GROUP)]
    for number in range(3):
        assert sum(f"第 {number} 张唱片" in text for text in texts) == 1
        assert memos.count(f"第 {number} 轮") == 1
    assert any("花生" in text for text in texts)
    assert not any("第 7 张" in text for text in texts)  # said while it was off: nothing new is queued
    assert "第 7 轮" in memos
    assert states(tmp_path) == {"pending": 0, "processing": 0, "failed": 0}


async def test_what_the_older_mode_rewrote_is_not_written_twice(tmp_path: Path) -> None:
    """Rows whose ids the older mode dropped are known again by their text and time, in any zone that states it."""
    path = tmp_path / "end_summaries.json"
    async with core.CognitiveMemory.open(OFF, tmp_path, clock=FrozenClock()) as memory:
        for number in range(3):
            await memory.remember(core.Turn(GROUP, memo=f"第 {number} 轮", happened_at=NOON + timedelta(hours=number)))
        await memory.remember(core.Turn(PRIVATE, memo="第 0 轮", happened_at=NOON))
    rows = [{key: row[key] for key in ("summary", "timestamp", "location")} for row in older_mode(path)]
    rows[1]["timestamp"] = datetime.fromisoformat(rows[1]["timestamp"]).astimezone().isoformat()
    later = {**rows[-1], "summary": "旧模式写的", "timestamp": "2031-01-01T00:00:00+08:00"}
    path.write_text(json.dumps([*rows, later]), "utf-8")
    async with core.CognitiveMemory.open(ON, tmp_path, clock=FrozenClock()) as memory:
        await memory.remember(core.Turn(GROUP, memo="第 9 轮", happened_at=NOON + timedelta(hours=9)))
    assert [row["summary"] for row in older_mode(path)].count("第 1 轮") == 1
    assert len(older_mode(path)) == 6
    assert older_mode(path)[-1]["summary"] == "旧模式写的"
