"""README: a forgotten event is gone at once, and can be restored for 30 days."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core import (
    CaptureSettings,
    CognitiveMemory,
    Event,
    Message,
    ProfileKey,
    Scene,
    Settings,
    UnknownEvent,
)
from cognitive_memory_core.historian.clock_watch import STEADY
from cognitive_memory_core.store.ledger import ClockState, Ledger
from tests.support.clock import FrozenClock
from tests.support.puppet import Puppet
from tests.support.telling import EXACT, GAMES_DOUSHA, PRIVATE, READING, READING_MILI, a_memory, recalled, say, tell
from tests.support.waiting import PATIENCE, until

MOVING = "我搬去上海了"
MOVES = "阿禾(2156083317) 要搬去上海"


async def test_a_forgotten_event_is_not_recalled_until_it_is_restored(tmp_path: Path) -> None:
    """A forgotten event is not recalled until it is restored."""
    async with a_memory(tmp_path) as memory:
        [event] = await tell(memory, READING, "老周(745920318) 要搬去上海")
        await memory.forget_event(READING, event.id)
        assert "上海" not in await recalled(memory, READING, "老周要搬去上海吗")
        await memory.restore_event(READING, event.id)
        assert "上海" in await recalled(memory, READING, "老周要搬去上海吗")


@pytest.mark.parametrize("chat", [None, Puppet], ids=["rules", "puppet"])
@pytest.mark.parametrize("is_merged_between", [True, False])
async def test_it_leaves_the_profile_and_comes_back(
    tmp_path: Path, chat: type[Puppet] | None, is_merged_between: bool
) -> None:
    """A forgotten event is in no profile and, once restored, is in it again, whether or not a merge ran between."""
    async with a_memory(tmp_path, chat=chat() if chat else None) as memory:
        await say(memory, READING, "我养了一只三花猫")
        event = next(one for one in await say(memory, READING, MOVING) if "上海" in one.text)

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


@pytest.mark.parametrize("is_corrected", [False, True], ids=["forgotten", "corrected"])
async def test_a_damaged_portrait_does_not_bring_it_back(tmp_path: Path, *, is_corrected: bool) -> None:
    """Where a damaged portrait is replaced by an earlier one, that one tells nothing forgotten or corrected since."""
    async with a_memory(tmp_path) as memory:
        await say(memory, READING, "我养了一只三花猫", MOVING)
        event = next(one for one in await memory.events(READING) if "上海" in one.text)
        if is_corrected:
            await memory.correct_event(READING, event.id, "阿禾要搬去苏州")
        else:
            await memory.forget_event(READING, event.id)
        assert await memory.drain(PATIENCE)
        file = tmp_path / "profiles" / "members" / READING.group_id / f"{READING.user_id}.md"
        file.write_bytes(b"\xff" + file.read_bytes())
        profile = await memory.get_profile(READING, "user", READING.user_id)
        assert profile is not None
        assert "三花猫" in profile.summary
        assert "上海" not in f"{profile.summary}{profile.tags}{file.read_text('utf-8')}"


async def test_what_is_restored_names_nobody_who_opted_out(tmp_path: Path) -> None:
    """The event that a restoration returns, to be confirmed, is redacted as every list is."""
    async with a_memory(tmp_path) as memory:
        [event] = await tell(memory, READING, "阿禾和老周(745920318) 要搬去上海")
        await memory.forget_event(READING, event.id)
        await memory.opt_out("745920318")
        restored = await memory.restore_event(READING, event.id)
        assert "上海" in restored.text
        assert "745920318" not in str((restored.text, restored.quotes))


async def test_it_can_be_restored_for_thirty_days(tmp_path: Path) -> None:
    """A forgotten event can be restored on the 29th day and not on the 31st."""
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


LINES = {
    "m1": (READING, False, "我下个月要搬去上海了"),
    "b1": (READING, True, "恭喜，阿禾要搬去上海啦"),
    "b2": (PRIVATE, True, "搬去上海以后记得报平安"),
    "b3": (READING_MILI, True, "上海那边房租挺贵的，阿禾要搬去的话早点看房"),
    "n1": (READING_MILI, False, "搬家辛苦了"),
    "b4": (READING, True, "阿禾养的三花猫真可爱"),
    "b5": (READING_MILI, True, "今晚上海下雨"),
    "b6": (GAMES_DOUSHA, True, "豆沙要搬去上海吗"),
}
HIDDEN = {"m1", "b1", "b2", "b3"}
LONG_LOG = Settings(capture=CaptureSettings(log_days=180), vector_store=EXACT.vector_store)
WHERE = (READING, PRIVATE, READING_MILI, GAMES_DOUSHA)


async def laid(memory: CognitiveMemory, clock: FrozenClock, *, has_source: bool) -> Event:
    """Say the lines, and tell the event that they speak of."""
    for number, (line, (scene, is_bot, text)) in enumerate(LINES.items()):
        at = clock.now() - timedelta(minutes=60 - number)
        await memory.observe(Message(line, scene, text, at, is_bot=is_bot))
    [event] = await tell(memory, READING, MOVES, message_ids=("m1",) if has_source else ())
    return event


async def lines_shown(memory: CognitiveMemory) -> set[str]:
    """Return the ids of the lines shown by any read path in any place."""
    found = set[str]()
    for scene in (*WHERE, Scene.operator()):
        for query in ("阿禾要搬去上海吗", "三花猫", "搬家", "豆沙"):
            hits = await memory.search_events(scene, query, kinds=("message",), top_k=50)
            found |= {line for hit in hits for line in (hit.event.id, *(near.id for near in hit.neighbours))}
    for scene in WHERE:
        found |= {line.id for line in await memory.recent_messages(scene, 50)}
    return found


@pytest.mark.parametrize("has_source", [True, False], ids=["with its message", "without"])
async def test_its_lines_are_hidden_with_it_and_come_back(tmp_path: Path, has_source: bool) -> None:
    """A forgotten event's source line, and the bot's lines that repeat it, are hidden everywhere until restored."""
    clock = FrozenClock()
    async with a_memory(tmp_path / "data", clock=clock) as memory:
        event = await laid(memory, clock, has_source=has_source)
        assert await lines_shown(memory) == {*LINES}
        await memory.forget_event(READING, event.id)
        assert await lines_shown(memory) == {*LINES} - HIDDEN
        await memory.export(tmp_path / "all.jsonl")
        assert "搬去上海了" not in (tmp_path / "all.jsonl").read_text("utf-8")
        await memory.restore_event(READING, event.id)
        assert await lines_shown(memory) == {*LINES}


@pytest.mark.parametrize("is_restored", [True, False], ids=["restored", "corrected back"])
@pytest.mark.parametrize("has_source", [True, False], ids=["with its message", "without"])
async def test_a_correction_hides_the_lines_of_the_old_wording(
    tmp_path: Path, has_source: bool, is_restored: bool
) -> None:
    """A correction hides the lines that the old wording came from, but no later one; putting it back shows them."""
    clock = FrozenClock()
    async with a_memory(tmp_path, clock=clock) as memory:
        event = await laid(memory, clock, has_source=has_source)
        new = await memory.correct_event(READING, event.id, "阿禾(2156083317) 要搬去厦门")
        assert await lines_shown(memory) == {*LINES} - HIDDEN
        assert await memory.forgotten_events(READING) == []
        clock.advance(minutes=1)
        await memory.observe(Message("b9", READING, "阿禾要搬去厦门啦", clock.now(), is_bot=True))
        assert "b9" in await lines_shown(memory)
        if is_restored:
            await memory.restore_event(READING, event.id)
        else:
            await memory.correct_event(READING, new.id, event.text)
        assert await lines_shown(memory) == {*LINES, "b9"}


async def test_what_the_bot_says_of_it_later_is_hidden_too(tmp_path: Path) -> None:
    """A new line of the bot that repeats a forgotten event is hidden at once; a new line of the person is not."""
    clock = FrozenClock()
    async with a_memory(tmp_path, clock=clock, background=False) as memory:
        [event] = await tell(memory, READING, MOVES)
        await memory.forget_event(READING, event.id)
        clock.advance(minutes=1)
        await memory.observe(Message("b9", READING, "记得你要搬去上海的", clock.now(), is_bot=True))
        await memory.observe(Message("m9", READING, "我要搬去上海这事定了", clock.now()))
        assert [line.id for line in await memory.recent_messages(READING)] == ["m9"]
        found = await memory.search_events(READING, "搬去上海", kinds=("message",))
        assert [hit.event.id for hit in found] == ["m9"]
        await memory.restore_event(READING, event.id)
        assert [line.id for line in await memory.recent_messages(READING)] == ["b9", "m9"]


async def test_a_hidden_line_is_not_learned_again(tmp_path: Path) -> None:
    """A hidden line is not learned again from a turn or dialogue that holds it; its other lines are."""
    clock = FrozenClock()
    async with a_memory(tmp_path, clock=clock) as memory:
        line = Message("m1", READING, "我要搬去上海了", clock.now())
        other = Message("m2", READING, "我对花生过敏", clock.now())
        await memory.observe(line)
        [event] = await tell(memory, READING, MOVES, message_ids=("m1",))
        await memory.forget_event(READING, event.id)
        assert await memory.consider(READING, [line, other]) is not None
        again = await tell(memory, READING, "阿禾(2156083317) 打算搬到上海住", message_ids=("m1",))
        assert [one.message_ids for one in again] == [("m2",)]
        anew = await tell(memory, READING, "阿禾(2156083317) 打算搬到上海住", message_ids=("m3",))
        assert len(anew) == 2


@pytest.mark.parametrize("chat", [None, Puppet], ids=["rules", "puppet"])
async def test_no_older_profile_tells_it(tmp_path: Path, chat: type[Puppet] | None) -> None:
    """A forgotten event is in no revision that is shown, exported or restored; once restored it is there again."""
    key = ProfileKey.member("618203471", "2156083317")
    async with a_memory(tmp_path / "data", chat=chat() if chat else None) as memory:
        await say(memory, READING, "我养了一只三花猫")
        event = next(one for one in await say(memory, READING, MOVING) if "上海" in one.text)
        await say(memory, READING, "我喜欢乌龙茶")

        async def past() -> str:
            return repr(await memory.profile_revisions(READING, key))

        assert "上海" in await past()
        await memory.forget_event(READING, event.id)
        assert await memory.drain(PATIENCE)
        revisions = await memory.profile_revisions(READING, key)
        assert "上海" not in repr(revisions)
        assert "三花猫" in repr(revisions)
        await memory.export(tmp_path / "all.jsonl")
        assert "上海" not in (tmp_path / "all.jsonl").read_text("utf-8")
        for revision in revisions:
            restored = await memory.restore_profile(READING, key, revision.id)
            assert "上海" not in repr(restored)
            assert "上海" not in repr(await memory.get_profile(READING, "user", "2156083317"))
        await memory.restore_event(READING, event.id)
        assert await memory.drain(PATIENCE)
        assert "上海" in repr(await memory.get_profile(READING, "user", "2156083317"))


async def test_after_thirty_days_its_bytes_are_gone(tmp_path: Path) -> None:
    """After thirty days no byte of event, lines, profiles or revisions is left, and an old export is rejected."""
    clock, data = FrozenClock(), tmp_path / "data"
    async with a_memory(data, LONG_LOG, clock=clock) as memory:
        await say(memory, READING, "我养了一只三花猫")
        await memory.observe(Message("m1", READING, "我要搬去上海了", clock.now()))
        await memory.observe(Message("b1", READING, "阿禾要搬去上海啦", clock.now(), is_bot=True))
        told = await tell(memory, READING, MOVES, message_ids=("m1",))
        event = next(one for one in told if "上海" in one.text)
        await say(memory, READING, "我喜欢乌龙茶")
        await memory.export(tmp_path / "old.jsonl")
        await memory.forget_event(READING, event.id)
        assert await memory.drain(PATIENCE)
    assert "上海" in bytes_of(data)
    clock.advance(days=31)
    async with a_memory(data, LONG_LOG, clock=clock, background=False) as memory:
        learning: Any = await memory._learning()
        await learning.forgetting.erase_due()
        assert "上海" in bytes_of(data)  # a clock that jumped that far is not trusted yet
    await believe(clock, data)
    async with a_memory(data, LONG_LOG, clock=clock) as memory:
        await asyncio.wait_for(until(lambda: "上海" not in bytes_of(data)), PATIENCE)
        await memory.import_(tmp_path / "old.jsonl")
        assert "上海" not in await recalled(memory, READING, "阿禾要搬去上海吗")
        with pytest.raises(UnknownEvent):
            await memory.restore_event(READING, event.id)
        assert "三花猫" in await recalled(memory, READING, "三花猫")
    assert "上海" not in bytes_of(data)


async def test_after_thirty_days_a_corrected_text_is_gone(tmp_path: Path) -> None:
    """Thirty days after a correction no byte of the old text and of its lines is left; the corrected one stands."""
    clock, data = FrozenClock(), tmp_path / "data"
    async with a_memory(data, LONG_LOG, clock=clock) as memory:
        await say(memory, READING, "我养了一只三花猫")
        await memory.observe(Message("m1", READING, "我要搬去上海了", clock.now()))
        told = await tell(memory, READING, MOVES, message_ids=("m1",))
        event = next(one for one in told if "上海" in one.text)
        await memory.correct_event(READING, event.id, "阿禾(2156083317) 要搬去厦门")
        assert await memory.drain(PATIENCE)
        await say(memory, READING, "我喜欢乌龙茶")
    assert "上海" in bytes_of(data)
    clock.advance(days=31)
    await believe(clock, data)
    async with a_memory(data, LONG_LOG, clock=clock) as memory:
        await asyncio.wait_for(until(lambda: "上海" not in bytes_of(data)), PATIENCE)
        assert "厦门" in await recalled(memory, READING, "阿禾要搬去哪里")


async def believe(clock: FrozenClock, data: Path) -> None:
    """Record that the clock has run steadily for a day."""
    ledger = await Ledger.open(data / "ledger.db", clock=clock)
    await ledger.housekeeping.keep_clock(ClockState(clock.now(), clock.now(), STEADY))
    await ledger.close()


def bytes_of(data: Path) -> str:
    """Return the text of all files; undecodable bytes are skipped, and a draft that was put in place meanwhile."""
    texts: list[str] = []
    for path in filter(Path.is_file, data.rglob("*")):
        with suppress(FileNotFoundError):
            texts.append(path.read_bytes().decode("utf-8", "ignore"))
    return "\n".join(texts)
