"""Tests of people and of the names known in a conversation."""

from __future__ import annotations

from cognitive_memory_core.domain.people import JobContext, Person
from tests.support.builders import GROUP
from tests.support.clock import NOON


def test_a_person_is_written_with_the_id() -> None:
    """A person is written as name(id), so that equal names stay distinct, and as QQ(id) without a name."""
    assert Person("2000001", "阿棠").label == "阿棠(2000001)"
    assert Person("2000001").label == "QQ(2000001)"


def test_a_known_person_is_found_by_id() -> None:
    """The speaker and those present are found by id, and an unknown id gives a person without a name."""
    job_context = JobContext(NOON, GROUP.scope, "读书会(10001)", Person("1", "阿棠"), (Person("2", "小雨"),))
    assert job_context.named("1").name == "阿棠"
    assert job_context.named("2").name == "小雨"
    assert job_context.named("3") == Person("3")


def test_every_known_name_is_known() -> None:
    """The known names are those of the people and of the place; whoever has no name adds none."""
    job_context = JobContext(NOON, GROUP.scope, "读书会", Person("1", "阿棠"), (Person("2", "小雨"), Person("3")))
    assert job_context.names == ("阿棠", "小雨", "读书会")
