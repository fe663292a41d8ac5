"""Tests of what supports a statement; support_pairs.tsv has labelled pairs of a statement and a cited line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cognitive_memory_core.evolution.supporting_lines import NumberedChat
from tests.support.beliefs import LIN, MO, TEA, a_chat

LINES = Path(__file__).with_name("support_pairs.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if line and not line.startswith("#")]
RULE = "每周六晚上讨论新番"


@pytest.mark.parametrize("label", ["says", "not"])
def test_a_shared_word_is_no_support(label: str) -> None:
    """A line counts if it tells the rule; objections, questions, own plans and shared words do not."""
    rows = [(statement, line) for statement, line, is_said, _ in ROWS if is_said == label]
    assert len(rows) >= 20
    found = [bool(NumberedChat(a_chat((TEA, line))).support(*_all(statement, line)).lines) for statement, line in rows]
    assert sum(one == (label == "says") for one in found) >= 0.95 * len(rows)


def _all(statement: str, line: str) -> tuple[str, list]:
    return statement, a_chat((TEA, line))


def test_assent_after_an_objection_is_not_counted() -> None:
    """A +1 behind an objection may mean the objection; one that replies to the proposal means the proposal."""
    lines = a_chat((TEA, RULE), (LIN, "太早了 不同意"), (MO, "+1"))
    assert NumberedChat(lines).support(RULE, lines).people == (TEA[0],)
    replied = [*lines[:2], replace(lines[2], reply_to=lines[0].id)]
    assert NumberedChat(replied).support(RULE, replied).people == (TEA[0], MO[0])
    assert NumberedChat(a_chat((TEA, RULE), (MO, "就这个"))).support(RULE, a_chat((TEA, RULE), (MO, "就这个"))).suffices


@pytest.mark.parametrize(
    ("said", "people"),
    [
        (((TEA, "周六不讨论新番了"), (LIN, "行")), 2),
        (((TEA, "新番讨论取消吧"), (LIN, "同意")), 2),
        (((TEA, "周六晚上讨论新番的事"), (LIN, "这个取消了吧"), (MO, "可以")), 2),
        (((TEA, "周六晚上讨论新番真好"), (LIN, "是的")), 0),
        (((TEA, "明天聚餐取消"), (LIN, "行")), 0),
        (((TEA, "中午吃面"), (LIN, "好吃")), 0),
        (((TEA, "周六还讨论新番吗"), (LIN, "不知道")), 0),
    ],
)
def test_a_rule_ends_by_lines_that_end_it(said: tuple[tuple[tuple[str, str], str], ...], people: int) -> None:
    """A rule is ended by a line about it that cancels or denies it, and not by any line that is cited."""
    lines = a_chat(*said)
    assert len(NumberedChat(lines).ending(RULE, lines).people) == people
