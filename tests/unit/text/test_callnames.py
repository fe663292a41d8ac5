"""Which names call somebody."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.identity.callnames import callname, callnames


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
    """Somebody is called by their name in any width and case, and by what it begins with where it says more."""
    assert callnames(name) == called


@pytest.mark.parametrize(
    "name", ["", "棠", "A", "今天", "大家", "什么", "我们", "本人", "2026", "me", "OK", "群主", "QQ用户", "🐱"]
)
def test_what_everybody_says_calls_nobody(name):
    """One character, a small number, a placeholder and a word of every other sentence are no calls."""
    assert callnames(name) == ()


def test_texts_are_compared_in_the_same_spelling():
    """A text is folded as names are."""
    assert callname("ＢＥＴＴＹ") == callname("betty")
