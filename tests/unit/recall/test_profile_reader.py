"""Tests of which profiles a scene may read, and of finding them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import TransientError, UnavailableError
from cognitive_memory_core.models.hashing import HashingEmbedder
from cognitive_memory_core.recall.beliefs_and_profiles import ProfileReader, TurnProfiles
from cognitive_memory_core.recall.names import CurrentNames
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger
from tests.support.listed_profiles import ListedIndex, ListedProfiles, ListedWithdrawals, a_listed, listed_texts
from tests.support.ports import Away, CountingEmbedder

MEMBER = ProfileKey.member("10001", "2000001")
OTHER_MEMBER = ProfileKey.member("10001", "2000002")
ELSEWHERE = ProfileKey.member("10002", "2000001")
PERSON = ProfileKey.user("2000001")
OTHER_PERSON = ProfileKey.user("2000002")
READING_GROUP = ProfileKey.group("10001")


@dataclass
class World:
    """A profile reader over test doubles, and those test doubles."""

    profiles: ProfileReader
    store: ListedProfiles
    index: Any
    consent: Consent
    facts: Any
    ledger: Any

    async def turn(self, scene: Scene) -> TurnProfiles:
        """Return the profiles of a turn."""
        return await self.ledger.database.read(self.profiles.of_turn, scene)


async def a_world(*held: Profile, **fields: Any) -> World:
    """Return a world with these profiles, some of whose people are ``shared``."""
    ledger = a_ledger()
    live = Live(fields.pop("settings", None) or Settings())
    consent = Consent(ledger, live)
    for user_id in fields.pop("shared", ()):
        await consent.set_sharing(user_id, True, NOON)
    index = fields.pop("index", None) or ListedIndex(*held, known=[("10001", "2000001"), ("10001", "2000002")])
    embedder, store = (
        fields.pop("embedder", None) or HashingEmbedder(),
        fields.pop("store", None) or ListedProfiles(*held),
    )
    facts = fields.pop("facts", None) or ListedWithdrawals()
    names = CurrentNames(ledger.names)
    profiles = ProfileReader(store, index, embedder, consent, live, facts=facts, names=names)
    return World(profiles, store, index, consent, facts, ledger)


async def asker(world: World, scene: Scene) -> Profile | None:
    """Return the asker's profile as a turn gets it."""
    return (await world.turn(scene)).person


async def group(world: World, scene: Scene) -> Profile | None:
    """Return the group's profile as a turn gets it."""
    return (await world.turn(scene)).group


# What the requested entity means.


async def test_a_user_in_a_group_is_the_member_there() -> None:
    """In a group "user" means the member there and in private the person; "member" takes group/user."""
    world = await a_world(a_listed(MEMBER, "在群里"), a_listed(PERSON, "在私聊"), a_listed(ELSEWHERE, "在别处"))
    asked = [(GROUP, "user", "2000001"), (PRIVATE, "user", "2000001"), (PRIVATE, "member", "10002/2000001")]
    found = [await world.profiles.asked(*each) for each in asked]
    assert listed_texts([each for each in found if each]) == ["在群里", "在私聊", "在别处"]
    assert await world.profiles.asked(OTHER_GROUP, "user", "2000002") is None


# Searching profiles.

CLIMBER = a_listed(MEMBER, "周末常去爬山，喜欢黄山。", tags=("登山",))
CYCLIST = a_listed(OTHER_MEMBER, "会修自行车，家里开修车铺。", name="小北", tags=("自行车",))
THE_GROUP = a_listed(READING_GROUP, "每周读一本小说，最近在读《活着》。", name="读书会")
STORED = (CLIMBER, CYCLIST, THE_GROUP)


async def embedded(*held: Profile) -> dict[ProfileKey, Any]:
    """Embed profiles as the indexer does."""
    vectors = await HashingEmbedder().embed_documents([f"{one.name}\n{one.summary}" for one in held])
    return {one.key: vector for one, vector in zip(held, vectors, strict=True)}


@pytest.mark.parametrize("legs", ["both", "words", "dumb", "broken"])
async def test_a_question_finds_who_it_is_about(legs: str) -> None:
    """The profile that a question is about comes first, unrelated ones are left out, also without vectors."""
    vectors = {} if legs == "words" else await embedded(*STORED)
    embedder = {"dumb": Away(), "broken": CountingEmbedder(TransientError("busy"))}.get(legs)
    if isinstance(embedder, Away):
        embedder.fingerprint = "away"  # type: ignore[attr-defined]
    world = await a_world(index=ListedIndex(*STORED, vectors=vectors), embedder=embedder)
    for question, key in (
        ("谁会修自行车", OTHER_MEMBER),
        ("有人爱爬山吗", MEMBER),
        ("这个群在读什么小说", READING_GROUP),
    ):
        hits = await world.profiles.search(GROUP, question)
        assert hits[0].profile.key == key
        assert all(0.0 < hit.score <= 1.0 for hit in hits)
        assert hits == sorted(hits, key=lambda hit: -hit.score)
    assert await world.profiles.search(GROUP, "量子纠缠") == []
    assert await world.profiles.search(GROUP, "？") == []


