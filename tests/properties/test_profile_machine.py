"""The stored profile against a model: two writers, an admin, renames, rollbacks, and crashes at any operation."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cognitive_memory_core.domain.profile import Profile
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.profiles.files import FileProfiles, Overtaken
from tests.support.clock import SHANGHAI, FrozenClock
from tests.support.disk import Fault, FaultyDisk, Killed
from tests.support.profiles import TANG, a_profile
from tests.support.sizes import sized

KEEP = 3
WRITERS = st.sampled_from([0, 1])
CRASHES = st.integers(1, 40), st.sampled_from([None, 5, 28]), st.booleans()


class ProfileMachine(RuleBasedStateMachine):
    """The last written profile is stored, outdated writers are rejected, and revisions are in order."""

    def __init__(self) -> None:
        """Start with an empty folder."""
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.root = Path(tempfile.mkdtemp(prefix="profile-machine-"))
        self.clock = FrozenClock()
        self.open()
        self.seen: list[Profile | None] = [None, None]
        self.is_current = [True, True]
        self.standing: Profile | None = None
        self.past: list[Profile] = []
        self.words = 0

    def open(self) -> None:
        """Open the store as a new process does."""
        self.disk = FaultyDisk()
        self.profiles = FileProfiles(self.root, KEEP, self.clock, SHANGHAI, disk=self.disk)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end."""
        return self.loop.run_until_complete(coroutine)

    @property
    def file(self) -> Path:
        """Return the path of the profile file."""
        return self.root / "profiles" / "users" / "2000001.md"

    @rule(writer=WRITERS)
    def read(self, writer: int) -> None:
        """Let a writer read the profile."""
        self.seen[writer] = self.run(self.profiles.find(TANG))
        self.is_current[writer] = True

    @rule(writer=WRITERS)
    def write(self, writer: int) -> None:
        """Let a writer add a word to what it read; this succeeds only if nobody wrote since."""
        profile = self.grown(writer)
        if not self.is_current[writer]:
            with pytest.raises(Overtaken):
                self.run(self.profiles.write(profile))
            return
        kept = self.run(self.profiles.write(profile))
        assert kept == profile
        self.succeed(profile)
        self.seen[writer], self.is_current[writer] = kept, True

    @rule()
    def merge_at_once(self) -> None:
        """Let both writers read, then both write: exactly one succeeds."""
        self.read(0)
        self.read(1)
        profiles_ = [self.grown(writer) for writer in (0, 1)]

        async def both() -> list[Any]:
            return await asyncio.gather(*map(self.profiles.write, profiles_), return_exceptions=True)

        answers = self.run(both())
        through = [answer for answer in answers if isinstance(answer, Profile)]
        assert len(through) == 1
        assert sum(isinstance(answer, Overtaken) for answer in answers) == 1
        self.succeed(through[0])

    @precondition(lambda self: self.standing)
    @rule()
    def edit(self) -> None:
        """Add a word by hand."""
        assert self.standing is not None
        word = self.word()
        listed = self.run(self.profiles.revisions(TANG))
        if len(list(self.root.glob("profiles/history/users/2000001/*.md"))) > len(listed):
            self.past = [self.standing, *self.past]  # already a revision after a crash or damage
        self.file.write_text(self.file.read_text("utf-8").rstrip("\n") + f" {word}\n", "utf-8")
        self.change(replace(self.standing, summary=f"{self.standing.summary} {word}"))

    @precondition(lambda self: self.standing)
    @rule()
    def rename(self) -> None:
        """Rename the profile."""
        assert self.standing is not None
        name = self.word()
        assert self.run(self.profiles.rename(TANG, name)) == replace(self.standing, name=name)
        self.change(replace(self.standing, name=name))

    @precondition(lambda self: self.past)
    @rule(which=st.integers(0, KEEP - 1))
    def restore(self, which: int) -> None:
        """Restore a revision under the current name."""
        revisions = self.run(self.profiles.revisions(TANG))
        chosen = revisions[which % len(revisions)]
        self.clock.advance(seconds=1)
        restored = self.run(self.profiles.restore(TANG, chosen.id, self.clock.now()))
        name = self.standing.name if self.standing else chosen.profile.name
        assert restored == replace(chosen.profile, name=name, updated_at=self.clock.now())
        self.succeed(restored)

    @rule(point=CRASHES[0], code=CRASHES[1], late=CRASHES[2])
    def break_off(self, point: int, code: int | None, late: bool) -> None:
        """Interrupt a write at some operation: the old or the new profile must be stored."""
        self.read(0)
        profile = self.grown(0)
        self.disk.arm(Fault(point, code, late=late))
        try:
            self.run(self.profiles.write(profile))
        except (Killed, StorageRefused):
            if self.disk.fault and self.disk.fault.code is None:
                self.open()
        self.disk.arm(None)
        if self.run(self.profiles.find(TANG)) == profile:
            self.succeed(profile)

    @rule(minutes=st.sampled_from([1, 60, -500_000]))
    def wait(self, minutes: int) -> None:
        """Advance the clock, or set it back."""
        self.clock.advance(minutes=minutes)

    @rule()
    def damage(self) -> None:
        """Truncate the file: the newest revision must replace it, or nothing."""
        if self.standing is None:
            return
        self.file.write_bytes(self.file.read_bytes()[:40])
        found = self.run(self.profiles.find(TANG))
        assert found in (self.standing, *(self.past[:1] or [None]))  # a crash may have left it as a revision
        self.standing = found
        self.past = [one.profile for one in self.run(self.profiles.revisions(TANG))]
        self.is_current = [_version(seen) == _version(found) for seen in self.seen]

    @invariant()
    def agrees(self) -> None:
        """The last written profile is stored, and earlier ones are revisions, newest first, each once."""
        found = self.run(self.profiles.find(TANG))
        assert found == self.standing
        revisions = self.run(self.profiles.revisions(TANG))
        past = [revision.profile for revision in revisions]
        assert past[: len(self.past)] == self.past[: len(past)]
        assert len(past) >= min(len(self.past), KEEP - 1)
        ids = [revision.id for revision in revisions]
        assert ids == sorted(set(ids), reverse=True)
        STEPS.append(1)

    def word(self) -> str:
        """Return an unused word."""
        self.words += 1
        return f"w{self.words}"

    def grown(self, writer: int) -> Profile:
        """Return what a writer read with one more word."""
        base = self.seen[writer] or a_profile("")
        at = base.updated_at + timedelta(minutes=1)
        return replace(base, summary=f"{base.summary} {self.word()}".strip(), updated_at=at)

    def succeed(self, profile: Profile) -> None:
        """Record a new profile, and the former one as a revision."""
        if self.standing is not None:
            self.past = [self.standing, *self.past][:KEEP]
        self.change(profile)

    def change(self, profile: Profile) -> None:
        """Record a new profile that no writer has read."""
        self.standing, self.is_current = profile, [False, False]

    def teardown(self) -> None:
        """Remove the folder."""
        self.loop.close()
        shutil.rmtree(self.root)


def _version(profile: Profile | None) -> str:
    return profile.version if profile else ""


STEPS: list[int] = []
TestProfileMachine = ProfileMachine.TestCase
TestProfileMachine.settings = settings(
    max_examples=sized(20, 150), stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
