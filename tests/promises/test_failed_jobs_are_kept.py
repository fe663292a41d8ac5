"""README: a job that cannot be done is kept with its error, and can be tried again."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core import HistorianSettings, QueueSettings, Turn
from tests.support.puppet import Puppet
from tests.support.telling import EXACT, READING, a_memory
from tests.support.waiting import PATIENCE


async def test_an_unreadable_job_is_kept_and_the_others_go_on(tmp_path: Path) -> None:
    """A damaged job file is moved to failed with a reason, and the next job still becomes an event."""
    async with a_memory(tmp_path, background=False) as memory:
        await memory.remember(Turn(READING, observations=("第一件事会被弄坏",)))
    [file] = (tmp_path / "queues" / "pending").iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    async with a_memory(tmp_path) as memory:
        await memory.remember(Turn(READING, observations=("第二件事好好的",)))
        assert await memory.drain(PATIENCE)
        assert [event.text for event in await memory.events(READING)] == ["机器人记：第二件事好好的"]
        [failed] = await memory.failed_jobs()
        assert failed.error
        assert await memory.revive(failed.id) == 1
        assert await memory.drain(PATIENCE)
        assert len(await memory.failed_jobs()) == 1


async def test_a_job_that_never_ends_is_kept_and_can_be_tried_again(tmp_path: Path) -> None:
    """A job that takes too long at every attempt moves to failed with a reason; tried again, it becomes an event."""
    chat = Puppet(seconds=3600.0)
    historian, queue = HistorianSettings(stale_job_timeout_seconds=0.5), QueueSettings(job_max_retries=0)
    settings = EXACT.model_copy(update={"historian": historian, "queue": queue})
    async with a_memory(tmp_path, settings, chat=chat) as memory:
        await memory.remember(Turn(READING, observations=("窗台上的花周三开了",)))
        assert await memory.drain(PATIENCE)
        [failed] = await memory.failed_jobs()
        assert failed.error
        assert await memory.events(READING) == []
        chat.seconds = 0.0
        assert await memory.revive(failed.id) == 1
        assert await memory.drain(PATIENCE)
        assert len(await memory.events(READING)) == 1
