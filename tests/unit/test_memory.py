"""Tests of the public methods of a memory with real parts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from cognitive_memory_core import BadArgument, CognitiveMemory, PlaceSwitch, Scene, Settings, Turn
from cognitive_memory_core.settings.schema import HistorianSettings
from tests.support.builders import GROUP, OTHER_GROUP, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.export_files import written
from tests.support.telling import EXACT
from tests.support.waiting import PATIENCE, until

NAIVE = NOON.replace(tzinfo=None, year=2027)
STRANGER = Scene.group("10001", "2000009", user_name="路人")


@asynccontextmanager
async def opened(path: Path, settings: Settings | None = None, **options: Any) -> AsyncIterator[CognitiveMemory]:
    """Open a memory with a fixed clock and exact vector search."""
    options.setdefault("clock", FrozenClock())
    async with CognitiveMemory.open(settings or EXACT, path, **options) as memory:
        yield memory


async def remembered(memory: CognitiveMemory, *observations: str, scene: Scene = GROUP, **fields: Any) -> str:
    """Remember a turn and wait until it is stored."""
    job_id = await memory.remember(Turn(scene, observations=observations, **fields))
    assert job_id is not None
    assert await memory.drain(PATIENCE)
    return job_id


async def test_a_memo_is_there_at_once_and_needs_no_job(tmp_path: Path) -> None:
    """The memo of a turn without observations is stored when remember returns."""
    async with opened(tmp_path, background=False) as memory:
        memo_id = await memory.remember(Turn(GROUP, memo="帮阿棠查了天气"))
        (memo,) = await memory.memos(GROUP)
        assert (memo.id, memo.text) == (memo_id, "帮阿棠查了天气")
        assert not list((tmp_path / "queues" / "pending").iterdir())
        assert "查了天气" in (await memory.context(GROUP, "今天聊点别的事情吧")).text


async def test_a_memory_drained_right_after_opening_learns_on(tmp_path: Path) -> None:
    """A drain that is the first call leaves the background loops running: a later turn is learned without a drain."""
    async with opened(tmp_path) as memory:
        assert await memory.drain(PATIENCE)
        await memory.remember(Turn(GROUP, observations=["阿棠对花生过敏"]))
        await until(lambda: memory.events(GROUP))


@pytest.mark.parametrize(
    ("switch", "ends_at"),
    [("off", NOON), ("off", NOON - timedelta(1)), ("off", NAIVE), ("on", NOON + timedelta(1))],
    ids=["now", "past", "naive", "on"],
)
async def test_an_end_that_makes_no_sense_changes_nothing(tmp_path: Path, switch: Any, ends_at: datetime) -> None:
    """An end must be ahead and have a zone, and "on" has none; otherwise the switch stays as it was."""
    async with opened(tmp_path, clock=FrozenClock()) as memory:
        await memory.set_switch(GROUP, "record_only")
        with pytest.raises(BadArgument):
            await memory.set_switch(GROUP, switch, until=ends_at)
        assert await memory.place_switch(GROUP) == PlaceSwitch(GROUP.scope, "record_only")


async def test_an_absent_memory_stores_and_recalls_nothing() -> None:
    """Every method of an absent memory returns without an error."""
    memory = CognitiveMemory.absent("配置有误")
    assert await memory.remember(Turn(GROUP, memo="x", observations=["y"])) is None
    assert await memory.consider(GROUP, [a_message()]) is None
    await memory.observe(a_message())
    assert await memory.context(GROUP, "x") == core.Context("", (), 0, ("disabled",))
    assert await memory.search_events(GROUP, "x") == []
    assert await memory.events(GROUP) == await memory.pins(GROUP) == await memory.memos(GROUP) == []
    assert (await memory.status()).reason == "配置有误"
    with pytest.raises(core.UnavailableError, match="配置有误"):
        await memory.pin(GROUP, "x")


async def test_a_pin_of_a_group_goes_with_its_author(tmp_path: Path) -> None:
    """A group pin is in its author's export and is deleted with its author; rewording it makes a new author."""
    async with opened(tmp_path / "data") as memory:
        await memory.pin(GROUP, "周五晚上八点开黑", for_group=True)
        edited = await memory.pin(GROUP, "周六见", for_group=True)
        await memory.update_pin(STRANGER, edited.id, "周日见")
        await memory.export(tmp_path / "own.jsonl", user_id=GROUP.user_id)
        exported = (tmp_path / "own.jsonl").read_text("utf-8")
        assert "周五晚上八点开黑" in exported
        assert "周日见" not in exported
        assert (await memory.forget_user(GROUP, GROUP.user_id)).pins == 1
        assert [pin.text for pin in await memory.pins(STRANGER)] == ["周日见"]


