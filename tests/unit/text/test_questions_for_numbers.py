"""Tests of questions for a number and of lines that contain one."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.statements.questions import asks_for_number, holds_number


@pytest.mark.parametrize("text", ["门票多少钱", "现在是几点", "画布多大", "那家店咋收费", "How much is it?"])
def test_a_number_is_asked_for(text: str) -> None:
    """Questions for an amount, an hour, a size or a price ask for a number."""
    assert asks_for_number(text)


@pytest.mark.parametrize("text", ["谁去学陶艺", "在哪里碰头", "为什么改名", "How is it going", ""])
def test_another_question_asks_for_none(text: str) -> None:
    """Questions for people, places and reasons ask for no number."""
    assert not asks_for_number(text)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("评价都有哪些？", False),
        ("手机又满了，腾出了多少空间都不够。谁去学陶艺？", False),
        ("先不说多少钱。陶艺课的票多少钱？", True),
        ("没花多少钱", False),
        ("截止是几号", False),
    ],
)
def test_only_the_sentence_that_asks_counts(text: str, *, asks: bool) -> None:
    """Sentences around a question, and 没…多少 (not much), ask for no number."""
    assert asks_for_number(text) is asks


def test_numbers_in_lines() -> None:
    """Figures and numerals with a measure word are numbers; a numeral inside a word is none."""
    for text in ("人均58", "三张票", "十点见", "５８元", "two tickets"):
        assert holds_number(text), text
    for text in ("一起去吧", "万一下雨", "someone said", ""):
        assert not holds_number(text), text
