"""Tests of turning statements into events and profile facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.event import Draft, Statement
from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.people import JobContext, Person
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.historian.jobs.event_drafting import drafted
from cognitive_memory_core.settings import Settings
from tests.support.builders import GROUP, PRIVATE, a_job, a_message
from tests.support.clock import NOON

JOB_CONTEXT = JobContext(NOON, GROUP.scope, "读书会", Person("2000001", "阿棠"), (Person("2000002", "唐唐"),))
ADMIN = replace(GROUP, is_admin=True)
ISOLATED, SHARED = Settings(), Settings(sharing="shared")
OWN = Statement("阿棠(2000001)喜欢乌龙茶", "preference", ("2000001",), "2000001", is_own=True)


def test_a_replay_writes_the_same_ids() -> None:
    """Running a job twice gives the same event ids, so that its events are stored once."""
    job = a_job("甲", "乙")
    said = [Statement("甲"), Statement("乙")]
    assert drafted(job, said, JOB_CONTEXT, ISOLATED) == drafted(job, said, JOB_CONTEXT, ISOLATED)
    assert len({event.id for event in drafted(job, said, JOB_CONTEXT, ISOLATED).events}) == 2


def test_nothing_empty_becomes_an_event() -> None:
    """An empty statement does not become an event."""
    assert drafted(a_job("甲"), [Statement(""), Statement("甲")], JOB_CONTEXT, ISOLATED).events[0].text == "甲"


def test_a_group_turn_carries_group_person_and_sender() -> None:
    """An event of a group turn has the group, the person and the sender."""
    (event,) = drafted(a_job("甲"), [Statement("甲", speaker="2000001")], JOB_CONTEXT, ISOLATED).events
    assert (event.group_id, event.user_id, event.sender_id, event.request_type) == (
        GROUP.group_id,
        "2000001",
        "2000001",
        "group",
    )


def test_a_dialogue_keeps_each_speaker_apart() -> None:
    """In a dialogue each statement has its own speaker."""
    job = Job("d" * 32, Dialogue(GROUP, (a_message(),)), NOON)
    (event,) = drafted(job, [Statement("甲", speaker="2000002")], JOB_CONTEXT, ISOLATED).events
    assert (event.user_id, event.sender_id, event.sender_name) == ("2000002", "2000002", "唐唐")


def test_a_private_turn_names_no_group() -> None:
    """A private statement has an empty group id and the private scope."""
    (event,) = drafted(a_job("甲", scene=PRIVATE), [Statement("甲")], JOB_CONTEXT, ISOLATED).events
    assert event.group_id == ""
    assert event.scope == PRIVATE.scope


def draft_of(*said: Statement, scene: Scene = GROUP, settings: Settings = ISOLATED) -> Draft:
    """Return the draft of a one-turn job."""
    return drafted(a_job("甲", scene=scene), said, JOB_CONTEXT, settings)


def keys_of(*said: Statement, scene: Scene = GROUP, settings: Settings = ISOLATED) -> list[ProfileKey]:
    """Return the keys of the profiles for which statements become facts."""
    return [fact.key for fact in draft_of(*said, scene=scene, settings=settings).facts]


def test_own_words_wait_for_ones_own_profile() -> None:
    """A statement about its speaker is a fact for the member, or for the person in private or if shared."""
    assert keys_of(OWN) == [ProfileKey.member("10001", "2000001")]
    assert keys_of(OWN, scene=PRIVATE) == [ProfileKey.user("2000001")]
    assert keys_of(OWN, settings=SHARED) == [ProfileKey.user("2000001")]
    assert keys_of(OWN, scene=Scene.group("10001", "2000001", agent="b")) == [
        ProfileKey.member("10001", "2000001", "b")
    ]


def test_a_fact_carries_its_event() -> None:
    """A fact has the id, text, kind and time of its event."""
    draft = draft_of(Statement("甲"), OWN)
    ((fact,), event) = draft.facts, draft.events[1]
    assert (fact.event_id, fact.text, fact.kind, fact.happened_at) == (event.id, OWN.text, "preference", NOON)


@pytest.mark.parametrize(
    "said",
    [
        replace(OWN, is_own=False),
        replace(OWN, is_absolute=False),
        replace(OWN, confidence=0.29),
        replace(OWN, subjects=()),
        replace(OWN, subjects=("2000002",)),
        replace(OWN, speaker=""),
        replace(OWN, text="阿棠(2000001) 说：唐唐(2000002)是小偷", subjects=("2000001", "2000002")),
        replace(OWN, text="阿棠（2000001）昨天 said 唐唐(2000002)是小偷", subjects=("2000001", "2000002")),
        replace(OWN, text="阿棠(2000001) 2026年3月5日 21:30 说唐唐(2000002)是小偷", subjects=("2000001", "2000002")),
    ],
    ids=["not own", "leans", "unsure", "of nobody", "of another", "of no speaker", "report", "English", "dated report"],
)
def test_nothing_else_reaches_a_profile(said: Statement) -> None:
    """Statements by others, about others, uncertain, relative or reported ones give events but no facts."""
    assert keys_of(said) == []
    assert len(draft_of(said).events) == 1


def test_what_somebody_does_with_others_is_their_own() -> None:
    """A statement about its speaker and others is a fact for the speaker only."""
    said = replace(OWN, text="阿棠(2000001)和唐唐(2000002)合租", subjects=("2000001", "2000002"))
    assert keys_of(said) == [ProfileKey.member("10001", "2000001")]


def test_what_somebody_says_of_themselves_is_no_report() -> None:
    """A report of what a speaker said about themselves is a fact for them."""
    assert keys_of(replace(OWN, text="阿棠(2000001)说自己吃素")) == [ProfileKey.member("10001", "2000001")]


def test_the_groups_profile_is_this_groups() -> None:
    """A statement about the group is a fact for that group's profile, and in private there is none."""
    said = Statement("读书会(10001)每周五读书", speaker="2000001", is_of_place=True)
    assert keys_of(said, scene=ADMIN) == [ProfileKey.group("10001")]
    assert [fact.text for fact in draft_of(said, scene=ADMIN).facts] == ["阿棠(2000001) 说：读书会(10001)每周五读书"]
    assert keys_of(said, scene=PRIVATE) == []
    assert keys_of(replace(said, is_absolute=False), scene=ADMIN) == []
    both = replace(OWN, is_of_place=True)
    assert keys_of(both, scene=ADMIN) == [ProfileKey.member("10001", "2000001"), ProfileKey.group("10001")]
    rule = replace(both, text="阿棠(2000001)定了规矩：读书会(10001)周日不发图")
    assert keys_of(rule, scene=ADMIN) == [ProfileKey.group("10001")]


