"""Tests of ``/memory backfill`` against OneBot ends in each dialect."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from nonebot.adapters.onebot import v11

import cognitive_memory_core as core
from tests.support.sizes import sized

from .history_ends import FIRST, NAMES, HistoryEnd, Line, chat_of
from .stage import SUPERUSER, Stage, message, new_id

LINES = sized(1_000, 5_000)


@pytest.fixture(autouse=True)
def hurried(app: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for page after page without a pause."""
    from nonebot_plugin_cognitive_memory.commands import history_pages

    monkeypatch.setattr(history_pages, "PAUSE", 0.0)


@pytest.fixture(autouse=True)
async def considered(app: object) -> AsyncIterator[None]:
    """Take the lines off that wait to be considered: the tests after these would wait for thousands."""
    yield
    from nonebot_plugin_cognitive_memory import get_memory

    log = get_memory()._opened.ledger.log
    while waiting := await log.unconsidered(10_000):
        await log.note_considered([seq for seq, _ in waiting])


@pytest.fixture(params=NAMES)
def end(app: object, group: int, request: pytest.FixtureRequest) -> HistoryEnd:
    """Return a bot whose end keeps 300 lines of the group, in each dialect."""
    return HistoryEnd(dialect=request.param, lines=chat_of(group, 300))


@pytest.fixture
def napcat(app: object, group: int) -> HistoryEnd:
    """Return a bot whose end is NapCat and keeps 300 lines of the group."""
    return HistoryEnd(lines=chat_of(group, 300))


async def logged(group: int) -> Sequence[core.Message]:
    """Return the lines of the group's log, oldest first."""
    from nonebot_plugin_cognitive_memory import get_memory

    memory, scene = get_memory(), core.Scene.group(str(group), "1")
    await memory.drain(0.0)
    found: list[core.Message] = []
    until = None
    while some := await memory.recent_messages(scene, 200, until=until):
        found[:0] = some
        until = some[0].sent_at
    return found


def by_people(lines: Sequence[Line]) -> list[str]:
    """Return the texts that people said."""
    return [line["raw_message"] for line in lines if line["post_type"] == "message"]


async def asked(end: HistoryEnd, group: int, call: str = "/记忆 补课 400", user: int = SUPERUSER) -> list[str]:
    """Call the command; return what the bot sent."""
    return await end.hear(message(call, user, group))


async def test_every_dialect_gives_every_line_once(end: HistoryEnd, group: int) -> None:
    """In each dialect all lines of people are taken once, in order, with times, names and numbers; then none."""
    started, *progress, ended = await asked(end, group)
    assert "从最新的往前读 400 句" in started
    assert "新记下 270 句" in ended
    assert "机器人自己说的 30 句" in ended
    assert all("/ 400 句" in one for one in progress)
    lines = await logged(group)
    assert [line.text for line in lines] == by_people(end.lines)
    assert [line.number for line in lines] == [
        str(FIRST + at) for at, line in enumerate(end.lines) if line["post_type"] == "message"
    ]
    assert [round(line.sent_at.timestamp()) for line in lines] == [
        line["time"] for line in end.lines if line["post_type"] == "message"
    ]
    assert {line.scene.user_name for line in lines} == {f"名片{number}" for number in range(1, 8)}
    *_, again = await asked(end, group)
    assert "新记下 0 句，原来就有 270 句" in again


async def test_the_newest_lines_come_first_and_no_more_than_wanted(end: HistoryEnd, group: int) -> None:
    """The wanted number of lines is read from the newest on, and told in tenths at most."""
    started, *progress, ended = await asked(end, group, "/记忆 补课 200")
    assert "200 句" in started
    assert len(progress) <= 9
    assert "读了 200 句" in ended
    assert [line.text for line in await logged(group)] == by_people(end.lines[100:])


@pytest.mark.parametrize("dialect", NAMES)
async def test_a_long_history_that_breaks_off_is_continued(dialect: str, app: object, group: int) -> None:
    """Of many lines, read until the end falls silent in the middle and then again, each is taken once, in order."""
    end = HistoryEnd(dialect=dialect, lines=chat_of(group, LINES))
    broken = LINES // 2 // (100 if dialect == "napcat" else 50 if dialect == "llbot" else 20)
    end.bad = lambda call, answer: v11.NetworkError("weg") if call > broken else answer
    *_, cut = await asked(end, group, f"/记忆 补课 {LINES}")
    assert "再发一次 /记忆 补课 会接着补" in cut
    assert 0 < len(await logged(group)) < LINES // 2
    end.bad = lambda _, answer: answer
    *progress, ended = await asked(end, group, f"/记忆 补课 {LINES}")
    assert len(progress) == 10
    assert f"读了 {LINES} 句" in ended
    assert [line.text for line in await logged(group)] == by_people(end.lines)


def _bad_pages(end: HistoryEnd) -> Iterator[Any]:
    good = dict(end.told(end.lines[0]))
    yield from (None, [], "页", 5, {}, {"messages": None}, {"messages": {"a": 1}}, {"messages": [None, 1, "x", []]})
    yield {"messages": [{}, {"message_id": None}, {"message_id": 5}, {"message_id": 5, "time": "昨天"}]}
    yield {"messages": [{**good, "time": 1e300}, {**good, "message_id": 7, "time": float("nan")}]}
    yield {"messages": [{**good, "group_id": 1}, {**good, "message_id": 8, "message": {"type": 5}}]}
    yield {"messages": [{**good, "message_id": 9, "sender": None, "user_id": "x" * 300}]}
    yield {
        "messages": [{**good, "message_id": "x" * 5000, "message": [{"type": "text", "data": {"text": "长" * 99999}}]}]
    }


