"""What the profile store guarantees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cognitive_memory_core.domain.profile import Revision
from cognitive_memory_core.errors import UnknownRevision
from cognitive_memory_core.profiles.files import FileProfiles, Overtaken
from cognitive_memory_core.text.redaction import Redaction
from tests.support.clock import NOON, SHANGHAI, FrozenClock
from tests.support.profiles import GROUP_KEY, KEEP, TANG, a_profile, past, written

Make = Callable[[int], FileProfiles]
HIDE = Redaction.of({"2000001"}, {"阿棠"})


@pytest.fixture
def make(tmp_path: Path, clock: FrozenClock) -> Make:
    """Return a function that makes a store with a number of kept revisions."""
    return lambda keep: FileProfiles(tmp_path / "data", keep, clock, SHANGHAI)


@pytest.fixture
def profiles(make: Make) -> FileProfiles:
    """Return a store that keeps five revisions."""
    return make(KEEP)


async def test_an_unknown_revision_is_refused(profiles: FileProfiles) -> None:
    """An unknown revision is refused, including path-like ids and ids of another profile."""
    await written(profiles, "一", "二", key=GROUP_KEY)
    await written(profiles, "一")
    theirs = (await profiles.revisions(GROUP_KEY))[0].id
    for revision_id in (theirs, "", "../../2000001", "20260304T040000.000000Z", "x" * 500, "\0"):
        with pytest.raises(UnknownRevision):
            await profiles.restore(TANG, revision_id, NOON)
    assert await past(profiles) == []


async def test_a_past_profile_from_elsewhere_takes_its_place(profiles: FileProfiles) -> None:
    """An imported revision is added once in its order, unless it is older than those kept."""
    await written(profiles, *"一二三")
    early = Revision("20250101T000000.000000Z", a_profile("早"))
    assert await profiles.add_revision(early)
    assert not await profiles.add_revision(early)
    assert await past(profiles) == ["二", "一", "早"]
    await written(profiles, *"四五六")
    assert await past(profiles) == list("五四三二一")
    assert not await profiles.add_revision(early)
    assert not await profiles.add_revision(Revision("../x", a_profile("外")))
    assert await profiles.add_revision(Revision(early.id, a_profile("群", GROUP_KEY)))
    assert await profiles.find(GROUP_KEY) is None
    assert (await profiles.restore(GROUP_KEY, early.id, NOON)).summary == "群"


async def test_a_writer_who_read_before_an_erasure_is_overtaken(profiles: FileProfiles) -> None:
    """A merge that read a profile before an erasure cannot write it back."""
    mine = await written(profiles, "一")
    group = await profiles.write(a_profile("阿棠(2000001) 是群主", GROUP_KEY))
    await profiles.erase_person("2000001", HIDE)
    for late in (mine, group):
        with pytest.raises(Overtaken):
            await profiles.write(replace(late, summary="阿棠又来了"))