async def test_pins_are_bounded_and_never_doubled(tmp_path: Path) -> None:
    """A duplicate pin is not added; over the limit an error is raised and no pin is dropped."""
    async with opened(tmp_path, Settings(pins=core.PinsSettings(max=2))) as memory:
        first = await memory.pin(GROUP, "一")
        assert await memory.pin(GROUP, "一") == first
        await memory.pin(GROUP, "二")
        with pytest.raises(core.LimitReached):
            await memory.pin(GROUP, "三")
        assert len(await memory.pins(GROUP)) == 2
        with pytest.raises(core.BadArgument):
            await memory.pin(GROUP, " \n ")


async def test_a_bad_line_is_left_out_with_its_number(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An import continues after a bad line and reports its number."""
    good = {"type": "event", "id": "e1", "text": "甲乙丙丁", "request_type": "group", "group_id": "10001"}
    good |= {"user_id": "2000001", "sender_id": "2000001", "happened_at": NOON.isoformat(), "is_absolute": True}
    at, place = NOON.isoformat(), {"place": "group", "place_id": "10001"}
    huge = {"type": "belief", "id": "b1", "statement": "周五聚餐", "version": 2**63, "created_at": at, "updated_at": at}
    late = {"type": "message", "id": "m1", "text": "早", "sent_at": f"2500{at[4:]}", "user_id": "1"}
    lines = [good, {"type": "event"}, [1], {**good, "id": "e2\n"}, {**huge, **place, "chain_id": "b1"}]
    lines += [{**late, "request_type": "private"}, {**good, "id": "e3", "text": "戊"}]
    async with opened(tmp_path / "m") as memory:
        assert await memory.import_(written(lines, tmp_path / "x.jsonl")) == 2
    for number in (3, 4, 5, 6, 7):
        assert f"第 {number} 行" in caplog.text


async def test_a_message_is_learned_from_the_moment_its_turn_is_accepted(tmp_path: Path) -> None:
    """The messages of a turn count as learned while it is pending, after a restart, and as an event."""
    async with opened(tmp_path, background=False) as memory:
        await memory.remember(Turn(GROUP, memo="听到了", message_ids=["0"]))
        await memory.remember(Turn(GROUP, observations=["阿棠怕狗"], message_ids=["1"]))
        assert await memory.learned_messages(GROUP, ["0", "1", "2"]) == {"1"}
    async with opened(tmp_path, background=False) as memory:
        assert await memory.learned_messages(GROUP, ["0", "1", "2"]) == {"1"}
        assert await memory.drain(20)
        assert await memory.learned_messages(GROUP, ["0", "1", "2"]) == {"1"}
        assert await memory.learned_messages(OTHER_GROUP, ["1"]) == frozenset()
    assert await CognitiveMemory.absent().learned_messages(GROUP, ["1"]) == frozenset()


async def test_neither_secrets_nor_words_reach_log_and_status(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Logs, status and errors contain ids and reasons, but neither keys nor what people said."""
    caplog.set_level("DEBUG")
    settings = Settings.from_mapping(
        {"models": {"historian": {"api_key": "sk-canary-key"}}, "queue": {"max_pending": 2}}
    )
    async with opened(tmp_path, settings, background=False) as memory:
        await memory.remember(Turn(GROUP, observations=["阿棠的暗号是金丝雀"]))
        await memory.observe(a_message("我的暗号是金丝雀"))
        (job,) = (tmp_path / "queues" / "pending").iterdir()
        job.write_bytes(job.read_bytes()[:-9])  # cut off, so that it is moved aside
        await memory.remember(Turn(GROUP, observations=["金丝雀又叫了"]))
        with pytest.raises(core.QueueFull) as full:
            await memory.remember(Turn(GROUP, observations=["金丝雀第三次叫"]))
        assert await memory.drain(PATIENCE)
        failed = await memory.failed_jobs()
        said = [
            caplog.text,
            repr(await memory.status()),
            str(full.value),
            *(each.error for each in failed),
            repr(settings),
        ]
    assert failed
    assert not any("金丝雀" in text or "sk-canary-key" in text for text in said)


async def test_somebodys_chat_that_swallows_its_cancellation_keeps_nobody_from_closing(tmp_path: Path) -> None:
    """Closing ends within shutdown_seconds even if a model ignores cancellation, and the job is kept."""
    asked, may_end = asyncio.Event(), asyncio.Event()

    class Swallowing:
        """A custom chat model that ignores cancellation until it is released."""

        async def ask(self, ask: Any) -> Any:
            """Wait until released."""
            asked.set()
            while not may_end.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await may_end.wait()

    settings = EXACT.model_copy(update={"historian": HistorianSettings(shutdown_seconds=0.1)})
    async with opened(tmp_path, settings, chat=Swallowing()) as memory:
        await memory.remember(Turn(GROUP, observations=("阿棠对花生过敏",)))
        await asked.wait()
    assert not may_end.is_set()
    may_end.set()
    assert len(list((tmp_path / "queues" / "pending").iterdir())) == 1


GREETINGS = [
    "你好",
    "在吗？",
    "哈哈哈哈",
    "早上好",
    "晚安",
    "谢谢大家",
    "好的，谢谢",
    "收到",
    "hi",
    "Good morning!",
    "👍",
]


@pytest.mark.parametrize("greeting", GREETINGS)
async def test_a_greeting_brings_no_memories(tmp_path: Path, greeting: str) -> None:
    """A greeting brings pins, memos and profiles, and neither events nor lines, even ones that repeat it."""
    async with opened(tmp_path) as memory:
        await memory.pin(GROUP, "阿棠只喝乌龙茶")
        await remembered(memory, "阿棠对花生过敏", "阿棠说大家好，在吗，你好，早上好，谢谢，hi，👍哈哈哈哈")
        await memory.observe(a_message(f"{greeting}，周六去爬山吗", STRANGER, sent_at=NOON - timedelta(days=1)))
        titles = {section.title for section in (await memory.context(GROUP, greeting)).sections}
        assert "置顶" in titles
        assert not titles & {"相关回忆", "相关原话", "群记忆"}
        assert "相关回忆" in {section.title for section in (await memory.context(GROUP, "阿棠能吃花生吗")).sections}


@pytest.mark.parametrize("asked", ["年会在哪，谁去", "年会在哪"])
async def test_a_question_of_common_characters_is_no_greeting(tmp_path: Path, asked: str) -> None:
    """A question brings what was said of it, also if every character of it stands in most chats."""
    async with opened(tmp_path) as memory:
        await remembered(memory, "年会12月20号在苏州，小满和Leo去")
        assert "苏州" in (await memory.context(GROUP, asked)).text


NEVER_SPOKEN_OF = [
    "asdfqwer 不存在的东西",
    "不存在的东西 asdfqwer",
    "qwerty 什么东西",
    "zxcvbn 存在的问题",
    "asdf 今天的事情",
    "xyzzy 那个东西在哪里",
    "wertyu 不知道的东西",
    "blahblah 还没有的东西",
    "zzzz9999 存在",
    "鸑鷟 现在怎么样",
    "没有这种东西 asdasd",
    "wedding",
    "wedding 什么时候",
]


@pytest.mark.parametrize("asked", NEVER_SPOKEN_OF)
@pytest.mark.parametrize("kinds", [(), ("message",), ("event", "message")], ids=["events", "lines", "both"])
async def test_a_search_for_what_nobody_spoke_of_finds_nothing(
    tmp_path: Path, asked: str, kinds: tuple[str, ...]
) -> None:
    """A search finds nothing if only its common words were ever said, though events and lines have these."""
    async with opened(tmp_path) as memory:
        await remembered(memory, "阿棠的东西存在门口的柜子里", "阿棠说这个问题一直存在，大家都不知道怎么办")
        said = "今天的东西放在哪里了", "不知道，没有人说过这种事情", "那个问题还存在吗", "现在怎么样，什么时候好"
        for number, text in enumerate(said):
            await memory.observe(a_message(text, STRANGER, NOON - timedelta(minutes=90 - number)))
        assert await memory.search_events(GROUP, asked, kinds=kinds) == []
        assert await memory.search_events(GROUP, "门口 东西", kinds=kinds or ("event",))


async def test_a_search_with_some_words_of_its_own_still_finds(tmp_path: Path) -> None:
    """An event is found by words of which it has the characters apart, and by others that were said in the place."""
    async with opened(tmp_path) as memory:
        await remembered(memory, "阿棠养了一只猫，名叫橘子")
        assert [hit.event.text for hit in await memory.search_events(GROUP, "养猫 花费")]
        assert await memory.search_events(GROUP, "橘子 绝育手术 宠物医院") == []
        assert await memory.search_events(GROUP, "阿棠 爱好 职业"), "of somebody by other words than were used"
        assert await memory.search_events(GROUP, "上周六 晚上 养猫"), "when it was is no word that somebody said"
        assert await memory.search_events(GROUP, "上周六 wedding") == []
        await memory.observe(a_message("宠物医院的绝育手术要预约", STRANGER, NOON - timedelta(hours=1)))
        assert await memory.search_events(Scene.operator(), "路人 爱好 职业", kinds=("message",)), "by a name"
        assert await memory.drain(PATIENCE)
        assert [hit.event.text for hit in await memory.search_events(GROUP, "橘子 绝育手术 宠物医院")]


async def test_a_log_that_cannot_be_read_hides_no_hit(tmp_path: Path) -> None:
    """If it cannot be read whether the words of a search were ever said, what was found is returned."""

    def unreadable(*_: object) -> frozenset[str]:
        raise core.UnavailableError("读不了")

    async with opened(tmp_path) as memory:
        await remembered(memory, "阿棠养了一只猫，名叫橘子")
        memory._opened.ledger.corpora.heard = unreadable  # type: ignore[method-assign]
        assert await memory.search_events(GROUP, "橘子 绝育手术 宠物医院")


async def test_an_id_stands_once_in_a_context(tmp_path: Path) -> None:
    """A person's id stands behind their first name only, and behind every one if somebody else bears that name."""
    double = Scene.group("10001", "2000008", user_name="路人")
    said = ("周六去爬山吗", "周六爬山带伞", "爬山要早起", "周六的山很高")
    async with opened(tmp_path) as memory:
        for number, text in enumerate(said):
            for scene in (GROUP, STRANGER, double):
                await memory.observe(a_message(text, scene, NOON - timedelta(hours=9 - number)))
        assert await memory.drain(PATIENCE)
        text = (await memory.context(GROUP, "周六爬山")).text
        assert (text.count("(2000001)"), text.count("阿棠") > 1) == (1, True)
        assert text.count("路人") == text.count("路人(200000") > 2
        assert text.count("周三 ") > 2


async def test_an_export_is_for_its_owner_only(tmp_path: Path) -> None:
    """An export file is readable by its owner only."""
    async with opened(tmp_path / "m") as memory:
        await remembered(memory, "阿棠怕狗")
        await memory.export(tmp_path / "x.jsonl")
        assert (tmp_path / "x.jsonl").stat().st_mode & 0o077 == 0
        with pytest.raises(core.StorageRefused):
            await memory.export(tmp_path / "x.jsonl" / "y")
