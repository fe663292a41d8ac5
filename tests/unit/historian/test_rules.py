"""Tests of the historian without a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.event import Quote
from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.historian.rules import RuleHistorian, is_worth_keeping, may_be_worth_remembering
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON

JOB_CONTEXT = JobContext(NOON, GROUP.scope, "读书会", Person("2000001", "阿棠"))


@pytest.mark.parametrize(
    "line",
    [
        "聚餐定在周六晚上",
        "房租每月1200",
        "我明天去北京出差",
        "老齐把第三个码头砍掉了以后大家都轻松多了真的",
        "i moved to Oslo",
    ],
)
def test_a_line_with_a_sign_or_a_long_one_is_kept(line: str) -> None:
    """Lines with a number, a day or a sign of somebody's affairs are kept, and long ones."""
    assert is_worth_keeping(line)


@pytest.mark.parametrize(
    "line",
    ["哈哈哈哈哈哈哈", "聚餐定在周六吗？", "/天气 北京 明天", "好的", "1", "https://example.com/123456789012345678"],
)
def test_questions_commands_and_short_lines_are_not(line: str) -> None:
    """Questions, commands, short lines and bare addresses are not kept."""
    assert not is_worth_keeping(line)


async def test_a_line_is_kept_whole_as_it_was_said() -> None:
    """Nothing is inserted into a line or cut from it; a reply is kept with the line that it answers."""
    asked = a_message("火锅还是烧烤", id="m1")
    said = a_message("那就定火锅，明天七点", id="m2", reply_to="m1")
    found = await RuleHistorian().statements(Dialogue(GROUP, [asked, said]), JOB_CONTEXT)
    (statement,) = found
    assert [(one.message_id, one.text) for one in statement.quotes] == [("m1", asked.text), ("m2", said.text)]
    assert statement.text == "阿棠(2000001)：“火锅还是烧烤” 阿棠(2000001)：“那就定火锅，明天七点”"
    assert (statement.speaker, statement.is_absolute, statement.message_ids) == ("2000001", False, ("m2",))


async def test_what_lasts_of_the_sender_is_about_them() -> None:
    """A short lasting fact of the sender is kept and has them as its subject; a passing one has no subject."""
    lines = [a_message("我不吃辣", id="m1"), a_message("我明天去北京出差", id="m2")]
    lasting, passing = await RuleHistorian().statements(Dialogue(GROUP, lines), JOB_CONTEXT)
    assert (lasting.kind, lasting.subjects) == ("preference", ("2000001",))
    assert passing.subjects == ()


@pytest.mark.parametrize(
    ("name", "line", "is_about_them"),
    [
        ("阿棠", "阿棠，开书店的，养两只猫", True),
        ("阿棠", "大家好！我叫阿棠，在青岛做木工", True),
        ("Kay", "Kay here, from Cork, teaching English", True),
        ("阿棠", "小北是阿棠请来看店的，以后听我的", False),
        ("阿棠", "阿棠报到，小北欠我的书该还了", False),
        ("阿棠", "阿棠今天在医院，别等了", False),
        ("Al", "Also bring the second box of books", False),
        ("", "在青岛做木工，周末开门", False),
    ],
)
async def test_who_introduces_themselves_speaks_of_themselves(name: str, line: str, *, is_about_them: bool) -> None:
    """A line that begins with its sender's own name and names nobody else lasts, and is about its sender."""
    context = replace(JOB_CONTEXT, people=(Person("2000002", "小北"),))
    message = a_message(line, replace(GROUP, user_name=name))
    (said,) = await RuleHistorian().statements(Dialogue(GROUP, [message]), context)
    assert (said.kind, said.subjects) == (("knowledge", ("2000001",)) if is_about_them else ("event", ()))


async def test_an_observation_is_the_bots_note() -> None:
    """Without a model an observation of a chat plugin is kept as it is, as what the bot noted."""
    odd = "鹿鹿(1048826755)🦌(请假中)：房租每月初转，大橘是猫"
    (statement,) = await RuleHistorian().statements(Turn(GROUP, observations=[odd], message_ids=["m1"]), JOB_CONTEXT)
    assert statement.text == f"机器人记：{odd}"
    assert (statement.speaker, statement.quotes) == ("", (Quote("", "", odd),))


def test_a_dialogue_without_a_line_to_keep_costs_no_call() -> None:
    """A dialogue is worth a call if a line of it is kept, or if its lines tell much together."""
    idle = Dialogue(GROUP, [a_message("哈哈"), a_message("在吗？")])
    assert not may_be_worth_remembering(idle)
    for told in ("聚餐定在周六晚上", "我不吃辣"):
        assert may_be_worth_remembering(Dialogue(GROUP, [a_message(told)]))