@pytest.mark.parametrize(
    ("scene", "entity_type", "found"),
    [
        (GROUP, None, {MEMBER, OTHER_MEMBER, READING_GROUP}),
        (GROUP, "user", {MEMBER, OTHER_MEMBER}),
        (GROUP, "member", {MEMBER, OTHER_MEMBER}),
        (GROUP, "group", {READING_GROUP}),
        (PRIVATE, None, {MEMBER, ELSEWHERE, PERSON}),
        (PRIVATE, "user", {PERSON}),
        (PRIVATE, "group", set()),
        (OPERATOR, "user", {PERSON, OTHER_PERSON}),
    ],
)
@pytest.mark.parametrize("leaky", [False, True])
async def test_kinds(scene: Scene, entity_type: Any, found: set[ProfileKey], leaky: bool) -> None:
    """The kind narrows the search, "user" includes members in a group, and wrong index results are filtered."""
    keys = (MEMBER, OTHER_MEMBER, ELSEWHERE, PERSON, OTHER_PERSON, READING_GROUP, ProfileKey.group("10002"))
    foreign = ProfileKey.user("2000001", "another")
    index = ListedIndex(*(a_listed(key) for key in (*keys, foreign)), leaky=leaky)
    world = await a_world(index=index)
    hits = await world.profiles.search(scene, "乌龙茶", entity_type=entity_type)
    assert {hit.profile.key for hit in hits} == found


async def test_of_two_profiles_of_a_person_the_better_one_keeps_its_place() -> None:
    """In a group, a person's worse profile is left out, and the better one stays before what matches less."""
    held = (
        a_listed(PERSON, "喜欢乌龙茶。"),
        a_listed(OTHER_MEMBER, "喝乌龙。", name="小林"),
        a_listed(MEMBER, "乌龙球。", name="糖糖"),
    )
    world = await a_world(*held, shared=("2000001",))
    hits = await world.profiles.search(GROUP, "喜欢乌龙茶")
    assert [hit.profile.key for hit in hits] == [PERSON, OTHER_MEMBER]
    assert [hit.profile.key for hit in await world.profiles.search(GROUP, "喜欢乌龙茶", top_k=1)] == [PERSON]


async def test_consent_counts_when_the_answer_is_given() -> None:
    """A person who opts out while the question is being embedded is not in the answer."""
    embedder = CountingEmbedder()
    embedder.may_answer.clear()
    world = await a_world(CYCLIST, embedder=embedder)
    searching = asyncio.create_task(world.profiles.search(GROUP, "自行车"))
    await asyncio.sleep(0.01)
    await world.consent.opt_out("2000002", NOON)
    embedder.may_answer.set()
    assert await searching == []


# The profiles of a turn.


async def test_a_file_that_fails_costs_no_other() -> None:
    """If one of the two profiles cannot be read, the other is shown, and the turn reports the gap."""

    class OneBroken(ListedProfiles):
        def read(self, key: ProfileKey) -> Profile | None:
            if key == self.broken:
                raise UnavailableError("away")
            return super().read(key)

    world = await a_world(store=OneBroken(CLIMBER, THE_GROUP))
    for world.store.broken, left in (
        (MEMBER, TurnProfiles(None, THE_GROUP, False)),
        (READING_GROUP, TurnProfiles(CLIMBER, None, False)),
    ):
        assert await world.turn(GROUP) == left


# Withdrawn content.


async def shown_anywhere(world: World) -> list[object]:
    """Return every result that shows the member's profile in their group."""
    found = [await world.profiles.find(GROUP, MEMBER), await world.profiles.asked(GROUP, "user", "2000001")]
    found += [await asker(world, GROUP)]
    return [*filter(None, found), *await world.profiles.search(GROUP, "乌龙茶")]


async def test_a_profile_that_holds_something_withdrawn_is_shown_to_nobody() -> None:
    """A profile with withdrawn content is hidden by key, in context and in search at once, until it is rewritten."""
    world = await a_world(a_listed(MEMBER), a_listed(READING_GROUP, name="读书会"))
    assert len(await shown_anywhere(world)) == 5
    world.facts.held = {MEMBER}
    assert [hit.profile.key for hit in await shown_anywhere(world)] == [READING_GROUP]
    assert await group(world, GROUP) is not None
    world.facts.held = {READING_GROUP}
    assert await group(world, GROUP) is None
    world.facts.held = set()
    assert len(await shown_anywhere(world)) == 5


async def test_no_profile_is_shown_where_nobody_knows_what_is_withdrawn() -> None:
    """If the ledger cannot say what is withdrawn, no profile is shown, and a search finds nothing."""
    world = await a_world(a_listed(MEMBER), facts=Away())
    for asked in (world.profiles.find(GROUP, MEMBER), asker(world, GROUP)):
        with pytest.raises(UnavailableError):
            await asked
    assert await world.profiles.search(GROUP, "乌龙茶") == []


async def test_what_was_read_before_the_withdrawal_is_not_shown_after_it() -> None:
    """What is withdrawn is looked up before a profile is read."""

    class Withdrawing(ListedProfiles):
        def read(self, key: ProfileKey) -> Profile | None:
            asked.append(world.facts.asked)
            return super().read(key)

    asked = list[int]()
    world = await a_world(store=Withdrawing(CLIMBER))
    for read, reading in enumerate((asker(world, GROUP), world.profiles.find(GROUP, MEMBER)), 1):
        assert await reading == CLIMBER
        assert asked[-1] == read
