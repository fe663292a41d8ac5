"""The contract of OperatorLists."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cognitive_memory_core.domain.instants import Interval
from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.reading import EventListing, LineListing, PersonEntry, PlaceListing, ProfileSource
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, a_fact, later, name_person

AGENT = "default"
ANOTHER = replace(GROUP, agent="another")


async def test_events_are_listed_by_place_person_kind_time_and_state(ledger: Ledger) -> None:
    """A listing returns the agent's events that every given field fits, newest first, in pages."""
    tea = an_event("阿棠(2000001) 爱喝茶", GROUP, kind="preference", sender_id="2000001", happened_at=later(hours=1))
    trip = an_event("去了海边", OTHER_GROUP, sender_id="2000002", subjects=("2000001",), happened_at=later(hours=2))
    vague = an_event("他昨天去了", PRIVATE, is_absolute=False, happened_at=later(hours=3))
    gone = an_event("已经忘了", GROUP, happened_at=later(hours=4))
    foreign = an_event("别家的", ANOTHER, happened_at=later(hours=5))
    await ledger.events.commit(a_draft(tea, trip, vague, gone, foreign))
    await ledger.eraser.forget(gone.id, later(hours=6))

    async def listed(limit: int = 9, offset: int = 0, **fields: object) -> list[str]:
        found = await ledger.listings.events(AGENT, EventListing(**fields), limit, offset)  # type: ignore[arg-type]
        return [event.id for event in found]

    assert await listed() == [vague.id, trip.id, tea.id]
    assert await listed(1, 1) == [trip.id]
    assert await listed(place=GROUP.scope) == [tea.id]
    assert await listed(user_id="2000001", place=OTHER_GROUP.scope) == [trip.id]
    assert await listed(user_id="2000001") == [vague.id, trip.id, tea.id]
    assert await listed(user_id="2000001", voice="others") == [trip.id]
    assert await listed(user_id="2000001", voice="own") == [vague.id, tea.id]
    assert await listed(kind="preference") == [tea.id]
    assert await listed(state="retired") == [gone.id]
    assert await listed(state="relative") == [vague.id]
    assert await listed(window=Interval(later(hours=2), later(hours=3))) == [trip.id]
    without = await ledger.listings.events(AGENT, EventListing(), 9, without={"2000002"})
    assert trip.id not in [event.id for event in without]


async def test_lines_are_listed_with_what_was_made_of_them(ledger: Ledger) -> None:
    """Lines of the agent are listed by place, person and time, newest first, with active events made of them."""
    answering = replace(GROUP, user_id="2000002")
    asked, answered = a_message("谁爱喝茶", GROUP, id="m1"), a_message("我", answering, id="m2", sent_at=later(hours=1))
    answered = replace(answered, reply_to="m1")
    await ledger.log.append([asked, answered, a_message("别处", OTHER_GROUP, id="m1"), a_message("别家", ANOTHER)])
    tea, gone = an_event("爱喝茶", GROUP, message_ids=("m2",)), an_event("问了", GROUP, message_ids=("m1",))
    await ledger.events.commit(a_draft(tea, gone, an_event("别家的", ANOTHER, message_ids=("m2",))))
    await ledger.eraser.forget(gone.id, later(hours=2))

    async def listed(**fields: object) -> list[str]:
        found = await ledger.log.lines(AGENT, LineListing(**fields), 9)  # type: ignore[arg-type]
        return [line.text for line in found]

    assert (await listed())[0] == "我"
    assert "别家" not in await listed()
    assert await listed(place=OTHER_GROUP.scope) == ["别处"]
    assert await listed(user_id="2000002") == ["我"]
    assert await listed(window=Interval(later(hours=1), later(hours=2))) == ["我"]
    without = await ledger.log.lines(AGENT, LineListing(), 9, without={"2000002"})
    assert "我" not in [line.text for line in without]
    assert await ledger.listings.learned_from(AGENT, ["m1", "m2"]) == {(GROUP.scope.key, "m2"): tea.id}
    [one] = await ledger.listings.answers(GROUP.scope, 9, 9)
    assert (one.user_id, one.answered_id, one.times) == ("2000002", GROUP.user_id, 1)


async def test_a_place_of_older_lines_is_not_passed_over(ledger: Ledger) -> None:
    """The latest places are right also if the newest lines are all of one place, and an older event is of another."""
    quiet, silent = replace(GROUP, group_id="20001"), replace(GROUP, group_id="20002")
    busy = [a_message(f"第 {number} 句", sent_at=later(hours=2, seconds=number)) for number in range(1_001)]
    await ledger.log.append([*busy, a_message("早", quiet, sent_at=later(hours=1))])
    await ledger.events.commit(a_draft(an_event("去了", silent, happened_at=NOON)))
    for limit in (1, 2, 3):
        found = await ledger.listings.places(AGENT, PlaceListing(), limit)
        assert [one.scope for one in found] == [GROUP.scope, quiet.scope, silent.scope][:limit]


async def test_every_place_is_on_one_page(ledger: Ledger) -> None:
    """A place is on one page of a list, wherever its newest event was forgotten and however many are equally recent."""
    old = replace(GROUP, group_id="30000")
    gone = an_event("后来的", old, happened_at=later(hours=9))
    await ledger.events.commit(a_draft(an_event("早先的", old, happened_at=NOON), gone))
    await ledger.eraser.forget(gone.id, later(hours=10))
    places = [replace(GROUP, group_id=str(number)) for number in range(20_000, 21_003)]
    await ledger.log.append([a_message("早", one, sent_at=later(hours=1)) for one in places])
    for size in (500, 1_002):
        listing = PlaceListing(is_counted=False)
        pages = [await ledger.listings.places(AGENT, listing, size, at) for at in (0, size, 1_000)]
        assert [one.scope for one in pages[-1]] == [one.scope for one in (*places[1_000:], old)]
        assert {one.scope for page in pages for one in page} == {one.scope for one in (*places, old)}


