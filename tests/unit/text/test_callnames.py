"""Tests of which texts refer to somebody by name."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.callnames import callname, callnames


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("阿棠", ("阿棠",)),
        ("Betty", ("betty",)),
        ("陈皮(已还魂)", ("陈皮〔已还魂〕", "陈皮")),
        ("Ａｎｎ Lee", ("ann lee", "ann")),
        ("123456", ("123456",)),
    ],
)
def test_a_name_calls_its_bearer(name, called):
    """A person is called by their name in any width and case, and by its beginning if it has an addition."""
    assert callnames(name) == called


@pytest.mark.parametrize(
    "name", ["", "棠", "A", "今天", "大家", "什么", "我们", "本人", "2026", "me", "OK", "群主", "QQ用户", "🐱"]
)
def test_what_everybody_says_calls_nobody(name):
    """A single character, a small number, a placeholder and a very common word refer to nobody."""
    assert callnames(name) == ()


def test_texts_are_compared_in_the_same_spelling():
    """A text is normalised like a name before they are compared."""
    assert callname("ＢＥＴＴＹ") == callname("betty")
