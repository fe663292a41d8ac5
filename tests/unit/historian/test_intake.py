"""Tests of accepting turns and dialogues."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

import cognitive_memory_core as core
from cognitive_memory_core import QueueSettings, Settings, Turn
from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.queue.job_queue import FileQueue
from tests.support.builders import GROUP
from tests.support.ports import Wrapping

PATIENCE = 30  # seconds, far more than any test here needs
SETTINGS = Settings.from_mapping({"vector_store": {"backend": "exact"}})


class HangingQueue(Wrapping):
    """A queue that hangs on jobs of one place until it is released."""

    def __init__(self, queue: FileQueue) -> None:
        """Wrap a queue."""
        super().__init__(queue)
        self.freed, self.reached = asyncio.Event(), asyncio.Event()

    async def enqueue(self, job: Job) -> None:
        """Hang on that place, otherwise take the job."""
        if job.scope == GROUP.scope:
            self.reached.set()
            await self.freed.wait()
        await self.inner.enqueue(job)


async def test_one_request_handed_in_twice_at_once_is_one_job(tmp_path: Path) -> None:
    """A request repeated during its first write gives the same job."""
    async with core.CognitiveMemory.open(SETTINGS, tmp_path, background=False) as memory:
        engine = memory._opened
        queue = HangingQueue(engine.intake.queue)
        engine.intake = replace(engine.intake, queue=queue)
        turn = Turn(GROUP, observations=["阿棠怕狗"], request_id="r1")
        both = [asyncio.create_task(memory.remember(turn)) for _ in range(2)]
        await asyncio.wait_for(queue.reached.wait(), PATIENCE)
        queue.freed.set()
        first, second = await asyncio.gather(*both)
        assert first == second
        assert queue.counts().pending == 1


@pytest.mark.parametrize("background", [False, True])
async def test_a_flood_is_refused_before_anything_is_written(tmp_path: Path, *, background: bool) -> None:
    """Turns over the limit raise QueueFull, leave no file and are counted; other places are served."""
    bounds = QueueSettings(turns_per_minute=1, turn_burst=8)
    settings = replace_queue(SETTINGS, bounds)
    async with core.CognitiveMemory.open(settings, tmp_path, background=background) as memory:
        await memory.pause()
        outcomes = await asyncio.gather(
            *(memory.remember(Turn(GROUP, observations=[f"第 {number} 件事"])) for number in range(50)),
            return_exceptions=True,
        )
        assert sum(isinstance(outcome, core.QueueFull) for outcome in outcomes) == 46  # one person may use half
        assert len(list((tmp_path / "queues" / "pending").iterdir())) == 4
        status = await memory.status()
        assert (status.jobs.pending, status.refused) == (4, 46)
        assert await memory.remember(Turn(core.Scene.group("20001", "3000001"), observations=["别处的事"]))


async def test_a_turn_that_is_known_is_never_refused(tmp_path: Path) -> None:
    """Repeating an accepted request returns its id even if the limit is reached."""
    settings = replace_queue(SETTINGS, QueueSettings(turns_per_minute=1, turn_burst=2))
    async with core.CognitiveMemory.open(settings, tmp_path, background=False) as memory:
        turn = Turn(GROUP, observations=["阿棠怕狗"], request_id="r1")
        first = await memory.remember(turn)
        assert [await memory.remember(turn) for _ in range(5)] == [first] * 5
        with pytest.raises(core.QueueFull):
            await memory.remember(Turn(GROUP, observations=["阿棠养猫"], request_id="r2"))


def replace_queue(settings: Settings, bounds: QueueSettings) -> Settings:
    """Return settings with other queue limits."""
    return settings.model_copy(update={"queue": bounds})
