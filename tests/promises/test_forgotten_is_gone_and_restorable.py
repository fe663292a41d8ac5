"""README: what is forgotten is gone at once, and can be brought back for 30 days."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cognitive_memory_core import Message, Settings, UnknownEvent
from tests.support.clock import FrozenClock
from tests.support.puppet import Puppet
from tests.support.telling import READING, a_memory, recalled, tell
from tests.support.waiting import PATIENCE, until


async def test_a_forgotten_event_is_not_recalled_until_it_is_restored(tmp_path: Path) -> None:
    """After forgetting, nothing brings the event back but restoring it."""
    async with a_memory(tmp_path) as memory:
        [event] = await tell(memory, READING, "老周(745920318) 要搬去上海")
        await memory.forget_event(READING, event.id)
        assert "上海" not in await recalled(memory, READING, "老周要搬去上海吗")
        await memory.restore_event(READING, event.id)
        assert "上海" in await recalled(memory, READING, "老周要搬去上海吗")


@pytest.mark.parametrize("chat", [None, Puppet], ids=["rules", "puppet"])
@pytest.mark.parametrize("is_merged_between", [True, False])
async def test_it_leaves_the_portrait_and_comes_back(
    tmp_path: Path, chat: type[Puppet] | None, is_merged_between: bool
) -> None:
    """Forgotten it is in no portrait, restored it is there again, whether the historian came by in between or not."""
    moving = "阿禾(2156083317) 要搬去上海"
    async with a_memory(tmp_path, chat=chat() if chat else None) as memory:
        await tell(memory, READING, "阿禾(2156083317) 养了一只三花猫")
        event = next(one for one in await tell(memory, READING, moving) if "上海" in one.text)

        async def shown() -> str:
            profile = await memory.get_profile(READING, "user", "2156083317")
            return profile.summary if profile else ""

        assert "上海" in await shown()
        await memory.forget_event(READING, event.id)
        assert await shown() == ""
        assert "上海" not in await recalled(memory, READING, "阿禾要搬去上海吗")
        if is_merged_between:
            await asyncio.wait_for(until(shown), PATIENCE)
            assert "上海" not in await shown()
            assert "三花猫" in await shown()
        await memory.restore_event(READING, event.id)
        assert await memory.drain(PATIENCE)
        assert "上海" in await shown()
        assert "三花猫" in await shown()
        assert "上海" in await recalled(memory, READING, "阿禾要搬去上海吗")


async def test_it_can_be_restored_for_thirty_days(tmp_path: Path) -> None:
    """On the 29th day restoring works, on the 31st there is nothing to restore."""
    clock = FrozenClock()
    async with a_memory(tmp_path, clock=clock) as memory:
        [event] = await tell(memory, READING, "老周(745920318) 要搬去上海")
        await memory.forget_event(READING, event.id)
        clock.advance(days=29)
        await memory.restore_event(READING, event.id)
        await memory.forget_event(READING, event.id)
        clock.advance(days=31)
        with pytest.raises(UnknownEvent):
            await memory.restore_event(READING, event.id)


async def test_the_words_stay_in_the_log_for_as_long_as_it_is_kept(tmp_path: Path) -> None:
    """Forgetting a memory leaves the message in the log; it goes with the log's oldest days."""
    clock = FrozenClock()
    async with a_memory(tmp_path, clock=clock) as memory:
        await memory.observe(Message("m1", READING, "听说老周要搬去上海", clock.now()))
        [event] = await tell(memory, READING, "老周(745920318) 要搬去上海", message_ids=("m1",))
        await memory.forget_event(READING, event.id)
        assert [message.text for message in await memory.recent_messages(READING)] == ["听说老周要搬去上海"]
    clock.advance(days=Settings().capture.log_days + 1)
    async with a_memory(tmp_path, clock=clock) as memory:
        for _ in range(100):
            if not await memory.recent_messages(READING):
                break
            await asyncio.sleep(0.05)
        assert await memory.recent_messages(READING) == []