async def test_bad_pages_end_the_reading_with_a_sentence(napcat: HistoryEnd, group: int) -> None:
    """Whatever an end answers, the command ends with one sentence, and nothing of another place is taken."""
    for bad in _bad_pages(napcat):
        for good in (2, 1):  # each second page, or none
            napcat.bad = lambda call, answer, bad=bad, good=good: answer if call % good else bad
            *_, ended = await asked(napcat, group)
            assert "补课完了" in ended, bad
            napcat.asked.clear()
    texts = [line.text for line in await logged(group)]
    assert set(texts) - set(by_people(napcat.lines)) <= {"长" * 4000, "第 0 句"}
    assert not await logged(1)


async def test_commands_and_what_may_not_be_recorded_stay_out(napcat: HistoryEnd, group: int) -> None:
    """Commands, people who opted out, and a line that was heard live give nothing new."""
    from nonebot_plugin_cognitive_memory import get_memory

    start = int(time.time()) - 600
    lines = chat_of(group, 8, start=start, own=100)
    lines[0]["message"] = [{"type": "text", "data": {"text": "/天气 广州"}}]
    lines[1]["message"] = [{"type": "text", "data": {"text": "/记忆 帮助"}}]
    lines[2]["user_id"] = lines[2]["sender"]["user_id"] = shy = new_id()
    await get_memory().opt_out(str(shy))
    napcat.lines = lines
    live = napcat.told(lines[7])
    await napcat.hear(message("第 7 句", live["user_id"], group, **{key: live[key] for key in ("real_seq", "time")}))
    *_, ended = await asked(napcat, group)
    assert "新记下 4 句，原来就有 1 句" in ended
    assert "命令 2 句" in ended
    assert "发过「别记我」的人说的 1 句" in ended


async def test_a_private_chat_is_taken_in(napcat: HistoryEnd) -> None:
    """In a private chat the operator's lines are taken, and the bot's are not."""
    lines = chat_of(0, 6, own=2)
    for line in lines:
        del line["group_id"]
        line |= {"message_type": "private", "sub_type": "friend"}
        if line["post_type"] == "message":
            line["user_id"] = line["sender"]["user_id"] = SUPERUSER
    napcat.lines = lines
    answers = await napcat.hear(message("/记忆 补课", SUPERUSER))
    assert "新记下 3 句" in answers[-1]
    assert {data["user_id"] for data in napcat.asked} == {SUPERUSER}


async def test_who_may_take_in_what_was_said(napcat: HistoryEnd, group: int) -> None:
    """The operator may, and the group's owner once the operator allowed it; admins and members may not."""
    owner, admin = new_id(), new_id()
    napcat.lines = chat_of(group, 3)

    async def call(user: int, role: str, text: str = "/记忆 补课") -> str:
        napcat.answers["get_group_member_info"] = {"role": role}
        return (await asked(napcat, group, text, user))[-1]

    assert "机器人管理员来做" in await call(owner, "owner")
    assert "只有机器人管理员" in await call(owner, "owner", "/记忆 补课 允许")
    assert "群主以后也可以" in await call(SUPERUSER, "member", "/记忆 补课 允许")
    assert "机器人管理员来做" in await call(admin, "admin")
    assert "补课完了" in await call(owner, "owner")
    assert "只有机器人管理员可以" in await call(SUPERUSER, "member", "/记忆 补课 不许")
    assert "机器人管理员来做" in await call(owner, "owner")


async def test_it_is_stopped_and_does_not_run_twice(napcat: HistoryEnd, group: int) -> None:
    """While a place is read, a second call is refused, and 停 ends it after the page at hand with what was taken."""
    answers: list[str] = []

    async def meanwhile(page: int) -> None:
        if page == 2:
            answers.extend(await asked(napcat, group))
            answers.extend(await asked(napcat, group, "/记忆 补课 停"))

    original = napcat._call

    async def call(bot: object, api: str, **data: Any) -> Any:
        answer = await original(bot, api, **data)
        if api == "get_group_msg_history":
            await meanwhile(len(napcat.asked))
        return answer

    napcat.bot.adapter._call_api = call
    ended = (await asked(napcat, group))[-1]
    assert "正在补课" in answers[0]
    assert "就停" in answers[1]
    assert "停下了，读了" in ended
    assert "没有在补课" in (await asked(napcat, group, "/记忆 补课 停"))[-1]


async def test_a_place_that_is_not_recorded_is_not_read(napcat: HistoryEnd, group: int) -> None:
    """Where nothing is recorded now, nothing is read, and the answer says why; OneBot v12 has no history."""
    from nonebot_plugin_cognitive_memory import get_memory

    await get_memory().set_switch(core.Scene.group(str(group), "1"), "off")
    assert "所以不补课" in (await asked(napcat, group))[-1]
    assert not napcat.asked
    assert "import-chat" in await Stage("v12").ask("/记忆 补课", SUPERUSER, group)


async def test_the_notice_goes_first(napcat: HistoryEnd, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that never got the notice gets it before the first page is asked for; if it cannot, nothing is read."""
    from nonebot_plugin_cognitive_memory import announcing
    from nonebot_plugin_cognitive_memory.config import setup

    changed = setup.settings.capture.model_copy(update={"announce": "reply"})
    settings = setup.settings.model_copy(update={"capture": changed})
    monkeypatch.setattr(announcing, "setup", type("Setup", (), {"settings": settings})())
    napcat.refused_texts.append("提示：")
    assert any("说明发不出去" in one for one in await asked(napcat, group))
    assert not napcat.asked
    napcat.refused_texts.clear()
    first, second, *_ = await asked(napcat, group)
    assert "提示：" in first
    assert "开始补课" in second
