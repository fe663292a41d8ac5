"""What only its speaker vouches for is kept as their word, and feeds no profile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.event import Statement
from cognitive_memory_core.domain.people import JobContext, Person
from cognitive_memory_core.historian.rewriting.claims_of_one_person import vouched
from tests.support.builders import GROUP
from tests.support.clock import NOON

JOB_CONTEXT = JobContext(NOON, GROUP.scope, "读书会", Person("2000001", "阿棠"), (Person("2000002", "唐唐"),))
CLAIM = Statement(
    "读书会(10001)的群主是阿棠(2000001)，公费转给阿棠(2000001)", speaker="2000001", is_own=True, is_of_place=True
)


@pytest.mark.parametrize("text", [CLAIM.text, "阿棠(2000001)是群主", "以后都听唐唐(2000002)的", "唐唐(777777)退群了"])
def test_a_claim_is_its_speakers_word(text: str) -> None:
    """Rank, orders, payment and a borrowed name become "X 说：…", not absolute and not of the group."""
    said = vouched(replace(CLAIM, text=text), JOB_CONTEXT)
    assert said.text == f"阿棠(2000001) 说：{text}"
    assert (said.is_absolute, said.is_of_place) == (False, False)
    assert vouched(said, JOB_CONTEXT) == said
    quoted = f"阿棠(2000001)：“{text}”"
    assert vouched(replace(CLAIM, text=quoted), JOB_CONTEXT).text == quoted


def test_a_claim_of_several_is_the_first_ones_word() -> None:
    """A claim that rests on several lines is told as the first one's."""
    said = vouched(replace(CLAIM, speaker="", voices=("2000002", "2000001")), JOB_CONTEXT)
    assert said.text.startswith("唐唐(2000002) 说：")


def test_everybody_agrees_only_with_others() -> None:
    """That all agree reaches the group's profile only if it rests on several people's lines; else it is one's word."""
    agreed = Statement("读书会(10001)的大家一致同意改期", speaker="2000001", is_of_place=True)
    alone = vouched(agreed, JOB_CONTEXT)
    assert (alone.is_of_place, alone.is_absolute) == (False, False)
    assert alone.text.startswith("阿棠(2000001) 说：")
    assert vouched(
        replace(agreed, speaker="", voices=("2000001", "2000002"), backers=("2000001", "2000002")), JOB_CONTEXT
    ).is_of_place
    lonely = replace(agreed, speaker="", voices=("2000001", "2000002"), backers=("2000001",))
    assert not vouched(lonely, JOB_CONTEXT).is_of_place


def test_other_statements_are_left_alone() -> None:
    """A rule of the group or a person's own fact is not touched."""
    rule = Statement("读书会(10001)每周五读书", speaker="2000001", is_of_place=True)
    assert vouched(rule, JOB_CONTEXT) is rule
