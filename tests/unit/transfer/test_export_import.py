"""Tests of profiles, their revisions and sharing in exports and imports."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cognitive_memory_core import transfer
from cognitive_memory_core.domain.consent import OptOut, Shared
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.profiles.files import FileProfiles
from tests.support.clock import NOON, FrozenClock
from tests.support.export_files import written
from tests.support.ledgers import Ledger, a_ledger, archived
from tests.support.profiles import GROUP_KEY, KEEP, MILI_THERE, TANG, TANG_THERE, TemporaryProfiles, a_profile

AGENTS = replace(TANG_THERE, agent="3889001")
KEYS = sorted([TANG, TANG_THERE, MILI_THERE, GROUP_KEY, AGENTS, ProfileKey.user("张三/李四")])


async def exported(ledger: Ledger, path: Path, profiles: FileProfiles | None = None, user_id: str | None = None) -> int:
    """Export a ledger and profiles that need no editing."""

    async def unedited(profile: Profile) -> Profile:
        return profile

    profiles = profiles or TemporaryProfiles(KEEP, FrozenClock())
    return await transfer.exported(ledger.archive, path, profiles=profiles, edited=unedited, user_id=user_id)


async def imported(ledger: Ledger, path: Path, profiles: FileProfiles | None = None) -> int:
    """Import a file into a ledger and profiles of which nobody was forgotten."""
    profiles = profiles or TemporaryProfiles(KEEP, FrozenClock())
    return await transfer.imported(ledger.archive, path, profiles=profiles, is_excluded=lambda _: False)


@pytest.fixture
def ledger() -> Ledger:
    """Return an empty ledger."""
    return a_ledger(clock=FrozenClock())


@pytest.fixture
async def profiles() -> TemporaryProfiles:
    """Return a store with three successive profiles of every key."""
    profiles = TemporaryProfiles(KEEP, FrozenClock())
    for key in KEYS:
        await stored_keys(profiles, "一", "二", "三\n---\nentity_id: 9", key=key)
    return profiles


async def stored_keys(profiles: FileProfiles, *summaries: str, key: ProfileKey = TANG) -> Profile:
    """Write successive profiles."""
    standing = await profiles.find(key)
    for summary in summaries:
        version = standing.version if standing else ""
        standing = await profiles.write(a_profile(summary, key, version=version))
    assert standing is not None
    return standing


async def test_what_stands_is_never_overwritten(ledger: Ledger, profiles: TemporaryProfiles, tmp_path: Path) -> None:
    """An import never overwrites an existing profile; unknown revisions are added up to the limit."""
    path = tmp_path / "out.jsonl"
    await exported(ledger, path, profiles=profiles)
    other = TemporaryProfiles(2, FrozenClock(NOON + timedelta(days=1)))
    standing = await stored_keys(other, "前", "今", key=GROUP_KEY)
    assert await imported(ledger, path, profiles=other) == 3 * (len(KEYS) - 1) + 2
    assert await other.find(GROUP_KEY) == standing
    assert [one.profile.summary for one in await other.revisions(GROUP_KEY)] == ["前", "二"]


GROUP_SCOPE = Scope("default", "group", "10001")


async def test_people_are_listed_by_the_names_that_lines_tell(ledger: Ledger, tmp_path: Path) -> None:
    """Events, lines of the log and profiles name people, but nobody who opted out, and nobody in a group."""
    at, place = NOON.isoformat(), {"request_type": "group", "group_id": "10001"}
    tang, left = ({"sender_id": one, "user_id": one} for one in ("2000001", "2000009"))
    event = {"type": "event", **place, "happened_at": at}
    line = {"type": "message", **place, "id": "m", "text": "早", "sent_at": at}
    lines: list[dict[str, object]] = [
        {"type": "consent", "user_id": "2000009", "at": at},
        {**event, **tang, "id": "1", "text": "养猫", "sender_name": "棠棠"},
        {**event, **tang, "id": "2", "text": "养狗", "sender_name": "阿棠", "happened_at": f"{at[:-6]}.5+08:00"},
        {**event, **left, "id": "3", "text": "走了", "sender_name": "走了"},
        {**line, "user_id": "2000002", "user_name": "小林"},
        {"type": "profile", "entity_type": "user", "user_id": "2000003", "name": "米粒", "updated_at": at},
    ]
    path = written(lines, tmp_path / "in.jsonl")
    assert await imported(ledger, path, profiles := TemporaryProfiles(KEEP, FrozenClock())) == 5
    assert await imported(ledger, path, profiles) == 0
    people = await ledger.listings.people("default", "", 10)
    assert {one.user_id: one.name for one in people} == {"2000001": "阿棠", "2000002": "小林", "2000003": "米粒"}
    assert not await ledger.names.people(GROUP_SCOPE)


async def test_the_wish_to_share_is_a_wish_of_its_own(ledger: Ledger, tmp_path: Path) -> None:
    """The choice to share a profile is imported unchanged and not mistaken for an opt-out."""
    path = tmp_path / "out.jsonl"
    await ledger.consent.set_sharing("2000001", shared=True, at=NOON)
    await ledger.consent.opt_out("2000002", NOON)
    assert await exported(ledger, path) == 2
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]
    assert [line for line in lines if "at" in line] == [
        {"type": "consent", "user_id": "2000002", "at": "2026-03-04T04:00:00Z"}
    ]
    other = a_ledger(clock=FrozenClock())
    assert await imported(other, path) == 2
    assert sorted(await archived(other), key=repr) == [OptOut("2000002", NOON), Shared("2000001", NOON)]
