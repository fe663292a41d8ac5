"""Tests of recording names and of renaming profiles."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

import pytest

from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.historian.name_observer import NameObserver, Seen
from cognitive_memory_core.text.characters import clear_caches
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import Ledger, a_ledger
from tests.support.profiles import GROUP_KEY, KEEP, TANG, TANG_THERE, TemporaryProfiles, a_profile


class Refusing(TemporaryProfiles):
    """Profiles that can refuse to be renamed."""

    is_away = False

    async def rename(self, key: ProfileKey, name: str) -> Any:
        """Rename or raise."""
        if self.is_away:
            raise UnavailableError("盘不在")
        return await super().rename(key, name)


def seen(name: str, minutes: float = 0.0, *, group_name: str = "") -> Seen:
    """Return a scene of a group with these names, at this time."""
    scene = Scene.group("10001", "2000001", user_name=name, group_name=group_name)
    return scene, NOON + timedelta(minutes=minutes)


@pytest.fixture
async def profiles() -> Refusing:
    """Return profiles of a person in a group and in private, and of the group."""
    store = Refusing(KEEP, FrozenClock())
    for key in (TANG, TANG_THERE, GROUP_KEY):
        await store.write(a_profile(key=key))
    return store


def observing(profiles: TemporaryProfiles, ledger: Ledger, index: Any = None) -> NameObserver:
    """Return an observer two hours after noon."""
    clock = FrozenClock(NOON + timedelta(hours=2))
    return NameObserver(ledger.names, profiles, index or ledger.profiles, clock)


async def names(store: TemporaryProfiles) -> list[str]:
    """Return the names of the user, the member and the group."""
    return [profile.name for key in (TANG, TANG_THERE, GROUP_KEY) if (profile := await store.find(key))]


async def test_an_older_line_brings_no_former_name_back(profiles: Refusing) -> None:
    """A name of an earlier time, as of a past line, is recorded and renames nothing."""
    ledger = a_ledger()
    observer = observing(profiles, ledger)
    await observer.note([seen("海棠", 60), seen("阿棠", 30)])
    await observer.note([seen("棠棠")])
    assert (await names(profiles))[1] == "海棠"
    assert {*await ledger.names.names_of(["2000001"])} == {"海棠", "阿棠", "棠棠"}


async def test_a_profile_that_cannot_be_renamed_ends_nothing(
    profiles: Refusing, caplog: pytest.LogCaptureFixture
) -> None:
    """If a profile cannot be renamed, nothing is raised, one line is logged, and the next new name is passed on.

    The error does not stay in the status while nobody has a new name.
    """
    observer = observing(profiles, a_ledger())
    profiles.is_away = True
    for number in range(3):
        await observer.note([seen(f"海棠{number}", number)])
    assert caplog.text.count("盘不在") == 1
    profiles.is_away = False
    await observer.note([seen("海棠2", 3)])
    assert observer.trouble.error == ""
    await observer.note([seen("海棠", 4)])
    assert (await names(profiles))[1] == "海棠"


async def test_whoever_is_erased_meanwhile_does_not_come_back(profiles: Refusing) -> None:
    """A profile erased between writing the file and the index is not indexed."""
    ledger = a_ledger()

    class Erasing:
        async def take_in(self, key: ProfileKey, read: Any) -> None:
            await profiles.erase_person("2000001", lambda text: text)
            await ledger.profiles.take_in(key, read)

    await observing(profiles, ledger, Erasing()).note([seen("海棠")])
    assert await ledger.profiles.versions() == {}


async def test_a_name_is_written_again_once_it_may_be_erased(profiles: Refusing) -> None:
    """Nothing is written for a name that was written within the hour; after an erasure it is written again."""
    ledger = a_ledger()
    observer = observing(profiles, ledger)
    await observer.note([seen("海棠")])
    await ledger.database.write(lambda connection: connection.execute("DELETE FROM names"))
    await observer.note([seen("海棠", 30)])
    assert not await ledger.names.names_of(["2000001"])
    clear_caches()
    await observer.note([seen("海棠", 40)])
    assert await ledger.names.names_of(["2000001"]) == ["海棠"]
    await observer.note([seen("棠棠", 50)])
    await observer.note([seen("海棠", 59)])
    assert await ledger.names.names_of(["2000001"]) == ["海棠", "棠棠"]


RESTART: Sequence[tuple[str, float]] = ()


@pytest.mark.parametrize(
    "noted",
    [
        ([("海棠", 60), ("阿棠", 30)], [("阿棠", 61)]),
        ([("阿棠", 0)], [("海棠", 10)], [("阿棠", 0)], [("阿棠", 30)]),
        ([("阿棠", 0), ("海棠", 10)], RESTART, [("阿棠", 0)], [("阿棠", 30)]),
    ],
    ids=["lines written together", "a job of an earlier line", "a past line after a restart"],
)
async def test_who_takes_a_former_name_back_is_called_by_it(
    profiles: Refusing, noted: Sequence[Sequence[tuple[str, float]]]
) -> None:
    """The name of the latest line counts, also a former one, whatever older lines were noted meanwhile."""
    ledger = a_ledger()
    observer = observing(profiles, ledger)
    for lines in noted:
        observer = observing(profiles, ledger) if lines is RESTART else observer
        await observer.note([seen(*line) for line in lines])
    assert (await names(profiles))[1] == "阿棠"


async def test_a_name_of_before_an_erasure_hides_none_of_after_it(profiles: Refusing) -> None:
    """A name that was refused because its person was erased since is recorded when the person speaks again."""
    ledger = a_ledger()
    observer = observing(profiles, ledger)
    await ledger.eraser.forget_person("2000001", NOON + timedelta(minutes=1), str)
    await observer.note([seen("海棠")])
    assert not await ledger.names.names_of(["2000001"])
    await observer.note([seen("海棠", 2)])
    assert await ledger.names.names_of(["2000001"]) == ["海棠"]


async def test_who_notes_a_name_that_is_being_written_waits_for_it(profiles: Refusing) -> None:
    """Whoever reads names after noting them finds those that another note was writing: a job knows its speakers."""
    ledger, may_write = a_ledger(), asyncio.Event()

    class Waiting:
        async def note_all(self, aliases: Any) -> Any:
            await may_write.wait()
            return await ledger.names.note_all(aliases)

    observer = observing(profiles, ledger)
    observer.names = cast("Any", Waiting())
    noting = [asyncio.create_task(observer.note([seen("海棠")])) for _ in range(2)]
    done, _ = await asyncio.wait(noting, timeout=0.1)
    assert not done
    may_write.set()
    await asyncio.gather(*noting)
    assert await ledger.names.names_of(["2000001"]) == ["海棠"]
