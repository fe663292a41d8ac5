"""Tests of recording names and of updating them on profiles."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from cognitive_memory_core.domain.profile import Profile, ProfileKey
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


async def _aliases(ledger: Ledger) -> list[object]:
    from cognitive_memory_core.domain.turn import Alias

    return [row async for row in ledger.archive.rows() if isinstance(row, Alias)]
