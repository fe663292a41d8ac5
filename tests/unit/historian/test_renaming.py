"""Tests of renaming profiles."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.historian.name_observer import NameObserver, Seen
from cognitive_memory_core.profiles.files import FileProfiles
from cognitive_memory_core.store.profiles import ProfileIndex
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.profiles import GROUP_KEY, KEEP, TANG, TANG_THERE, TemporaryProfiles, a_profile


class Counted(TemporaryProfiles):
    """Profiles that count reads and can fail."""

    def __init__(self) -> None:
        """Work without failures."""
        super().__init__(KEEP, FrozenClock())
        self.found = 0
        self.is_away = False

    async def find(self, key: ProfileKey) -> Any:
        """Count, then read or raise."""
        self.found += 1
        if self.is_away:
            raise UnavailableError("盘不在")
        return await super().find(key)


def seen(name: str, user_id: str = "2000001", minutes: float = 0.0, *, group_name: str = "") -> Seen:
    """Return a scene of a group with these names, at this time."""
    scene = Scene.group("10001", user_id, user_name=name, group_name=group_name)
    return scene, NOON + timedelta(minutes=minutes)


class Names(NameObserver):
    """An observer that passes names on to the profiles at once."""

    def __init__(self, profiles: FileProfiles, index: ProfileIndex | None = None, **options: Any) -> None:
        """Observe from an hour after noon on."""
        ledger, clock = a_ledger(), FrozenClock(NOON + timedelta(hours=2))
        super().__init__(ledger.names, profiles, index or ledger.profiles, clock, **options)

    async def see(self, *sightings: Seen) -> None:
        """Note names and pass them on."""
        await self.note(sightings)
        await self.flush()


@pytest.fixture
async def profiles() -> Counted:
    """Return profiles of a person in a group and in private, and of the group."""
    store = Counted()
    for key in (TANG, TANG_THERE, GROUP_KEY):
        await store.write(a_profile(key=key))
    return store


async def names(store: TemporaryProfiles) -> list[str]:
    """Return the names of the user, the member and the group."""
    return [profile.name for key in (TANG, TANG_THERE, GROUP_KEY) if (profile := await FileProfiles.find(store, key))]


async def test_a_new_card_renames_the_profile_of_that_place(profiles: Counted) -> None:
    """A group name renames the member, a private name the user, the group's name the group, in file and index."""
    index = a_ledger().profiles
    private = Scene.private("2000001", user_name="小棠")
    await Names(profiles, index).see(seen("海棠", group_name="读书会二群"), (private, NOON))
    assert await names(profiles) == ["小棠", "海棠", "读书会二群"]
    found = [await profiles.find(key) for key in (TANG, TANG_THERE, GROUP_KEY)]
    assert await index.versions() == {profile.key: profile.version for profile in found}


async def test_a_store_that_is_away_is_asked_at_the_next_sighting(
    profiles: Counted, caplog: pytest.LogCaptureFixture
) -> None:
    """If the store fails, nothing is raised, one line is logged, and the next observation renames."""
    renaming = Names(profiles)
    profiles.is_away = True
    for minute in range(3):
        await renaming.see(seen("海棠", minutes=minute))
    assert caplog.text.count("盘不在") == 1
    profiles.is_away = False
    await renaming.see(seen("海棠", minutes=4))
    assert (await names(profiles))[1] == "海棠"
    assert renaming.trouble.error == ""


async def test_whoever_is_erased_meanwhile_does_not_come_back(profiles: Counted) -> None:
    """A profile erased between writing the file and the index is not indexed."""
    ledger = a_ledger()

    class Erasing:
        async def take_in(self, key: ProfileKey, read: Any) -> None:
            await profiles.erase_person("2000001", lambda text: text)
            await ledger.profiles.take_in(key, read)

    await Names(profiles, Erasing()).see(seen("海棠"))  # type: ignore[arg-type]  # a part of the index
    assert await ledger.profiles.versions() == {}
