"""Tests of questions: who somebody is, about the asker, and for a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core.text.questions import QUESTION_READ, asks_for_number, asks_who, holds_number, speaks_of_asker

LABELLED = Path(__file__).with_name("identity_questions.tsv").read_text("utf-8").splitlines()
QUESTIONS = [(question, intent) for intent, _, question in (line.partition("\t") for line in LABELLED)]


def test_questions_who_somebody_is_are_understood():
    """At least nine in ten of the labelled identity questions are recognised, and no other question is one."""
    found = [(intent == "identity", asks_who(question)) for question, intent in QUESTIONS]
    assert (False, True) not in found
    assert found.count((True, False)) <= found.count((True, True)) // 9


def test_only_the_beginning_counts():
    """A question at the end of a very long text is not read, so that the cost is bounded."""
    assert not asks_who("字" * QUESTION_READ + "，我是谁")


@pytest.mark.parametrize(
    ("said", "is_own"),
    [
        ("我对什么过敏", True),
        ("你还记得我吗", True),
        ("what am I allergic to", True),
        ("my cat's name", True),
        ("do you remember me", True),
        ("告诉我谁过敏", False),
        ("帮我查一下天气", False),
        ("我们几点集合", False),
        ("自我介绍怎么写", False),
        ("tell me who is allergic", False),
        ("what time is it", False),
    ],
)
def test_who_asks_may_mean_themselves(said, is_own):
    """The word 我 means the asker, except in 我们 and where something is only to be told to them."""
    assert speaks_of_asker(said) is is_own


@pytest.mark.parametrize("text", ["门票多少钱", "现在是几点", "画布多大", "那家店咋收费", "How much is it?"])
def test_a_number_is_asked_for(text: str) -> None:
    """Questions for an amount, an hour, a size or a price ask for a number."""
    assert asks_for_number(text)


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
