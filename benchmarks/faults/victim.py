"""The processes of these rows: ``victim.py work DATA FIRST SEED``, ``hold|own|poison DATA``, ``flood DATA SECONDS``."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from pathlib import Path

import cognitive_memory_core as core
from benchmarks.faults import world
from benchmarks.faults.flood import flooded
from cognitive_memory_core.domain.event import Statement
from cognitive_memory_core.domain.people import JobContext
from cognitive_memory_core.domain.turn import Turn
from cognitive_memory_core.historian.rules import RuleHistorian

HANDS = 3  # turns handed in at once
GROUPS = 7
BACKLOG = 300  # waiting jobs at which a child pauses
ASKED_EVERY = 20  # turns
SLOWEST = 0.03  # seconds between two turns of one task
POISON_TEXT = "第毒号茶"


async def work(data: Path, first: int, seed: str) -> None:
    """Hand in turns while the historian works, and print the number of each accepted one."""
    dice = random.Random(seed)
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        await asyncio.gather(*(_hand_in(memory, first + hand, dice) for hand in range(HANDS)))


async def _hand_in(memory: core.CognitiveMemory, number: int, dice: random.Random) -> None:
    while True:
        while number % ASKED_EVERY == 0 and (await memory.status()).jobs.pending > BACKLOG:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.1)
        scene = core.Scene.group(str(10_001 + number % GROUPS), str(20_001 + number % GROUPS), user_name="小雨")
        said = f"小雨在第 {number} 轮说喜欢第 {number} 号茶"
        turn = core.Turn(scene, memo=f"第 {number} 轮答过", observations=[said], request_id=f"turn-{number}")
        if await memory.remember(turn) is not None:
            print(number, flush=True)
        number += HANDS
        await asyncio.sleep(dice.uniform(0, SLOWEST))


async def hold(data: Path) -> None:
    """Claim a job and keep it."""
    queue = await world.opened_queue(data)
    await queue.enqueue(world.a_job("甲"))
    assert await queue.claim() is not None
    print("held", flush=True)
    await asyncio.sleep(3600)


async def poison(data: Path) -> None:
    """Process all jobs; one of them ends the process."""

    async def deadly(self: RuleHistorian, turn: Turn, job_context: JobContext) -> list[Statement]:
        if any(POISON_TEXT in said for said in turn.observations):
            os._exit(9)
        return await harmless(self, turn, job_context)

    harmless, RuleHistorian.rewrite = RuleHistorian.rewrite, deadly
    settings = core.Settings(vector_store=world.SETTINGS.vector_store, historian=world.SETTINGS.historian)
    async with core.CognitiveMemory.open(settings, data) as memory:
        await memory.drain(60)


async def own(data: Path) -> None:
    """Own a directory without working; if it is refused, print the reason on one line."""
    impatient = world.SETTINGS.model_copy(update={"historian": core.HistorianSettings(shutdown_seconds=0)})
    try:
        async with core.CognitiveMemory.open(impatient, data, background=False):
            print("owned", flush=True)
            await asyncio.sleep(3600)
    except core.UnavailableError as refused:
        print(type(refused).__name__, str(refused).replace("\n", " "), flush=True)


if __name__ == "__main__":
    wanted, folder, *rest = sys.argv[1:]
    if wanted == "work":
        asyncio.run(work(Path(folder), int(rest[0]), rest[1]))
    elif wanted == "flood":
        print(json.dumps(asyncio.run(flooded(Path(folder), float(rest[0])))))
    else:
        asyncio.run({"hold": hold, "own": own, "poison": poison}[wanted](Path(folder)))
