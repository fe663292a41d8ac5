"""Helpers for tests of profiles, and the store operations on which the fault table injects faults."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from cognitive_memory_core.disk import Disk
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.profiles.files import FileProfiles, Overtaken

from .clock import NOON, SHANGHAI, FrozenClock
from .disk import FaultyDisk, Killed

Act = Callable[[FileProfiles], Awaitable[object]]
KEEP = 5
TANG = ProfileKey.user("2000001")
TANG_THERE = ProfileKey.member("10001", "2000001")
GROUP_KEY = ProfileKey.group("10001")
MILI_THERE = ProfileKey.member("10001", "2000002")
_folder = TemporaryDirectory(prefix="profiles")  # one for each process of a test run


class TemporaryProfiles(FileProfiles):
    """Profiles in a folder of their own, which are not synced."""

    def __init__(self, keep: int = KEEP, clock: FrozenClock | None = None) -> None:
        """Start without profiles."""
        self.root = Path(mkdtemp(dir=_folder.name))
        super().__init__(self.root, keep, clock or FrozenClock(), SHANGHAI, disk=FaultyDisk())


def a_profile(summary: str = "阿棠喜欢乌龙茶。", key: ProfileKey = TANG, at: datetime = NOON, **fields: Any) -> Profile:
    """Return a profile that was not stored yet."""
    known: dict[str, Any] = {"name": "阿棠", "tags": ("茶", "编程"), "source_event_id": "abc123_0", **fields}
    return Profile(key, summary=summary, updated_at=at, **known)


def opened(root: Path, disk: Disk | None = None, *, days: int = 0) -> FileProfiles:
    """Open a store, some days after noon."""
    clock = FrozenClock(NOON + timedelta(days=days))
    return FileProfiles(root, KEEP, clock, SHANGHAI, disk=disk or FaultyDisk())


async def written(profiles: FileProfiles, *summaries: str, key: ProfileKey = TANG) -> Profile:
    """Write one profile version after the other."""
    standing = await profiles.find(key)
    for summary in summaries:
        base = standing or a_profile(key=key)
        standing = await profiles.write(
            replace(base, summary=summary, updated_at=base.updated_at + timedelta(minutes=1))
        )
    assert standing is not None
    return standing


async def past(profiles: FileProfiles, key: ProfileKey = TANG) -> list[str]:
    """Return the summaries of the revisions, newest first."""
    return [revision.profile.summary for revision in await profiles.revisions(key)]


# the operations of a store during which its disk fails or its process ends

ACTS: dict[str, Act] = {}


def act(step: Act) -> Act:
    """Register an operation of a store."""
    ACTS[step.__name__] = step
    return step


@act
async def write(profiles: FileProfiles) -> None:
    """Overwrite an existing profile."""
    standing = await profiles.find(TANG)
    assert standing is not None
    await profiles.write(replace(standing, summary="新的\n" * 500, updated_at=NOON + timedelta(days=1)))


@act
async def restore(profiles: FileProfiles) -> None:
    """Restore the oldest revision."""
    await profiles.restore(TANG, (await profiles.revisions(TANG))[-1].id, NOON + timedelta(days=1))


@act
async def rename(profiles: FileProfiles) -> None:
    """Rename."""
    await profiles.rename(TANG, "棠棠")


@act
async def first(profiles: FileProfiles) -> None:
    """Write a first profile."""
    standing = await profiles.find(GROUP_KEY)
    await profiles.write(standing or a_profile("新的", GROUP_KEY))


@act
async def mend(profiles: FileProfiles) -> None:
    """Set a damaged file aside."""
    await profiles.find(MILI_THERE)


DAMAGE = b"---\n"
SEEDED = [str(number) * 2_000 for number in range(1, KEEP + 3)]
KINDS = {
    "killed before": (None, False, False), "killed after": (None, False, True), "refused": (errno.EIO, False, False),
    "full": (errno.ENOSPC, True, False), "late": (errno.EIO, False, True),
}  # fmt: skip


async def seeded(root: Path) -> None:
    """Write profiles with the maximum of revisions, and a damaged one."""
    profiles = opened(root)
    await written(profiles, *SEEDED)
    await written(profiles, "甲", "乙", key=MILI_THERE)
    (root / "profiles" / "members" / "10001" / "2000002.md").write_bytes(DAMAGE)


async def acted(root: Path, step: str, disk: FaultyDisk) -> bool:
    """Run an operation on a failing disk; return whether the fault struck."""
    with contextlib.suppress(Killed, UnavailableError, Overtaken):
        await ACTS[step](opened(root, disk, days=1))
    return disk.has_struck


@dataclass(frozen=True)
class Kept:
    """The profile files on disk: current ones, revisions, and damaged ones set aside."""

    now: dict[str, bytes]
    past: dict[str, bytes]
    aside: list[bytes]

    @classmethod
    def of(cls, root: Path) -> Kept:
        """Read a data directory before a store repairs it."""
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.glob("profiles/**/*.md")}
        now = {path: data for path, data in files.items() if "/history/" not in path}
        aside = [path.read_bytes() for path in root.glob("profiles/**/*.damaged-*")]
        return cls(now, {path: data for path, data in files.items() if path not in now}, aside)


@dataclass(frozen=True)
class Harm:
    """Counts of torn profiles, of incomplete or missing revisions, and of profiles that are neither old nor new."""

    torn: int = 0
    unwhole: int = 0
    neither: int = 0

    def __add__(self, other: Harm) -> Harm:
        return Harm(self.torn + other.torn, self.unwhole + other.unwhole, self.neither + other.neither)


def harm(found: Kept, before: Kept, after: Kept, *, is_done: bool) -> Harm:
    """Compare the result of a step with the state before and with that of an undisturbed run.

    ``is_done`` says whether the step returned. If a profile is new or was set aside, its revisions must be complete.
    """
    changed = {path for path in after.now if after.now[path] != before.now.get(path)}
    new = {path for path in changed if found.now.get(path) == after.now[path]}
    torn = _strange(found.now, before.now, after.now)
    unwhole = _strange(found.past, before.past, after.past) | (after.past.keys() - found.past.keys() if new else set())
    gone = {path for path in before.past.keys() & after.past.keys() if path not in found.past}
    gone |= {path for path in before.now.keys() & after.now.keys() if path not in found.now}
    gone |= (changed - new) if is_done else set()
    is_damage_gone = DAMAGE in before.now.values() and DAMAGE not in [*found.now.values(), *found.aside]
    return Harm(len(torn), len(unwhole), len(gone - unwhole) + is_damage_gone)


def _strange(found: dict[str, bytes], before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {path for path, data in found.items() if data not in (before.get(path), after.get(path))}
