"""README: a withdrawn message leaves the log, and events made from it alone are void."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cognitive_memory_core import Message
from cognitive_memory_core.errors import BadAnswer
from tests.support.clock import NOON, FrozenClock
from tests.support.puppet import MERGE, Puppet, Question, careful, drawn
from tests.support.telling import READING, READING_MILI, a_memory, recalled, say, tell
from tests.support.waiting import PATIENCE, until

from .test_forgotten_is_gone_and_restorable import bytes_of

CODE = Message("m1", READING, "我住在桂花里七零四二", NOON)
CAT = Message("m2", READING, "我养了一只三花猫", NOON)


def stubborn(question: Question) -> object:
    """Tell the withdrawn line as if it rested on every fact that is left."""
    return drawn(question, "住在桂花里七零四二", tags=["七零四二"]) if question.name == MERGE else careful(question)


async def profile_heading(memory, scene=READING) -> str:
    """Return everything that profiles show about the person."""
    profile = await memory.get_profile(scene, "user", "2156083317")
    found = [hit.profile for hit in await memory.search_profiles(scene, "桂花里七零四二 猫")]
    context = await memory.context(scene, "桂花里")
    return "\n".join([context.text, *(f"{one.tags} {one.summary}" for one in (profile, *found) if one)])


async def test_message_and_event_go_together(tmp_path: Path) -> None:
    """After a withdrawal neither the line nor the event made from it is shown."""
    async with a_memory(tmp_path) as memory:
        await memory.observe(CODE)
        await say(memory, READING, CODE)
        assert "七零四二" in await recalled(memory, READING, "桂花里")
        await memory.recall_message(READING, "m1")
        assert "七零四二" not in await recalled(memory, READING, "桂花里")


@pytest.mark.parametrize("chat", [None, Puppet], ids=["rules", "puppet"])
async def test_it_leaves_the_profile_too(tmp_path: Path, chat: type[Puppet] | None) -> None:
    """A withdrawn fact is shown in no profile at once; the rest is shown again after the next merge."""
    async with a_memory(tmp_path, chat=chat() if chat else None) as memory:
        await say(memory, READING, CODE)
        await say(memory, READING, CAT)
        assert "七零四二" in await profile_heading(memory)
        await memory.recall_message(READING, "m1")
        for scene in (READING, READING_MILI):
            assert "七零四二" not in await profile_heading(memory, scene)
        await asyncio.wait_for(until(lambda: memory.get_profile(READING, "user", "2156083317")), PATIENCE)
        for scene in (READING, READING_MILI):
            shown = await profile_heading(memory, scene)
            assert "七零四二" not in shown
            assert "三花猫" in shown
        await memory.recall_message(READING, "m2")
        assert await memory.drain(PATIENCE)
        assert await memory.get_profile(READING, "user", "2156083317") is None


@pytest.mark.parametrize("trouble", ["stubborn", "broken"])
async def test_no_model_can_keep_it(tmp_path: Path, trouble: str) -> None:
    """The line of a withdrawn message leaves a profile without a model, whatever a model answers or fails to answer."""
    chat, clock = Puppet(), FrozenClock()
    async with a_memory(tmp_path, chat=chat, clock=clock) as memory:
        await say(memory, READING, CODE)
        await say(memory, READING, CAT)
        chat.mind = stubborn if trouble == "stubborn" else careful
        chat.refuses = {} if trouble == "stubborn" else {MERGE: BadAnswer("nonsense")}
        await memory.recall_message(READING, "m1")
        assert "七零四二" not in await profile_heading(memory)
        assert await memory.drain(PATIENCE)
        shown = await profile_heading(memory)
        assert "七零四二" not in shown
        assert "三花猫" in shown
        chat.refuses = {}
        await say(memory, READING, Message("m3", READING, "我对花生过敏", NOON))
        assert "七零四二" not in await profile_heading(memory)


async def test_its_words_leave_the_disk_with_the_next_purge(tmp_path: Path) -> None:
    """After the next purge no byte of the event is left, nor of the line in the bot's memo and its copy in a file."""
    said = "我家门锁密码是七零四二"
    async with a_memory(tmp_path) as memory:
        await memory.observe(Message("m0", READING, "好", NOON))
        await tell(memory, READING, "阿禾(2156083317) 养了一只三花猫", memo="说了声好")
        await memory.observe(Message("m1", READING, said, NOON))
        await tell(memory, READING, f"阿禾(2156083317)：{said}", message_ids=("m1",), memo=f"阿禾说：{said}")
        assert "七零四二" in str(await memory.memos(READING))
        await memory.recall_message(READING, "m0")
        await memory.recall_message(READING, "m1")
        assert [memo.text for memo in await memory.memos(READING)] == ["说了声好"]
        assert await memory.drain(PATIENCE)
    async with a_memory(tmp_path) as memory:  # its hourly housekeeping runs at the start

        async def is_gone() -> bool:
            return "七零四二" not in bytes_of(tmp_path)

        await asyncio.wait_for(until(is_gone), PATIENCE)
