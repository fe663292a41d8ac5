"""The contract of Eraser for facts and for the searchable copies of profiles."""

from __future__ import annotations

from dataclasses import replace

from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports import Vector
from cognitive_memory_core.text.redaction import Redaction
from tests.support.builders import GROUP, OTHER_GROUP, a_draft, an_event
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, Ledger, a_fact, a_profile, a_vector, later, name_person

GONE = "2000001"
HIDE = Redaction.of([GONE], ("阿棠", "海棠未眠"))
EVENING = later(hours=8)
OTHER = Scene.group("10001", "2000002", user_name="小林")
THEIRS = ProfileKey.member("10001", "2000002")
HERE = ProfileKey.group("10001")


async def forgotten(ledger: Ledger) -> None:
    """Erase the person at evening."""
    await ledger.eraser.forget_person(GONE, EVENING, HIDE)


async def indexed(ledger: Ledger, agent: str = "default") -> list[tuple[Profile, Vector | None]]:
    """Return every profile of an agent."""
    return await ledger.profiles.readable(Scene.operator(agent), (), MODEL)


async def test_in_facts_of_others_a_person_becomes_somebody(ledger: Ledger) -> None:
    """In others' facts and error texts an erased person is hidden: by name where they were seen, by id everywhere."""
    here, there = an_event("阿棠(2000001) 请客", OTHER), an_event("阿棠请客", replace(OTHER, group_id="10002"))
    numbered = an_event("2000001 请客", replace(OTHER, group_id="10002"))
    facts = [a_fact(event) for event in (here, there, numbered)]
    await ledger.events.commit(replace(a_draft(here, there, numbered), facts=tuple(facts)))
    await name_person(ledger, GROUP.scope, GONE, "阿棠", NOON)
    await ledger.facts.fail(THEIRS, "答的是阿棠(2000001)", NOON)
    await forgotten(ledger)
    assert [fact.text for fact in await ledger.facts.facts(THEIRS, 9)] == ["某位成员 请客"]
    elsewhere = await ledger.facts.facts(ProfileKey.member("10002", "2000002"), 9)
    assert [fact.text for fact in elsewhere] == ["阿棠请客", "某位成员 请客"]
    assert (await ledger.facts.waiting())[0].error == "答的是某位成员"


async def test_a_fact_whose_event_became_anothers_equal_goes_with_it(ledger: Ledger) -> None:
    """If an event is merged into an equal one by an erasure, its fact is removed, and the other's fact stays."""
    first, second = an_event("阿棠请客了", OTHER), an_event("海棠未眠请客了", OTHER)
    await ledger.events.commit(replace(a_draft(first, second), facts=(a_fact(first), a_fact(second))))
    for name in ("阿棠", "海棠未眠"):
        await name_person(ledger, GROUP.scope, GONE, name, NOON)
    await forgotten(ledger)
    assert await ledger.facts.facts(THEIRS, 9) == [replace(a_fact(first), text="某位成员请客了")]


async def test_words_that_named_a_forgotten_person_are_heard_no_more(ledger: Ledger) -> None:
    """Original wordings by or about an erased person no longer match their event; all others still do."""
    mine, named = an_event("我的"), an_event("阿棠请客", OTHER)
    about, plain = an_event("有人请客", OTHER, subjects=(GONE,)), an_event("下雨了", OTHER)
    observations = {event.id: event.text for event in (mine, named, about, plain)}
    await ledger.events.commit(replace(a_draft(mine, named, about, plain), observations=observations))
    await name_person(ledger, GROUP.scope, GONE, "阿棠", NOON)
    await forgotten(ledger)
    said = list(observations.values())
    assert await ledger.facts.events_of_observations(GROUP.scope, GONE, said) == {}
    assert await ledger.facts.events_of_observations(GROUP.scope, "2000002", said) == {"下雨了": plain}


async def test_in_profiles_of_others_a_person_becomes_somebody(ledger: Ledger) -> None:
    """In others' profiles an erased person is hidden in all fields, and vectors of changed texts are removed."""
    friend = a_profile(ProfileKey.user("2000002"), "和阿棠下棋", version="v")
    tagged = a_profile(ProfileKey.user("2000003"), tags=("棋", '海棠未眠"', '阿棠"'), name="阿棠的同桌")
    told = a_profile(ProfileKey.user("2000004"), tags=("棋", "海棠未眠\t友"))
    group = a_profile(HERE, "读书", name="阿棠读书会")
    plain = a_profile(THEIRS, "和别人下棋", name="阿棠的同桌")
    for profile in (friend, tagged, told, group, plain):
        await ledger.profiles.take_in(profile.key, {profile.key: profile}.get)
        [(key, text)] = await ledger.profile_vectors.waiting(MODEL, 1)
        await ledger.profile_vectors.store(MODEL, [(key, text, a_vector(1, 0))])
    await name_person(ledger, OTHER_GROUP.scope, GONE, "阿棠", NOON)
    await name_person(ledger, OTHER_GROUP.scope, GONE, "海棠未眠", NOON)
    await forgotten(ledger)
    assert await indexed(ledger) == [
        (replace(friend, summary="和某位成员下棋"), None),
        (replace(tagged, tags=("棋", '某位成员"')), None),
        (replace(told, tags=("棋", "某位成员\t友")), None),
        (replace(group, name="某位成员读书会"), None),
        (plain, a_vector(1, 0)),
    ]
    assert len(await ledger.profile_vectors.waiting(MODEL, 9)) == 4
    assert (await ledger.profiles.versions())[friend.key] == "v"
