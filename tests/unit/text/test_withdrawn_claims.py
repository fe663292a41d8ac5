"""Tests of whether a text still contains a withdrawn statement."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cognitive_memory_core.text.statements.withdrawn_claims import WithdrawnClaim, share, trace_of, without
from tests.support.costs import LINEAR, growth

WHO = ("阿棠", "2000001", "10001")
CODE = "阿棠(2000001) 家门锁密码是七零四二"


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (CODE, "家门锁密码是七零四二"),
        (CODE, "密码七零四二"),
        (CODE, "七零四二"),
        (CODE, "在青岛开一间木工房，家门锁密码是七零四二"),
        ("阿棠(2000001) 喜欢乌龙茶", "乌龙茶"),
        ("阿棠(2000001) 不喜欢吃辣", "不吃辣"),
        ("阿棠(2000001) 2026年3月5日 21:30 弄丢了门卡", "弄丢过门卡"),
        ("阿棠(2000001) 养了一只猫", "猫"),
        ("阿棠(2000001) 的手机号是13800001111", "电话 13800001111"),
        ("Tang(2000001) drinks green tea every morning", "likes green tea"),
    ],
)
def test_what_is_put_in_other_order_is_told_still(statement: str, text: str) -> None:
    """A shortened, longer or undated form of the statement, or a tag of it, counts as containing it."""
    assert WithdrawnClaim(statement, WHO).is_told_by(text)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (CODE, "家住青岛"),
        ("阿棠(2000001) 不喜欢吃辣", "不喜欢吃鱼"),
        ("阿棠(2000001) 喜欢乌龙茶", "喜欢普洱茶"),
        ("阿棠(2000001) 喜欢乌龙茶", "阿棠"),
        ("阿棠(2000001) 喜欢乌龙茶", "常客"),
        ("阿棠(2000001) 住在上海", "住在杭州"),
        ("阿棠(2000001) 打算2026年3月5日去北京", "打算2026年3月5日学德语"),
        ("阿棠(2000001) 第3件事", "第4件事"),
        ("Tang(2000001) likes green tea", "likes old films"),
        (CODE, ""),
        ("", "家门锁密码是七零四二"),
    ],
)
def test_what_only_begins_alike_is_not_told(statement: str, text: str) -> None:
    """The same wording about something else, the same time or the same person is a different statement."""
    assert not WithdrawnClaim(statement, WHO).is_told_by(text)


def test_what_others_tell_may_stay() -> None:
    """What a new statement says as well does not count as containing the old one."""
    old, new = "阿棠(2000001) 喜欢乌龙茶", "阿棠(2000001) 最喜欢的是乌龙茶"
    assert WithdrawnClaim(old, WHO).is_told_by("喜欢乌龙茶")
    assert not WithdrawnClaim(old, (*WHO, new)).is_told_by("最喜欢的是乌龙茶")


def test_sentences_go_and_the_rest_stays() -> None:
    """A sentence is removed from its line, a line without rest is removed, and nothing else changes."""
    lines = "- 家门锁密码：七零四二\n- 家门锁密码是七零四二。怕高。"
    body = f"阿棠是插画师。家门锁密码是七零四二；养猫。\n\n{lines}\n\n> 老照片 "
    left = without(body, WithdrawnClaim(CODE, WHO).is_told_by)
    assert left == "阿棠是插画师。养猫。\n\n- 怕高。\n\n> 老照片 "


@given(st.text(alphabet="。；;！?\n- *甲乙a ", max_size=80))
def test_what_nothing_goes_out_of_is_the_same(text: str) -> None:
    """A text from which nothing is removed is unchanged."""
    assert without(text, lambda _: False) == text
    assert not without(text, lambda _: True).strip("-*+•>· \t\n")


@given(st.text(max_size=200), st.text(max_size=200))
@example("0⛦上下壿", "0⛦上下壿")  # before Python 3.12 a plain sum depends on the order of the terms
def test_a_share_is_a_share(one: str, other: str) -> None:
    """The share is between 0 and 1 for any texts, and a text is fully contained in itself."""
    first, second = trace_of(one), trace_of(other)
    assert 0.0 <= share(first, second) <= 1.0
    assert share(first, first) in {0.0, 1.0}


def test_long_texts_are_quickly_compared() -> None:
    """Comparing a statement with a profile takes time proportional to the length of the profile."""
    statement = WithdrawnClaim("家门锁密码是七零四二" * 400, WHO)
    assert growth(lambda lines: without("养猫；喜欢乌龙茶。\n" * lines, statement.is_told_by), 1_000) < LINEAR


def test_long_statements_are_quickly_compared() -> None:
    """Comparing a statement takes time proportional to its own length."""
    profile = "养猫；喜欢乌龙茶。\n" * 50
    told = "家门锁密码是七零四二"
    assert growth(lambda times: without(profile, WithdrawnClaim(told * times, WHO).is_told_by), 400) < LINEAR


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("周二都在休假", True),
        ("休假在周二", True),
        ("周三休假", False),
        ("周二教画画", False),
        ("周三休假，养猫", False),
    ],
)
def test_an_old_value_is_recognised_where_nothing_else_differs(text: str, *, is_told: bool) -> None:
    """If only a value of a claim was replaced, a text tells the claim that has this value of the same thing."""
    replaced = WithdrawnClaim("阿棠(2000001) 周二休假", (*WHO, "阿棠(2000001) 周三休假"))
    assert replaced.is_told_by(text) == is_told
