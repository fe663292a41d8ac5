"""Tests of which profiles a scene may read, and of finding them."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import NotPermitted, TransientError, UnavailableError
from cognitive_memory_core.models.hashing import HashingEmbedder
from cognitive_memory_core.recall.beliefs_and_profiles import ProfileReader, TurnProfiles
from cognitive_memory_core.recall.query import CurrentNames
from cognitive_memory_core.recall.recall import Recall
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger
from tests.support.listed_profiles import ListedIndex, ListedProfiles, ListedWithdrawals, a_listed, listed_texts
from tests.support.ports import Away, CountingEmbedder, ListedEvents, ListedNotes, ListedVectors, ListedWords, a_recall
from tests.support.sizes import sized

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


# Reading a profile by key.


@pytest.mark.parametrize(
    ("scene", "key"),
    [
        (GROUP, MEMBER),
        (GROUP, OTHER_MEMBER),
        (GROUP, READING_GROUP),
        (PRIVATE, PERSON),
        (PRIVATE, MEMBER),
        (OPERATOR, PERSON),
        (OPERATOR, READING_GROUP),
    ],
)
async def test_what_a_scene_may_read(scene: Scene, key: ProfileKey) -> None:
    """A group reads its own and its members' profiles, a person their own, an operator all of the agent."""
    world = await a_world(a_listed(key))
    assert await world.profiles.find(scene, key) == a_listed(key)


async def test_a_file_of_somebody_else_is_not_shown() -> None:
    """A profile under a wrong key is not shown."""
    world = await a_world()
    world.store.held[MEMBER] = a_listed(OTHER_PERSON)
    assert await world.profiles.find(GROUP, MEMBER) is None


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


async def test_what_is_foreign_does_not_count() -> None:
    """Profiles of other scopes change neither scores nor order, even if the index returns them."""
    foreign = [a_listed(ProfileKey.member("10002", str(3_000_000 + n)), "会修自行车") for n in range(20)]
    hits = [
        await (await a_world(index=ListedIndex(*STORED, *more, leaky=True))).profiles.search(GROUP, "会修自行车的书友")
        for more in ((), foreign)
    ]
    assert hits[0]
    assert hits[0] == hits[1]


async def test_an_index_that_is_away_finds_nothing() -> None:
    """If the profile index is unavailable, a search returns nothing and raises nothing."""
    world = await a_world(index=Away())
    assert await world.profiles.search(GROUP, "乌龙茶") == []


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


# Isolation over random histories.

SCENES = int(os.environ.get("COGNITIVE_MEMORY_LEAK_SCENES", sized(400, 20_000)))
HISTORIES = 20
AGENTS, GROUPS, PEOPLE = ("default", "another"), ("10001", "10002", "10003"), tuple(f"200000{n}" for n in range(6))


class Town:
    """Groups and private chats with a random history: profiles with markers, sharing, opt-outs, names."""

    def __init__(self, random: Random) -> None:
        """Choose at random who has a profile, who is known where, and the sharing setting."""
        keys = [ProfileKey.user(user, agent) for user in PEOPLE for agent in AGENTS]
        keys += [ProfileKey.group(group, agent) for group in GROUPS for agent in AGENTS]
        keys += [ProfileKey.member(group, user, agent) for group in GROUPS for user in PEOPLE for agent in AGENTS]
        self.profiles = {key: self._profile_lines(key) for key in keys if random.random() < 0.8}
        self.known = {(group, user) for group in GROUPS for user in PEOPLE if random.random() < 0.5}
        self.everybody_shares = random.random() < 0.3
        self.shared: set[str] = set()
        self.opted_out: set[str] = set()
        self.random = random

    @staticmethod
    def _profile_lines(key: ProfileKey) -> Profile:
        canary = f"暗号{key.agent}x{key.entity_type}x{key.group_id}x{key.user_id}z"
        return a_listed(key, f"喜欢乌龙茶，{canary}。", name=f"名{key.user_id or key.group_id}", tags=(canary,))

    def a_scene(self) -> Scene:
        """Return a random scene."""
        agent, user = self.random.choice(AGENTS), self.random.choice(PEOPLE)
        if self.random.random() < 0.6:
            return Scene.group(self.random.choice(GROUPS), user, agent=agent)
        return Scene.private(user, agent=agent)

    def may_see(self, scene: Scene, key: ProfileKey) -> bool:
        """Return whether a scene may read a profile, only by the rules of the design."""
        if key.agent != scene.agent or key.user_id in self.opted_out:
            return False
        if key.entity_type == "group":
            return scene.group_id == key.group_id
        if key.entity_type == "member":
            return key.group_id == scene.group_id if scene.group_id else key.user_id == scene.user_id
        if scene.kind == "private":
            return key.user_id == scene.user_id
        is_here = key.user_id == scene.user_id or (scene.group_id, key.user_id) in self.known
        return is_here and (self.everybody_shares or key.user_id in self.shared)

    def leaks(self, scene: Scene, text: str) -> list[ProfileKey]:
        """Return the keys of profiles that a text contains although the scene may not read them."""
        seen = (key for key, profile in self.profiles.items() if profile.tags[0] in text)
        return [key for key in seen if not self.may_see(scene, key)]


