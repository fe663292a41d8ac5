"""Tests of whether a statement agrees with its source lines; agreement_pairs.tsv has labelled cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cognitive_memory_core.text.statements.agreement import CitedLine, Disagreement, disagreements
from tests.support.clock import NOON

LINES = Path(__file__).with_name("agreement_pairs.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if line and not line.startswith("#")]
TUNED, KEPT_BACK = [ROWS[at] for at in range(len(ROWS)) if at % 3 < 2], ROWS[2::3]
NAMES = ("阿棠", "老齐")
DENIALS = ("不", "没", "没有", "不会", "不肯", "拒绝", "难道我会", "谁说我会", "不要", "不打算")
VERBS = ("跳槽", "养狗", "吃辣", "报名", "搬家", "加班", "游泳", "买房")
DIGITS = "零一二三四五六七八九"
PIECES = st.sampled_from(
    ["不", "没", "难道", "才怪", "吗", "？", "三", "12", "周六", "点", "(2000001)", "我", "去", "，", " ", "“"]
)
talk = st.lists(PIECES, max_size=20).map("".join)


def found(statement: str, *lines: str, around: str = "") -> tuple[Disagreement, ...]:
    """Compare a statement, in which @ stands for the speaker, with lines sent at noon."""
    text = statement.replace("@", "阿棠(2000001)").replace("%", "老齐(28471095)")
    return disagreements(text, [CitedLine(line, NOON) for line in lines], NAMES, around)


@pytest.mark.parametrize("rows", [TUNED, KEPT_BACK], ids=["tuned", "kept back"])
def test_changed_statements_are_caught_and_true_ones_pass(rows: list[list[str]]) -> None:
    """Nine in ten statements with a wrong negation, question or number are detected; 3 % of true ones are refused."""
    assert len(ROWS) >= 150
    caught = sum(bool(found(changed, line)) for line, _, changed, _ in rows)
    refused = sum(bool(found(true, line)) for line, true, _, _ in rows)
    assert caught >= 0.9 * len(rows)
    assert refused <= 0.03 * len(rows)


@given(talk)
@example("三点1212")
@example("三点三12")
@example("百两点")
def test_a_text_agrees_with_itself(text: str) -> None:
    """A text never contradicts a line with the same words, alone or beside a line that says nothing."""
    assert found(text, text) == found(text, text, "") == ()


@given(talk, st.lists(talk, max_size=3), talk)
def test_anything_may_be_compared(text: str, lines: list[str], around: str) -> None:
    """Any texts can be compared without an error."""
    assert set(found(text, *lines, around=around)) <= {"polarity", "question", "figure"}


@given(st.sampled_from(DENIALS), st.sampled_from(DENIALS[:6]), st.sampled_from(VERBS))
def test_any_denial_is_a_denial(said: str, told: str, verb: str) -> None:
    """A denial may be worded as any other denial, and never as its opposite."""
    assert found(f"@{told}{verb}", f"我{said}{verb}") == ()
    assert found(f"@{verb}了", f"我{said}{verb}") == ("polarity",)
    assert found(f"@{told}{verb}", f"我{verb}的") == ("polarity",)


@given(st.sampled_from(["不是不", "不会不", "不得不", "不可能不"]), st.sampled_from(VERBS))
def test_two_denials_affirm(said: str, verb: str) -> None:
    """A double negation counts as an affirmation."""
    assert found(f"@{verb}", f"我{said}{verb}") == ()
    assert found(f"@不{verb}", f"我{said}{verb}") == ("polarity",)


@given(st.integers(2, 9), st.integers(2, 9), st.sampled_from(["只猫", "个人", "块钱", "公里", "岁"]))
def test_a_count_is_kept_however_it_is_written(said: int, told: int, unit: str) -> None:
    """A number in Chinese characters equals the same number in digits and no other."""
    expected = () if said == told else ("figure",)
    assert found(f"@说是{told}{unit}", f"就{DIGITS[said]}{unit}") == expected


def test_what_several_lines_say_is_taken_together() -> None:
    """Several lines are judged together: an answer settles a question, and the latest of several statements counts."""
    assert found("@周六去爬山", "周六去爬山吗", "去") == ()
    assert found("@周六去爬山", "周六去爬山吗") == ("question",)
    assert found("@周六去爬山", "周六不去爬山", "还是去爬山吧") == ()
    assert found("@否决了加联机的提议", "要不加个联机", "做梦") == ()
    assert found("@周六去爬山", "周六去爬山吧", "不行") == ("polarity",)
    assert found("@用饭勺搅出了划桨声", "划桨声 我用饭勺搅的", "不能") == ()


def test_a_wish_may_be_put_as_a_question() -> None:
    """A request in the form of a question supports a statement that somebody wants it."""
    assert found("@希望别发语音", "能不能别发语音") == ()


def test_figures_may_come_from_around_where_the_lines_have_none() -> None:
    """A number that the cited lines do not mention may come from the lines around them."""
    assert found("@垫了460元", "我垫了", around="打样460块") == ()
    assert found("@垫了640元", "我垫了", around="打样460块") == ("figure",)
    assert found("@垫了460元", "我垫了50", around="打样460块") == ("figure",)


def test_a_slogan_is_no_question() -> None:
    """Words that statement and line put between quotation marks may end like a question."""
    assert found("海报印“上船吗”", '印"上船吗"') == ()
    assert found("@上船", '"上船吗"') == ("question",)


def test_what_was_before_may_come_from_around() -> None:
    """The hour or day that was changed may be named only in an earlier line; an invented one is detected."""
    assert found("周会挪到周四20:30，原为周二21:00", "周会挪到周四八点半", around="周会每周二21:00") == ()
    assert found("周会挪到周四20:30，原为周二19:00", "周会挪到周四八点半", around="周会每周二21:00") == ("figure",)
    assert found("周会挪到周四21:00，原为周二21:00", "周会挪到周四八点半", around="周会每周二21:00") == ("figure",)


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        (
            "糖糖(3) 问受击的白闪能不能关，饺子(9) 答能，会让老齐(2) 加一个开关",
            ["白闪能关吗 我眼睛累", "能 我让老齐加个开关"],
        ),
        ("陈皮(8) 问远程有没有投票权，阿绿(4) 说没有，回来再说", ["远程有投票权吗", "没有 回来再说"]),
        ("阿绿(4) 要求选本走投票，三票以上才开，别私聊 阿绿(4) 点菜", ["以后选本走投票 三票以上才开 别私聊我点菜"]),
        ("Alex(1) 说边界用例里“合同起算日”问法较怪", ["边界用例里“合同起算日”的问法比较怪。"]),
    ],
)
def test_a_question_told_with_its_answer_agrees(statement: str, lines: list[str]) -> None:
    """A statement may tell who asked and what was answered; a name after 别 parts no denial from its word."""
    names = ("糖糖", "饺子", "老齐", "陈皮", "阿绿", "Alex")
    assert disagreements(statement, [CitedLine(line) for line in lines], names) == ()


def test_a_question_alone_is_no_fact() -> None:
    """What was only asked may not be told as a fact, nor what was stated as a question."""
    assert disagreements("明天开会", [CitedLine("明天开会吗")]) == ("question",)
    assert disagreements("阿棠(2) 问明天开不开会", [CitedLine("明天开会")], ("阿棠",)) == ("question",)


@pytest.mark.parametrize("row", ROWS[-6:], ids=lambda row: row[0])
def test_what_careful_readers_wrote_passes(row: list[str]) -> None:
    """True statements that were once refused for polarity pass, and their contraries do not."""
    line, true, changed, _ = row
    assert found(true, line) == ()
    assert "polarity" in found(changed, line)
