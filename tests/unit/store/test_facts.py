"""The contract of FactBook, and how facts are stored with their events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.event import Draft, Fact
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.facts import PendingFacts
from cognitive_memory_core.text.redaction import Redaction
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_draft, an_event
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, Ledger, a_fact, a_vector, committed, events_with, later

ME = ProfileKey.member("10001", "2000001")
OTHER = Scene.group("10001", "2000002")
HERE = ProfileKey.group("10001")


async def learned(ledger: Ledger, *facts_of: str, scene: Scene = GROUP) -> list[Fact]:
    """Write an event with one fact for each text."""
    events = [an_event(text, scene) for text in facts_of]
    facts = [a_fact(event) for event in events]
    await ledger.events.commit(replace(a_draft(*events), facts=tuple(facts)))
    return facts


async def test_facts_wait_for_their_profile_in_the_order_in_which_they_came(ledger: Ledger) -> None:
    """Waiting facts of a profile are returned in the order of arrival, up to the limit, and for no other profile."""
    event = an_event("甲", happened_at=later(hours=9), kind="preference")
    mine, ours = a_fact(event, kind="preference"), a_fact(event, HERE)
    later_said = an_event("乙", happened_at=later(hours=-9))
    await ledger.events.commit(replace(a_draft(event, later_said), facts=(mine, ours, a_fact(later_said))))
    assert await ledger.facts.facts(ME, 9) == [mine, a_fact(later_said)]
    assert await ledger.facts.facts(ME, 1) == [mine]
    assert await ledger.facts.facts(ME, 0) == []
    assert await ledger.facts.facts(HERE, 9) == [ours]
    assert await ledger.facts.facts(ProfileKey.user("2000001"), 9) == []
    assert await ledger.facts.facts(replace(ME, agent="another"), 9) == []
    assert (await ledger.facts.facts(ME, 1))[0].happened_at.utcoffset() == event.happened_at.utcoffset()


async def test_a_settled_fact_comes_in_once(ledger: Ledger) -> None:
    """A settled fact is not added again by retries of its job or by retiring and restoring its event."""
    event = an_event("甲")
    draft = Draft("job", (event,), (a_fact(event),))
    await ledger.events.commit(draft)
    await ledger.facts.mark_merged(ME, [a_fact(event)])
    await ledger.events.commit(draft)
    await ledger.events.commit(replace(draft, job_id="another"))
    await ledger.eraser.forget(event.id, NOON)
    await ledger.events.restore(event.id)
    assert await ledger.facts.waiting() == []


async def test_only_a_new_and_standing_event_brings_facts(ledger: Ledger) -> None:
    """Only new active events bring facts: not duplicates, known, withdrawn or retired events, or unknown ones."""
    await ledger.log.withdraw(GROUP.scope, "m-1", NOON)
    known = an_event("说过的")
    await committed(ledger, known)
    echo, withdrawn = an_event("说过的！"), an_event("撤回的", message_ids=("m-1",))
    retired, named = an_event("收起的", retired_at=NOON), an_event("换个说法说过的")
    events, new = (known, echo, withdrawn, retired, named), an_event("新的")
    facts = tuple(a_fact(event) for event in (*events, an_event("别处的"), new))
    await ledger.events.commit(replace(a_draft(*events, new), facts=facts, repeats={named.id: known.id}))
    assert await ledger.facts.facts(ME, 9) == [a_fact(new)]


async def test_a_profile_follows_a_statement_that_replaces_one_it_contains(ledger: Ledger) -> None:
    """A merged fact waits to be removed once its speaker says something else instead, and holds again without that."""
    old = an_event("阿棠(2000001) 周二休假")
    new = an_event("阿棠(2000001) 周三休假", replaces=old.id, happened_at=later(hours=1))
    await ledger.events.commit(replace(a_draft(old), facts=(a_fact(old),)))
    await ledger.facts.mark_merged(ME, [a_fact(old)])
    await ledger.events.commit(replace(a_draft(new), facts=(a_fact(new),)))
    assert await ledger.facts.facts(ME, 9) == [a_fact(old, is_withdrawn=True), a_fact(new)]
    assert await ledger.facts.keys_to_update() == frozenset()  # nothing in it was forgotten: it stays readable
    await ledger.facts.mark_merged(ME, await ledger.facts.facts(ME, 9))
    await ledger.eraser.forget(new.id, NOON)
    assert await ledger.facts.keys_to_update() == {ME}
    assert await ledger.facts.facts(ME, 9) == [a_fact(new, is_withdrawn=True), a_fact(old)]
    await ledger.events.restore(new.id)
    assert await ledger.facts.facts(ME, 9) == []


async def test_what_replaces_a_statement_only_for_others_removes_it_from_no_profile(ledger: Ledger) -> None:
    """A person's fact stays if the newer statement is another's or older, a group's if that feeds a person's only."""
    old = an_event("阿棠(2000001) 周二休假", happened_at=later(hours=1))
    theirs = an_event("小满(2000002) 说周三", OTHER, replaces=old.id, happened_at=later(hours=2))
    older = an_event("阿棠(2000001) 周一休假", replaces=old.id)
    facts = (a_fact(old), a_fact(theirs), a_fact(older))
    await ledger.events.commit(replace(a_draft(old, theirs, older), facts=facts))
    assert a_fact(old) in await ledger.facts.facts(ME, 9)
    rule = an_event("阿棠(2000001) 说：每个月28号前交", happened_at=later(hours=1))
    told = an_event("阿棠(2000001) 25号交", replaces=rule.id, happened_at=later(hours=2))
    await ledger.events.commit(replace(a_draft(rule, told), facts=(a_fact(rule, HERE), a_fact(told))))
    assert await ledger.facts.facts(HERE, 9) == [a_fact(rule, HERE)]


async def test_what_a_person_says_instead_ends_their_fact_also_if_it_is_none_itself(ledger: Ledger) -> None:
    """A merged fact waits to be removed once its speaker replaces it, also by an event that feeds no profile."""
    old = an_event("阿棠(2000001) 每个月28号前交")
    new = an_event("改成每个月25号前交", replaces=old.id, happened_at=later(hours=1))
    await ledger.events.commit(replace(a_draft(old), facts=(a_fact(old),)))
    await ledger.facts.mark_merged(ME, [a_fact(old)])
    await ledger.events.commit(a_draft(new))
    assert await ledger.facts.facts(ME, 9) == [a_fact(old, is_withdrawn=True)]


async def test_nothing_is_given_of_people_who_are_left_out(ledger: Ledger) -> None:
    """No facts for, by or about opted-out people are returned until they opt in again."""
    said, of_them = an_event("我们换地方了"), an_event("两人搬家了", OTHER, subjects=("2000001", "2000002"))
    told = an_event("大家都好", OTHER)
    facts = (a_fact(said), a_fact(said, HERE), a_fact(of_them, HERE), a_fact(told, HERE), a_fact(told, ME))
    await ledger.events.commit(replace(a_draft(said, of_them, told), facts=facts))
    await ledger.consent.opt_out("2000001", NOON)
    assert await ledger.facts.waiting() == [PendingFacts(HERE, 1, NOON)]
    assert await ledger.facts.facts(HERE, 9) == [a_fact(told, HERE)]
    assert await ledger.facts.facts(ME, 9) == []
    await ledger.consent.opt_in("2000001")
    assert await ledger.facts.waiting() == [PendingFacts(ME, 2, NOON), PendingFacts(HERE, 3, NOON)]


async def test_what_is_withdrawn_waits_to_leave_its_profile(ledger: Ledger) -> None:
    """A settled fact whose event is retired is returned first, as withdrawn, until it is settled again."""
    new, kept, told = await learned(ledger, "甲", "乙", "丙")
    await ledger.facts.mark_merged(ME, [kept, told])
    assert await ledger.facts.keys_to_update() == frozenset()
    await ledger.eraser.forget(told.event_id, NOON)
    gone = replace(told, is_withdrawn=True)
    assert await ledger.facts.facts(ME, 9) == [gone, new]
    assert await ledger.facts.facts(ME, 1) == [gone]
    assert await ledger.facts.waiting() == [PendingFacts(ME, 2, NOON, withdrawn=1)]
    assert await ledger.facts.keys_to_update() == {ME}
    await ledger.facts.mark_merged(ME, [gone])
    assert await ledger.facts.facts(ME, 9) == [new]
    assert await ledger.facts.keys_to_update() == frozenset()


async def test_what_left_out_people_withdrew_is_withheld_but_hidden(ledger: Ledger) -> None:
    """Withdrawn facts of opted-out people are not merged, but the profiles that hold them stay hidden."""
    event = an_event("我们换地方了")
    fact = a_fact(event, HERE)
    await ledger.events.commit(replace(a_draft(event), facts=(fact,)))
    await ledger.facts.mark_merged(HERE, [fact])
    await ledger.eraser.forget(event.id, NOON)
    await ledger.consent.opt_out("2000001", NOON)
    assert (await ledger.facts.facts(HERE, 9), await ledger.facts.waiting()) == ([], [])
    assert await ledger.facts.keys_to_update() == {HERE}


async def test_what_is_settled_is_reworded_and_erased_with_the_rest(ledger: Ledger) -> None:
    """A settled fact is reworded or erased like a waiting one, so that nothing of it returns to be removed later."""
    mine, theirs = an_event("阿棠(2000001) 养猫"), an_event("米粒(2000002) 的猫像 2000001 的猫", OTHER)
    about = a_fact(theirs, HERE)
    await ledger.events.commit(replace(a_draft(mine, theirs), facts=(a_fact(mine), about)))
    await ledger.facts.mark_merged(ME, [a_fact(mine)])
    await ledger.facts.mark_merged(HERE, [about])
    await ledger.eraser.forget_person("2000001", later(hours=1), Redaction.of(["2000001"], []))
    await ledger.eraser.forget(theirs.id, NOON)
    assert await ledger.facts.keys_to_update() == {HERE}
    [gone] = await ledger.facts.facts(HERE, 9)
    assert "2000001" not in gone.text
    await ledger.eraser.forget_place(GROUP.scope, later(hours=1))
    assert await ledger.facts.keys_to_update() == frozenset()


@pytest.mark.parametrize(
    "twin",
    [
        an_event("甲", sender_id="2000002"),
        an_event("甲", OTHER_GROUP),
        an_event("甲", PRIVATE),
        an_event("甲", Scene.group("10001", "2000001", agent="another")),
        an_event("甲", retired_at=NOON),
        None,
    ],
    ids=["another sender", "another group", "in private", "another agent", "retired", "unknown"],
)
async def test_a_twin_that_does_not_fit_is_no_twin(ledger: Ledger, twin: object) -> None:
    """An unsuitable declared repetition is ignored: the event is stored, or merged with one of equal text."""
    equal, new, again = an_event("乙"), an_event("丙"), an_event("乙")
    await committed(ledger, equal, *filter(None, [twin]))
    named = getattr(twin, "id", "unknown")
    await ledger.events.commit(replace(a_draft(new, again), repeats=dict.fromkeys([new.id, again.id], named)))
    assert await ledger.events.find(new.id) == new
    assert (await ledger.events.find(equal.id)).count == 2
    if twin is not None:
        assert await ledger.events.find(named) == twin


@pytest.mark.parametrize("is_named", [False, True], ids=["in equal words", "named"])
async def test_what_is_absolute_lifts_its_twin(ledger: Ledger, *, is_named: bool) -> None:
    """An absolute repetition replaces the words of an event that was not absolute, and its facts become the event's."""
    standing = an_event("阿棠 爱喝乌龙", is_absolute=False, confidence=0.1, message_ids=("m-1",))
    text = "阿棠(2000001) 喜欢乌龙茶" if is_named else "阿棠爱喝乌龙。"
    people = ("2000001", "2000002")
    again = an_event(text, subjects=people, kind="preference", confidence=0.9, happened_at=later(days=1))
    await ledger.events.commit(replace(a_draft(standing), facts=(a_fact(standing, HERE),)))
    await ledger.vectors.store(MODEL, [(standing.id, standing.text, a_vector(1, 0))])
    repeats = {again.id: standing.id} if is_named else {}
    await ledger.events.commit(replace(a_draft(again), facts=(a_fact(again),), repeats=repeats))
    better = replace(standing, text=text, subjects=people, kind="preference", confidence=0.9, is_absolute=True)
    counted = replace(better, count=2, last_seen_at=later(days=1), message_ids=())
    assert await ledger.events.recent(ReadFilter(GROUP), 9) == [counted]
    assert await ledger.events.recent(ReadFilter(GROUP, user_id="2000002"), 9) == [counted]
    assert [one.id for one, _ in await events_with(ledger.corpora, query_terms(text), ReadFilter(GROUP), 9)] == [
        standing.id
    ]
    assert [one[0] for one in await ledger.vectors.waiting(MODEL, 9)] == [standing.id]
    fact = a_fact(better, happened_at=again.happened_at)
    assert await ledger.facts.facts(ME, 9) == [fact]
    await ledger.facts.mark_merged(ME, [fact])
    assert await ledger.facts.facts(ME, 9) == []
