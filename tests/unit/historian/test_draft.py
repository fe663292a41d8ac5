"""From a job's statements to the events it will write."""

from __future__ import annotations

from cognitive_memory_core.domain.event import Statement
from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.people import Anchors, Person
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.historian.draft import drafted
from tests.support.builders import GROUP, PRIVATE, a_job, a_message
from tests.support.clock import NOON

ANCHORS = Anchors(NOON, GROUP.scope, "读书会", Person("2000001", "阿棠"), (Person("2000002", "唐唐"),))


def test_a_replay_writes_the_same_ids() -> None:
    """A job that is run twice drafts the same events, so that storing them twice stores them once."""
    job = a_job("甲", "乙")
    said = [Statement("甲"), Statement("乙")]
    assert drafted(job, said, ANCHORS) == drafted(job, said, ANCHORS)
    assert len({event.id for event in drafted(job, said, ANCHORS).events}) == 2


def test_nothing_empty_becomes_an_event() -> None:
    """An empty statement is never stored."""
    assert drafted(a_job("甲"), [Statement(""), Statement("甲")], ANCHORS).events[0].text == "甲"


def test_a_group_turn_carries_group_person_and_sender() -> None:
    """An event of a group turn serves the group and, in private, its person."""
    (event,) = drafted(a_job("甲"), [Statement("甲", speaker="2000001")], ANCHORS).events
    assert (event.group_id, event.user_id, event.sender_id, event.request_type) == (
        GROUP.group_id,
        "2000001",
        "2000001",
        "group",
    )


def test_a_dialogue_keeps_each_speaker_apart() -> None:
    """What several people said in one dialogue stays with the one who said it."""
    job = Job("d" * 32, Dialogue(GROUP, (a_message(),)), NOON)
    (event,) = drafted(job, [Statement("甲", speaker="2000002")], ANCHORS).events
    assert (event.user_id, event.sender_id, event.sender_name) == ("2000002", "2000002", "唐唐")


def test_a_private_turn_names_no_group() -> None:
    """What is said in private carries an empty group id and belongs to the private scope."""
    (event,) = drafted(a_job("甲", scene=PRIVATE), [Statement("甲")], ANCHORS).events
    assert event.group_id == ""
    assert event.scope == PRIVATE.scope
