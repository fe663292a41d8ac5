"""README: a model that is away, or answers nonsense, costs time and no memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core import Turn, UnavailableError
from cognitive_memory_core.errors import BadAnswer
from cognitive_memory_core.historian.merging import MergeState
from tests.support.clock import FrozenClock
from tests.support.puppet import MERGE, REWRITE, Puppet
from tests.support.telling import EXACT, PATIENCE, READING, a_memory

FACT = f"阿禾({READING.user_id}) 喜欢喝乌龙茶"


@pytest.mark.parametrize("failure", [UnavailableError("away"), BadAnswer("nonsense")])
async def test_what_was_said_waits_for_the_model(tmp_path: Path, failure: Exception) -> None:
    """While the model fails the status says so; afterwards the event is there."""
    chat = Puppet(refuses={REWRITE: failure})
    settings = EXACT.model_copy(update={"queue": EXACT.queue.model_copy(update={"job_max_retries": 50})})
    async with a_memory(tmp_path, settings, chat=chat) as memory:
        await memory.remember(Turn(READING, observations=(FACT,)))
        assert not await memory.drain(1.0)
        status = await memory.status()
        assert status.jobs.pending + status.jobs.processing == 1
        assert status.last_error
        chat.refuses.clear()
        assert await memory.drain(PATIENCE)
        assert [event.text for event in await memory.events(READING)] == [FACT]


async def test_facts_wait_for_their_portrait(tmp_path: Path) -> None:
    """Merge answers that are broken three times leave the facts waiting, visibly; later the portrait has them."""
    chat, clock = Puppet(refuses={MERGE: BadAnswer("nonsense")}), FrozenClock()
    async with a_memory(tmp_path, chat=chat, clock=clock) as memory:
        await memory.remember(Turn(READING, observations=(FACT,)))
        for tries in (1, 2, 3):
            assert not await memory.drain(1.0)
            assert chat.count(MERGE) == tries
            clock.advance(minutes=10)
        status = await memory.status()
        assert (status.merges.facts, status.merges.failing) == (1, 1)
        assert await memory.get_profile(READING, "user", READING.user_id) is None
        chat.refuses.clear()
        assert await memory.drain(PATIENCE)
        profile = await memory.get_profile(READING, "user", READING.user_id)
        assert profile is not None
        assert "乌龙茶" in profile.summary
        assert (await memory.status()).merges == MergeState()