async def test_places_are_found_by_name_id_and_kind(ledger: Ledger) -> None:
    """A list of places is narrowed to one, to a kind, to an id or a part of a name, and leaves out private chats."""
    named = replace(OTHER_GROUP, group_name="散步_群")
    near = replace(GROUP, group_id=f"{GROUP.group_id}5")
    told = (an_event("一", GROUP), an_event("二", near), an_event("三", PRIVATE), an_event("没了", OTHER_GROUP))
    await ledger.events.commit(a_draft(*told))
    await ledger.eraser.forget(told[-1].id, later(hours=2))
    await ledger.log.append([a_message("早", named, sent_at=later(hours=1))])
    await name_person(ledger, PRIVATE.scope, PRIVATE.user_id, "阿棠", NOON)

    async def found(**fields: Any) -> set[str]:
        return {one.scope.key for one in await ledger.listings.places(AGENT, PlaceListing(**fields), 9)}

    everywhere = {GROUP.scope.key, near.scope.key, PRIVATE.scope.key, OTHER_GROUP.scope.key}
    assert await found() == everywhere
    assert await found(kind="private") == {PRIVATE.scope.key}
    assert await found(kind="group") == everywhere - {PRIVATE.scope.key}
    assert await found(place=GROUP.scope) == {GROUP.scope.key}
    assert await found(text=GROUP.group_id) == {GROUP.scope.key}
    assert await found(text="步_") == {OTHER_GROUP.scope.key}
    assert await found(text="散%") == set()
    assert await found(text="阿棠") == {PRIVATE.scope.key}
    assert await found(without=frozenset({PRIVATE.user_id})) == everywhere - {PRIVATE.scope.key}
    [chat] = await ledger.listings.places(AGENT, PlaceListing(place=PRIVATE.scope), 9)
    assert (chat.name, chat.events, chat.messages) == ("阿棠", 1, 0)
    [chat] = await ledger.listings.places(AGENT, PlaceListing(place=PRIVATE.scope, is_counted=False), 9)
    assert (chat.name, chat.events, chat.last_at) == ("阿棠", 0, NOON)


async def test_people_are_listed_by_the_name_seen_last(ledger: Ledger) -> None:
    """People come with their latest name and are found by id or by a part of any name, signs of LIKE taken as text."""
    await name_person(ledger, GROUP.scope, "2000001", "阿棠", NOON)
    await name_person(ledger, OTHER_GROUP.scope, "2000001", "Tang_100%", later(hours=2))
    await name_person(ledger, GROUP.scope, "2000002", "豆沙", later(hours=1))
    await name_person(ledger, ANOTHER.scope, "2000003", "别家的人", later(hours=3))
    await ledger.events.commit(a_draft(an_event("爱喝茶", GROUP, sender_id="2000001")))
    tang, dou = (
        PersonEntry("2000001", "Tang_100%", 1, later(hours=2)),
        PersonEntry("2000002", "豆沙", 0, later(hours=1)),
    )
    assert await ledger.listings.people(AGENT, "", 9) == [tang, dou]
    assert await ledger.listings.people(AGENT, "", 9, 1) == [dou]
    assert await ledger.listings.people(AGENT, "2000002", 9) == [dou]
    assert [one.user_id for one in await ledger.listings.people(AGENT, "tang_1", 9)] == ["2000001"]
    assert await ledger.listings.people(AGENT, "%沙", 9) == []
    assert await ledger.listings.names(AGENT, "2000001") == [
        Alias(OTHER_GROUP.scope, "2000001", "Tang_100%", later(hours=2), later(hours=2)),
        Alias(GROUP.scope, "2000001", "阿棠", NOON, NOON),
    ]


async def test_profiles_are_listed_with_the_sources_of_their_facts(ledger: Ledger) -> None:
    """Profiles come by type and by a part of the name; each of their facts names its event and its state."""
    tea, gone = an_event("爱喝茶", GROUP, sender_id="2000001"), an_event("爱喝咖啡", GROUP, sender_id="2000001")
    member = ProfileKey.member(GROUP.group_id, "2000001")
    facts = (a_fact(tea, member), a_fact(gone, member))
    await ledger.events.commit(replace(a_draft(tea, gone), facts=facts))
    await ledger.facts.mark_merged(member, facts)
    await ledger.eraser.forget(gone.id, later(hours=1))
    own = Profile(member, "阿棠", ("茶",), "爱喝茶", NOON, tea.id, "1")
    place = Profile(ProfileKey.group(GROUP.group_id), "书友会", (), "读书", later(hours=1), tea.id, "1")
    for profile in (own, place, replace(own, key=replace(member, agent="another"))):
        await ledger.profiles.take_in(profile.key, {profile.key: profile}.get)
    assert await ledger.listings.profiles(AGENT, None, "", 9) == [place, own]
    assert await ledger.listings.profiles(AGENT, "member", "", 9) == [own]
    assert await ledger.listings.profiles(AGENT, None, "书友", 9) == [place]
    assert await ledger.listings.profiles(AGENT, None, "2000001", 9) == [own]
    assert await ledger.listings.sources(member, 9) == [
        ProfileSource(gone.id, "爱喝咖啡", gone.happened_at, is_merged=True, is_withdrawn=True),
        ProfileSource(tea.id, "爱喝茶", tea.happened_at, is_merged=True),
    ]
