"""The contract of ProfileIndex."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports import Vector
from cognitive_memory_core.store.profiles import words_of
from tests.support.builders import GROUP, OPERATOR, PRIVATE
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, Ledger, a_profile, a_vector, name_person

ME, OTHER = ProfileKey.user("2000001"), ProfileKey.user("2000002")
MEMBER, OTHER_MEMBER = ProfileKey.member("10001", "2000001"), ProfileKey.member("10001", "2000002")
ELSEWHERE, OTHER_ELSEWHERE = ProfileKey.member("10002", "2000001"), ProfileKey.member("10002", "2000002")
HERE, THERE = ProfileKey.group("10001"), ProfileKey.group("10002")
FOREIGN = (ProfileKey.user("2000001", "another"), ProfileKey.member("10001", "2000001", "another"))
KEYS = (ME, OTHER, MEMBER, OTHER_MEMBER, ELSEWHERE, OTHER_ELSEWHERE, HERE, THERE, *FOREIGN)
STRANGER = Scene.group("10002", "2000009")


async def taken_in(ledger: Ledger, *profiles: Profile) -> None:
    """Put profiles."""
    for profile in profiles:
        await ledger.profiles.take_in(profile.key, {profile.key: profile}.get)


async def readable(ledger: Ledger, scene: Scene, shared: Collection[str] | None = ()) -> set[ProfileKey]:
    """Return the keys of the profiles that a scene may read."""
    return {profile.key for profile, _ in await ledger.profiles.readable(scene, shared, MODEL)}


async def indexed(ledger: Ledger, model: str = MODEL) -> list[tuple[Profile, Vector | None]]:
    """Return all profiles as the operator sees them."""
    return await ledger.profiles.readable(OPERATOR, (), model)


@pytest.mark.parametrize(
    "change", [{"summary": "红茶"}, {"tags": ("茶",)}, {"name": "棠棠"}], ids=["summary", "tags", "name"]
)
async def test_new_words_lose_the_old_vector(ledger: Ledger, change: dict[str, object]) -> None:
    """A profile whose text changed loses its vector, and a late vector of the old text is dropped."""
    old = a_profile(ME)
    new = replace(old, **change)
    await taken_in(ledger, old)
    vectors = ledger.profile_vectors
    [(key, words)] = await vectors.waiting(MODEL, 9)
    await vectors.store(MODEL, [(key, words, a_vector(1, 0))])
    await ledger.profiles.take_in(new.key, {new.key: new}.get)
    await vectors.store(MODEL, [(key, words, a_vector(1, 0))])
    assert await indexed(ledger) == [(new, None)]
    assert await vectors.waiting(MODEL, 9) == [(key, words_of(new))]
    await vectors.store(MODEL, [(key, words_of(new), a_vector(0, 1))])
    assert await indexed(ledger) == [(new, a_vector(0, 1))]


async def test_an_open_profile_is_read_in_groups_that_know_its_person(ledger: Ledger) -> None:
    """A shared profile is readable in groups that know its person, nowhere else, and only that profile."""
    await taken_in(ledger, *map(a_profile, KEYS))
    await name_person(ledger, GROUP.scope, "2000001", "阿棠", NOON)
    await name_person(ledger, GROUP.scope, "2000002", "小林", NOON)
    both = {"2000001", "2000002", "2000003"}
    assert await readable(ledger, GROUP, {"2000001"}) == {MEMBER, OTHER_MEMBER, HERE, ME}
    assert await readable(ledger, GROUP, both) == {MEMBER, OTHER_MEMBER, HERE, ME, OTHER}
    assert await readable(ledger, GROUP, ["2000003"]) == {MEMBER, OTHER_MEMBER, HERE}
    assert await readable(ledger, STRANGER, both) == {ELSEWHERE, OTHER_ELSEWHERE, THERE}
    assert await readable(ledger, PRIVATE, both) == {ME, MEMBER, ELSEWHERE}
    assert await readable(ledger, Scene.private("2000003"), both) == set()
    assert await readable(ledger, Scene.group("10001", "2000001", agent="another"), both) == set(FOREIGN)
