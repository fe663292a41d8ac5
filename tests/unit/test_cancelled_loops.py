"""Tests of a memory whose background tasks are cancelled by somebody else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import cognitive_memory_core as core

from ..support.waiting import until

SCENE = core.Scene.group("20001", "10001", user_name="禾苗")
EXACT = core.Settings.from_mapping({"vector_store": {"backend": "exact"}, "profile": {"merge_delay_seconds": 0}})


def own_tasks(others: set[asyncio.Task[object]]) -> set[asyncio.Task[object]]:
    """Return the loops, jobs and merges that run, which have names, without the ``others``."""
    return {task for task in asyncio.all_tasks() - others if not task.get_name().startswith("Task-")}


async def test_each_loop_that_is_cancelled_runs_again(tmp_path: Path) -> None:
    """No background loop stays dead when it is cancelled, and the status counts each that began again (row F34)."""
    others = asyncio.all_tasks()
    async with core.CognitiveMemory.open(EXACT, tmp_path) as memory:
        assert await memory.drain(60)
        names = {task.get_name() for task in own_tasks(others)}
        before = dict((await memory.status()).restarts)
        assert {"message log", "HistorianWorker", "historian_profile_merge", "Indexer"} <= names
        for task in own_tasks(others):
            task.cancel()
        await until(lambda: {task.get_name() for task in own_tasks(others)} == names)
        after = dict((await memory.status()).restarts)
        assert not [name for name in names if after[name] <= before.get(name, 0)]


async def test_loading_that_somebody_cancels_is_repeated(tmp_path: Path) -> None:
    """A memory whose loading of what learns is cancelled by somebody learns all the same, and closes."""
    others = asyncio.all_tasks()
    async with core.CognitiveMemory.open(EXACT, tmp_path) as memory:
        for task in asyncio.all_tasks() - others:
            task.cancel()
        await asyncio.sleep(0)
        await memory.remember(core.Turn(SCENE, observations=["阿棠喜欢乌龙茶"]))
        assert await memory.drain(60)
        assert (await memory.status()).totals.events == 1
    async with core.CognitiveMemory.open(EXACT, tmp_path):
        for task in asyncio.all_tasks() - others:
            task.cancel()
        await asyncio.sleep(0)
