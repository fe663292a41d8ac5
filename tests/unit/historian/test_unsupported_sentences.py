"""Tests that a merged profile says nothing that none of its facts says."""

from __future__ import annotations

import pytest

from benchmarks.profile_lines import NOW, Portrayed, labelled_profiles
from cognitive_memory_core.historian.profiles.unsupported_sentences import SupportCheck

PEOPLE = list(labelled_profiles())
FACTS = ("糖糖(3320185567) 对花生过敏", "糖糖(3320185567) 每月8号交房租1650元", "糖糖(3320185567) 住在南京，做测试")
SUPPORT = SupportCheck(FACTS, ("糖糖", "3320185567"), NOW)


@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.names[0])
def test_a_line_that_no_fact_says_is_left_out(person: Portrayed) -> None:
    """Of each person's invented lines at most one of five or more stays, and each is gone beside another's facts."""
    invented = person.of(is_true=False)
    kept = [line for line in invented if person.support.supported(line)]
    assert len(kept) <= 1
    assert len(invented) >= 4


def test_true_rewordings_stay() -> None:
    """At least 95 of 100 lines that a careful model wrote of facts stay as they are, and five of 100 invented ones."""
    true = [one.support.supported(line) == line for one in PEOPLE for line in one.of(is_true=True)]
    invented = [bool(one.support.supported(line)) for one in PEOPLE for line in one.of(is_true=False)]
    assert sum(true) >= 0.95 * len(true)
    assert sum(invented) <= 0.05 * len(invented)


def test_a_clause_that_no_fact_says_goes_alone() -> None:
    """An invented clause is cut out of a line, and what the facts say of the line stays."""
    assert SUPPORT.supported("对花生过敏，上个月在面试别家公司") == "对花生过敏"
    assert SUPPORT.supported("住在南京。偷拿过公司的机器。做测试。") == "住在南京。做测试。"


@pytest.mark.parametrize(
    "line",
    ["对花生不过敏", "每月8号交房租1850元", "每月18号交房租", "糖糖", "3320185567 说了算"],
)
def test_denials_other_figures_and_names_alone_are_no_support(line: str) -> None:
    """A line is not supported by a fact that says the contrary, another figure, or only the subject's name."""
    assert SUPPORT.supported(line) in ("", "糖糖")


@pytest.mark.parametrize("line", ["房租每月8日交", "对花生过敏", "住在南京，做测试", "花生过敏，住南京，每月8日交房租"])
def test_lines_of_several_facts_stay(line: str) -> None:
    """A line may condense one fact or several."""
    assert SUPPORT.supported(line) == line


def test_a_tag_needs_a_word_of_a_fact() -> None:
    """A tag that shares nothing with any fact is no topic of the person."""
    assert SUPPORT.supports_tag("花生过敏")
    assert SUPPORT.supports_tag("测试")
    assert not SUPPORT.supports_tag("灯芯开发者")


def test_what_stood_in_the_profile_stands_by_itself() -> None:
    """A line of the old profile is its own support, also one that the words of a fact would not carry."""
    old = "性子慢，回话前要想很久"
    assert SupportCheck((*FACTS, old), ("糖糖",), NOW).supported(old) == old
    assert SUPPORT.supported(old) == ""


def test_a_sentence_without_its_beginning_goes_whole() -> None:
    """If the first clause is invented, what follows is not left without its subject."""
    assert SUPPORT.split("上个月在面试别家公司，住在南京") == ("", ["上个月在面试别家公司", "住在南京"])


@pytest.mark.parametrize("text", ["我明天到周五都不在", "明天到周五都不在", "对花生过敏，我不吃"])
def test_a_profile_does_not_speak_as_a_line_of_chat(text: str) -> None:
    """New clauses with 我 or a relative day are left out, though a fact quotes them; those of the old profile stay."""
    fact = f"阿棠(2000001)：“{text}”"
    assert text not in SupportCheck((fact, "对花生过敏"), ("阿棠",), NOW).supported(text)
    assert SupportCheck((fact, "对花生过敏", text), ("阿棠",), NOW, text).supported(text) == text
    assert SupportCheck((fact,), ("阿棠",), NOW).supported(fact) == fact
