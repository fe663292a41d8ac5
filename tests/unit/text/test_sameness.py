"""Tests of the check before two statements are merged; sameness_pairs.tsv has labelled pairs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.text.statements.sameness import contradicts, may_be_same

LINES = Path(__file__).with_name("sameness_pairs.tsv").read_text("utf-8").splitlines()
PAIRS = [line.split("\t") for line in LINES if line and not line.startswith("#")]
DIFFERENT = [(one, other) for label, one, other in PAIRS if label == "differ"]
SAME = [(one, other) for label, one, other in PAIRS if label == "same"]
PIECES = st.sampled_from(
    ["不", "没有", "喜欢", "讨厌", "先", "三", "12", "(2000001)", "阿棠", "借", "not ", "never ", "，"]
)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_is_never_merged(one: str, other: str) -> None:
    """A different negation, opposite, order in time, number, name or certainty prevents a merge."""
    assert not may_be_same(one, other)
    assert not may_be_same(other, one)


def test_most_paraphrases_may_merge() -> None:
    """At least four in five labelled paraphrases may be merged."""
    assert len(DIFFERENT) >= 50
    assert len(SAME) >= 30
    assert sum(may_be_same(*pair) for pair in SAME) / len(SAME) >= 0.8


def test_the_order_of_numbers_counts_only_from_one_to_another() -> None:
    """Numbers may come in any order, unless one changes into the other."""
    assert may_be_same("老齐(2000005)每天跑5公里，用时30分钟", "老齐(2000005)每天用30分钟跑5公里")
    assert not may_be_same("预算从300元提到500元", "预算从500元压缩到了300元")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("老齐(2000005) 说：读书会(10001)周日休息", "读书会(10001)周日休息"),
        ("老齐(2000005) 2026年5月9日 19:59 说读书会(10001)周日休息", "读书会周日休息"),
        ("老齐(2000005)在2026年5月9日说自己对虾过敏", "老齐(2000005)对虾过敏"),
        ("老齐(2000005)在2026年5月9日说自己对虾过敏", "老齐(2000005)2026年5月10日说自己对虾过敏"),
        ("Qi(2000005) on May 9, 2026 said that the club(10001) rests on Sundays", "the club(10001) rests on Sundays"),
    ],
)
def test_that_somebody_says_so_makes_no_difference_where_they_do(one: str, other: str) -> None:
    """A statement may add that its only speaker said it, and when; a different speaker matters."""
    assert may_be_same(one, other, "2000005")
    assert may_be_same(other, one, "2000005")
    assert not may_be_same(one, other, "2000002")
    assert not may_be_same(one, f"{other}，不是吗", "2000005")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("老齐(2000005)说唐唐(2000002)对虾过敏", "老齐(2000005)对虾过敏"),
        ("老齐(2000005)说：阿棠(2000001)是小偷", "唐唐(2000002)是小偷"),
        ("老齐(2000005)说书", "书"),
        ("唐唐(2000002)和老齐(2000005)说读书会周日休息", "读书会周日休息"),
        ("老齐(2000005)说自己对虾过敏", "唐唐(2000002)对虾过敏"),
    ],
)
def test_what_they_say_of_others_stays_of_others(one: str, other: str) -> None:
    """Without the words of saying, the person it is about still matters."""
    assert not may_be_same(one, other, "2000005")
    assert not may_be_same(other, one, "2000005")


@pytest.mark.parametrize("text", sorted({text for pair in DIFFERENT for text in pair}))
def test_every_statement_is_itself(text: str) -> None:
    """A statement may be merged with itself, also in another width, case and spacing."""
    assert may_be_same(text, text)
    assert may_be_same(text, text.upper().replace("，", ", ") + "。")


@pytest.mark.parametrize(
    ("one", "other", "is_contrary"),
    [
        ("对花生过敏", "对花生不过敏", True),
        ("用AI绘图", "不用AI绘图", True),
        ("一天最多画6小时", "一天最多画16小时", True),
        ("一天最多画6小时", "一天最少画6小时", True),
        ("喜欢绿茶", "讨厌绿茶", True),
        ("drinks coffee", "never drinks coffee", True),
        ("2026年4月18日买了平刨", "2026年4月买了平刨", False),
        ("喜欢吃火锅", "喜欢吃火锅但不吃香菜", False),
        ("不接贴皮的活", "拒绝贴皮的活", False),
        ("住在成都", "住在成都，养猫", False),
    ],
)
def test_clauses_that_cannot_both_be_true(one: str, other: str, *, is_contrary: bool) -> None:
    """A denial, an opposite or another number contradicts; saying more, less or the same in other words does not."""
    assert contradicts(one, other) is contradicts(other, one) is is_contrary


@given(st.lists(PIECES | st.characters(), max_size=30).map("".join), st.lists(PIECES, max_size=30).map("".join))
def test_the_order_of_asking_does_not_matter(one: str, other: str) -> None:
    """The result does not depend on the order of the two texts, and a text may be merged with itself."""
    assert may_be_same(one, other) == may_be_same(other, one)
    assert may_be_same(one, one)


@pytest.mark.parametrize(
    "piece", ["不", "没有", "先", "跟借", "一", "(", "1.", "never ", "(2000001)", " ", "甲乙(1)", "甲 (1) "]
)
def test_floods_end(piece: str) -> None:
    """A text that repeats one thing a hundred thousand times is compared."""
    assert not may_be_same(piece * 100_000, "阿棠(2000002)不喜欢猫")
