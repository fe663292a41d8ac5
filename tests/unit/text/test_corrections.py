"""Tests of words that correct an earlier statement."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.statements.corrections import puts_right


@pytest.mark.parametrize(
    "text",
    [
        "周会改周四",
        "其实是榛子",
        "不是周二",
        "打错 C04",
        "从今天起不吃素了",
        "现在五只了",
        "展期延了一周",
        "周会先停两周",
        "It was moved",
        "NOT today",
    ],
)
def test_a_change_is_told_by_its_word(text: str) -> None:
    """A text that changes or withdraws an earlier statement is recognised by such a word."""
    assert puts_right(text)


@pytest.mark.parametrize("text", ["晚上吃什么", "阿棠喜欢乌龙茶", "改革开放", "是不是周二", "a notion", ""])
def test_ordinary_lines_have_none(text: str) -> None:
    """Ordinary lines, and words that only look alike, are not corrections."""
    assert not puts_right(text)