async def everything(profiles: ProfileReader, builder: Recall, scene: Scene, random: Random) -> tuple[str, int]:
    """Read profiles in every possible way; return all results as text, and their number."""
    kind, user = random.choice(("user", "member", "group", None)), random.choice(PEOPLE)
    found = [
        hit.profile
        for hit in await profiles.search(scene, random.choice(("乌龙茶", "暗号", f"名{user}")), entity_type=kind)
    ]
    key = random.choice((ProfileKey.user(user, scene.agent), ProfileKey.group(random.choice(GROUPS), "default")))
    for asking in (
        profiles.find(scene, key),
        profiles.asked(scene, "user", user),
        profiles.asked(scene, "member", f"{random.choice(GROUPS)}/{user}"),
        profiles.asked(scene, "group", random.choice(GROUPS)),
    ):
        with suppress(NotPermitted):
            found += [profile for profile in [await asking] if profile]
    context = await builder.context(scene, "乌龙茶")
    return "\n".join((*(f"{one.tags}{one.summary}" for one in found), context.text)), len(found) + len(context.sections)


@settings(max_examples=HISTORIES, deadline=None)
@given(st.integers(0, 2**32))
def test_nothing_leaks(seed: int) -> None:
    """No scene sees a profile that it may not read, whatever was shared, unshared or opted out of before."""
    asyncio.run(_live(Random(seed)))


async def _live(random: Random) -> None:
    town = Town(random)
    index = ListedIndex(*town.profiles.values(), known=town.known)
    live = Settings(sharing="shared" if town.everybody_shares else "isolated")
    world = await a_world(*town.profiles.values(), index=index, settings=live)
    stores = {"events": ListedEvents(), "words": ListedWords(), "vectors": ListedVectors(), "notes": ListedNotes()}
    builder = a_recall(world.ledger, None, Live(live), consent=world.consent, profiles=world.profiles, **stores)
    answers = 0
    for _ in range(SCENES // HISTORIES):
        await _something_happens(town, world.consent)
        scene = town.a_scene()
        told, many = await everything(world.profiles, builder, scene, random)
        answers += many
        assert town.leaks(scene, told) == []
    assert answers > SCENES // HISTORIES  # the random history produced answers


async def _something_happens(town: Town, consent: Consent) -> None:
    user, dice = town.random.choice(PEOPLE), town.random.random()
    if dice < 0.3:
        is_open = user not in town.shared
        (town.shared.add if is_open else town.shared.discard)(user)
        await consent.set_sharing(user, is_open, NOON)
    elif dice < 0.4:
        town.opted_out.add(user)
        await consent.opt_out(user, NOON)
    elif dice < 0.6:
        town.opted_out.discard(user)
        await consent.opt_in(user)


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


async def test_a_shared_profile_that_is_hidden_gives_way_to_that_of_the_place() -> None:
    """While a shared profile is hidden, the member's profile is shown instead."""
    world = await a_world(a_listed(PERSON), a_listed(MEMBER, "在群里画画。"), shared=["2000001"])
    world.facts.held = {PERSON}
    assert listed_texts([await world.profiles.asked(GROUP, "user", "2000001")]) == ["在群里画画。"]
    assert listed_texts([await asker(world, GROUP)]) == ["在群里画画。"]


async def test_no_profile_is_shown_where_nobody_knows_what_is_withdrawn() -> None:
    """If the ledger cannot say what is withdrawn, no profile is shown, and a search finds nothing."""
    world = await a_world(a_listed(MEMBER), facts=Away())
    for asked in (world.profiles.find(GROUP, MEMBER), asker(world, GROUP)):
        with pytest.raises(UnavailableError):
            await asked
    assert await world.profiles.search(GROUP, "乌龙茶") == []


async def test_what_was_read_before_the_withdrawal_is_not_shown_after_it() -> None:
    """A profile that was read before the withdrawal is not shown after it."""
    world = await a_world(a_listed(MEMBER, "密码七零四二。"))
    world.store.may_answer.clear()
    reading = asyncio.create_task(asker(world, GROUP))
    await asyncio.sleep(0)
    world.facts.held = {MEMBER}
    assert await asker(world, GROUP) is None
    world.store.held[MEMBER] = a_listed(MEMBER, "")
    world.facts.held = set()
    world.store.may_answer.set()
    assert await asker(world, GROUP) is None
    await reading
