"""Tests of classifying what a question asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core.text.statements.intents import READ, intent_of, speaks_of_asker

LABELLED = Path(__file__).with_name("intents.tsv").read_text("utf-8").splitlines()
QUESTIONS = [(question, intent) for intent, _, question in (line.partition("\t") for line in LABELLED)]


def test_most_questions_are_understood():
    """At least nine in ten labelled questions are classified correctly, and none is wrongly called identity."""
    wrong = [(question, intent, told) for question, intent in QUESTIONS if (told := intent_of(question)) != intent]
    assert len(wrong) <= len(QUESTIONS) // 10, wrong
    assert not [question for question, intent, told in wrong if told == "identity"]


@pytest.mark.parametrize("said", ["I would like to go home", "what is the weather like", "she went into the shop"])
def test_not_every_like_is_a_taste(said):
    """Like and into do not always express a preference."""
    assert intent_of(said) == "general"


@pytest.mark.parametrize("text", ["", " ", "？？？", "。" * 10_000, "我" * 10_000, "who is " * 5_000, "a." * 5_000])
def test_what_asks_nothing_is_general(text):
    """Any text gets a class, and one that asks nothing is general."""
    assert intent_of(text) == "general"


def test_only_the_beginning_counts():
    """A question at the end of a very long text is not read, so that the cost is bounded."""
    assert intent_of("字" * READ + "什么是光合作用") == "general"


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