def test_one_members_word_is_no_fact_of_the_group() -> None:
    """What a member alone says about the group is an event; the group's profile needs an admin or a second person."""
    said = Statement("读书会(10001)不许发链接", speaker="2000001", is_of_place=True)
    assert keys_of(said) == []
    assert keys_of(replace(said, speaker="2000002"), scene=ADMIN) == []
    both = replace(said, speaker="", voices=("2000001", "2000002"), backers=("2000001", "2000002"))
    assert keys_of(both) == [ProfileKey.group("10001")]
    assert [fact.text for fact in draft_of(both).facts] == ["阿棠(2000001)、唐唐(2000002) 说：读书会(10001)不许发链接"]
    assert keys_of(replace(both, backers=("2000002",))) == []
    assert keys_of(replace(both, backers=("2000001",)), scene=ADMIN) == [ProfileKey.group("10001")]


def test_an_admins_line_counts_wherever_it_stands_in_a_dialogue() -> None:
    """In a dialogue the role is read from each person's own lines, and never from a line of the bot to an admin."""
    said = Statement("读书会(10001)不许发链接", speaker="2000002", is_of_place=True)
    tang = Scene.group("10001", "2000002", is_admin=True)
    for line, keys in (
        (a_message("不许发链接", tang), [ProfileKey.group("10001")]),
        (a_message("不许发链接", replace(tang, is_admin=False)), []),
        (a_message("不许发链接", tang, is_bot=True), []),
    ):
        job = Job("d" * 32, Dialogue(GROUP, (line,)), NOON)
        assert [fact.key for fact in drafted(job, [said], JOB_CONTEXT, ISOLATED).facts] == keys


def test_each_speaker_of_a_dialogue_has_a_profile_of_their_own() -> None:
    """In a dialogue the fact is for the speaker, not for the person of the scene."""
    job = Job("d" * 32, Dialogue(GROUP, (a_message(),)), NOON)
    said = replace(OWN, speaker="2000002", subjects=("2000002",))
    assert [fact.key for fact in drafted(job, [said], JOB_CONTEXT, ISOLATED).facts] == [
        ProfileKey.member("10001", "2000002")
    ]


def test_repeats_and_heard_by_the_new_events_id() -> None:
    """The draft says which events repeat an earlier one, and which words each came from."""
    draft = draft_of(Statement("甲"), replace(OWN, repeats="e1"), replace(OWN, observation="阿棠喜欢乌龙茶"))
    _, second, third = draft.events
    assert draft.repeats == {second.id: "e1"}
    assert draft.observations == {third.id: "阿棠喜欢乌龙茶"}


def test_an_event_of_several_people_has_no_sender() -> None:
    """What rests on several people's lines is nobody's own; only the profile of whom it updates hears of it."""
    said = Statement("阿棠(2000001)改养狗", subjects=("2000001", "2000002"), voices=("2000002", "2000001"))
    job = Job("d" * 32, Dialogue(GROUP, (a_message(),)), NOON)
    (event,) = drafted(job, [said], JOB_CONTEXT, ISOLATED).events
    assert (event.sender_id, event.user_id, event.sender_name) == ("", "2000002", "")
    for person in ("2000001", "2000002"):
        assert not ReadFilter(Scene.private(person)).admits(event)
    assert ReadFilter(GROUP).admits(event)
    assert drafted(job, [said], JOB_CONTEXT, ISOLATED).facts == ()
    (fact,) = drafted(job, [replace(said, updates="2000001")], JOB_CONTEXT, ISOLATED).facts
    assert fact.key == ProfileKey.member("10001", "2000001")
