"""Tests of recording names and of updating them on profiles."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import LimitReached
from cognitive_memory_core.historian.name_observer import NameObserver
from cognitive_memory_core.profiles.files import Overtaken
from tests.support.builders import GROUP
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import Ledger, a_ledger
from tests.support.profiles import TemporaryProfiles
from tests.support.waiting import until

MEMBER = ProfileKey.member(GROUP.group_id, GROUP.user_id)
PLACE = ProfileKey.group(GROUP.group_id)


class Counting(TemporaryProfiles):
    """Profiles that count renames or refuse them."""

    def __init__(self) -> None:
        """Refuse nothing."""
        super().__init__(5, FrozenClock())
        self.renames = 0
        self.refusal: Exception | None = None

    async def rename(self, key: ProfileKey, name: str) -> Profile | None:
        """Count, then rename or refuse."""
        self.renames += 1
        if self.refusal:
            raise self.refusal
        return await super().rename(key, name)


async def noted() -> tuple[NameObserver, Counting, Ledger]:
    """Return an observer of names with profiles of a member and the group."""
    ledger, profiles = a_ledger(), Counting()
    for key in (MEMBER, PLACE):
        await profiles.write(Profile(key, "旧名", (), "爱喝茶", NOON))
    return NameObserver(ledger.names, profiles, ledger.profiles, FrozenClock()), profiles, ledger


async def test_readers_are_told_where_a_name_is_new():
    """The places of new names are told once they are written; a name that was just seen there is none."""
    told: list[Scope] = []
    ledger = a_ledger()
    observer = NameObserver(ledger.names, Counting(), ledger.profiles, FrozenClock(), on_changed=told.extend)
    for _ in range(2):
        await observer.note([(GROUP, NOON)])
    assert told == [GROUP.scope]


async def names(profiles: TemporaryProfiles) -> list[str]:
    """Return the names of both profiles."""
    found = [await profiles.find(key) for key in (MEMBER, PLACE)]
    return [profile.name for profile in found if profile]


async def test_a_new_card_reaches_the_profile() -> None:
    """A new name of a person or group is soon on the profile, without a revision."""
    sightings, profiles, _ = await noted()
    sightings.loop.start()
    await sightings.note([(replace(GROUP, user_name="齐师傅修船", group_name="新读书会"), NOON)])

    async def are_named() -> bool:
        return await names(profiles) == ["齐师傅修船", "新读书会"]

    await until(are_named)
    await sightings.loop.stop()
    assert [await profiles.revisions(key) for key in (MEMBER, PLACE)] == [[], []]


async def test_a_card_that_flips_is_written_once() -> None:
    """Of many observed names that wait, only the newest is written."""
    sightings, profiles, _ = await noted()
    flips = [(replace(GROUP, user_name=("甲", "乙")[at % 2]), NOON - timedelta(seconds=400 - at)) for at in range(400)]
    await sightings.note(flips)
    await sightings.flush()
    assert profiles.renames <= 2
    assert (await names(profiles))[0] == "乙"


async def test_a_profile_that_cannot_be_renamed_ends_nothing() -> None:
    """A profile that cannot be renamed keeps its name until the next observation."""
    sightings, profiles, _ = await noted()
    sightings.loop.start()
    for refusal in (Overtaken("edited"), LimitReached("full"), KeyError("a bug")):
        before, profiles.refusal = profiles.renames, refusal
        await sightings.note([(replace(GROUP, user_name=f"新名{before}"), NOON)])
        await until(lambda count=before: profiles.renames > count)
    profiles.refusal = None
    await sightings.note([(replace(GROUP, user_name="终于"), NOON)])

    async def is_named() -> bool:
        return (await names(profiles))[0] == "终于"

    await until(is_named)
    await sightings.loop.stop()


async def test_nobody_is_seen_in_the_future() -> None:
    """A name observed with a date in the future counts as observed now."""
    sightings, profiles, ledger = await noted()
    await sightings.note([(replace(GROUP, user_name="未来人"), NOON + timedelta(days=2000))])
    await sightings.flush()
    await sightings.note([(replace(GROUP, user_name="现在人"), NOON)])
    await sightings.flush()
    assert (await names(profiles))[0] == "现在人"
    assert max(alias.last_seen_at for alias in (await _aliases(ledger))) <= NOON


async def test_groups_and_people_are_known_by_their_latest_name() -> None:
    """The latest names of groups and people are known, and forgotten people have none."""
    sightings, _, _ = await noted()
    await sightings.note([(replace(GROUP, user_name="阿禾", group_name="读书会"), NOON)])
    user = ProfileKey.user(GROUP.user_id)
    assert (sightings.name_of(PLACE), sightings.name_of(user)) == ("读书会", "阿禾")
    sightings.forget([user])
    assert sightings.name_of(user) == ""


async def _aliases(ledger: Ledger) -> list[object]:
    from cognitive_memory_core.store.names import Alias

    return [row async for row in ledger.archive.rows() if isinstance(row, Alias)]
