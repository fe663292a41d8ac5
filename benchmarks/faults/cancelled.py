"""F34: somebody cancels the memory's background tasks again and again; lines, jobs and profiles come late but whole."""

from __future__ import annotations

import asyncio

import cognitive_memory_core as core
from tests.support.waiting import until

from ..fault_row import Extent, Row, Seen
from . import world

PAUSE = 1.5  # seconds between two cancellations; a loop begins again after one
PATIENCE = 120.0  # seconds for the work that is left


async def f34(extent: Extent) -> Row:
    """Cancel every task of a memory that works, once for each line that it is given."""
    numbers = range(extent.of(100, 2))
    others, cancelled = asyncio.all_tasks(), 0
    async with world.a_memory(world.model_settings(profile={"merge_delay_seconds": 0})) as (memory, _):
        await until(lambda: bool(_names(others)))  # what learns is loaded after the opening
        loops = _names(others)
        for number in numbers:
            line = core.Message(f"m{number}", world.own_scene(number), f"我喜欢喝第{number}号茶", world.now())
            await memory.observe(line)
            await memory.consider(line.scene, [line])
            for task in asyncio.all_tasks() - others:
                cancelled += task.cancel()
            await asyncio.sleep(PAUSE)
        seen = Seen()
        with seen.timed():
            await memory.drain(PATIENCE)
        dead = loops - _names(others)
        unsaid = [number for number in numbers if not await memory.recent_messages(world.own_scene(number))]
        unmerged = [number for number in numbers if not await _is_merged(memory, number)]
        seen.update(await world.counted(memory, numbers, ["event"]))
        restarts = sum(dict((await memory.status()).restarts).values())
    seen.update(loops=len(loops), dead=len(dead), restarts=restarts)
    seen.update(lines_lost=len(unsaid), profiles_without_their_fact=len(unmerged))
    return seen.row(cancelled, failed=dead or unsaid or unmerged or not restarts)


def _names(others: set[asyncio.Task[object]]) -> set[str]:
    """Return the names of the loops; jobs and merges under way have other names."""
    names = {task.get_name() for task in asyncio.all_tasks() - others}
    return {name for name in names if not name.startswith(("Task-", "historian-", "merge-"))}


async def _is_merged(memory: core.CognitiveMemory, number: int) -> bool:
    scene = world.own_scene(number)
    profile = await memory.get_profile(scene, "user", scene.user_id)
    return profile is not None and f"第{number}号茶" in profile.summary
