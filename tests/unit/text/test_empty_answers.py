"""Tests of recognising model answers without content."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.safety.empty_answers import says_nothing

HEARD = "阿棠(2000001)喜欢乌龙茶"


@pytest.mark.parametrize(
    "text", ["", "…", "（无）", "阿棠(2000001): N/A", "无需记录", "很抱歉，这个我无法处理", "Sorry, I can't do that"]
)
def test_no_answer(text: str) -> None:
    """An empty answer, a refusal and "nothing new" have no content, whatever surrounds them."""
    assert says_nothing(text, HEARD)


@pytest.mark.parametrize(
    "text", ["无糖", "没有人来", "阿棠(2000001)：无法参加", "nothing new under the sun", "一个AI群", HEARD]
)
def test_an_answer(text: str) -> None:
    """A sentence that only begins like such an answer has content."""
    assert not says_nothing(text, HEARD)


def test_what_was_said_is_an_answer() -> None:
    """Such words count as content if the source contains them."""
    assert not says_nothing("没有新信息", "阿棠说没有新信息")
    assert not says_nothing("抱歉，我不能去", "阿棠：抱歉，我不能去")
    assert says_nothing("没有", "阿棠没有去")


def test_a_flood_ends() -> None:
    """Only the beginning of a long answer is examined."""
    assert not says_nothing("抱歉" * 100_000, HEARD)
    assert says_nothing("。" * 100_000, HEARD)
