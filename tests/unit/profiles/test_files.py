"""Tests of profile files that people, crashes and damage changed."""

# ruff: noqa: ASYNC240  # the files of a test are small

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import replace
from itertools import count
from pathlib import Path
from shutil import copytree

import pytest

from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.errors import LimitReached
from cognitive_memory_core.profiles.files import FileProfiles, Overtaken
from cognitive_memory_core.text.redaction import Redaction
from tests.support.builders import GROUP
from tests.support.clock import NOON
from tests.support.disk import Fault, FaultyDisk, FragileDisk
from tests.support.profiles import (
    ACTS,
    GROUP_KEY,
    KEEP,
    KINDS,
    MILI_THERE,
    SEEDED,
    TANG,
    TANG_THERE,
    Harm,
    Kept,
    a_profile,
    acted,
    harm,
    opened,
    past,
    seeded,
    written,
)
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE

HIDE = Redaction.of({"2000001"}, {"阿棠"})


@pytest.fixture
def profiles(tmp_path: Path) -> FileProfiles:
    """Return an empty store."""
    return opened(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of TANG's profile."""
    return tmp_path / "profiles" / "users" / "2000001.md"


def names(root: Path) -> list[str]:
    """Return the paths of every file and every empty folder."""
    return sorted(
        path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir() or not any(path.iterdir())
    )


async def test_files_lie_where_the_contract_says(profiles: FileProfiles, tmp_path: Path) -> None:
    """Users, groups, members, revisions and agents have separate folders, and unusual ids are hashed."""
    keys = [TANG, GROUP_KEY, TANG_THERE, ProfileKey.user("张三"), ProfileKey.member("10001", "7", "3889001")]
    for key in keys:
        await written(profiles, "一", "二", key=key)
    now = "20260304T040000.000000Z.md"
    assert names(tmp_path) == sorted(
        [
            "profiles/users/2000001.md", f"profiles/history/users/2000001/{now}",
            "profiles/groups/10001.md", f"profiles/history/groups/10001/{now}",
            "profiles/members/10001/2000001.md", f"profiles/history/members/10001/2000001/{now}",
            "profiles/users/x-1d841bc0ee98309cb7916670b7f0fdef.md",
            f"profiles/history/users/x-1d841bc0ee98309cb7916670b7f0fdef/{now}",
            "agents/3889001/profiles/members/10001/7.md", f"agents/3889001/profiles/history/members/10001/7/{now}",
        ]
    )  # fmt: skip
    assert not [path for path in tmp_path.rglob("*") if path.stat().st_mode & 0o077]
    assert await profiles.keys() == sorted(keys)


async def test_an_edit_by_hand_counts(profiles: FileProfiles, file: Path) -> None:
    """A manual edit is read, prevents a merge that did not see it, and becomes a revision."""
    standing = await written(profiles, "一")
    by_hand = file.read_text("utf-8").replace("一", "手写").replace("tags:", "# 注\nmood: 5\ntags:")
    file.write_text(by_hand, "utf-8")
    with pytest.raises(Overtaken):
        await profiles.write(replace(standing, summary="二"))
    edited = await profiles.find(TANG)
    assert edited is not None
    assert edited.summary == "手写"
    await profiles.write(replace(edited, summary="三"))
    assert (await past(profiles))[0] == "手写"
    [snapshot] = list(file.parent.parent.glob("history/users/2000001/*.md"))
    assert snapshot.read_text("utf-8") == by_hand
    await profiles.rename(TANG, "棠棠")
    assert "\nmood: 5\n" in file.read_text("utf-8")
    await profiles.restore(TANG, snapshot.stem, NOON)
    assert "\nmood: 5\n" in file.read_text("utf-8")


async def test_an_edit_at_the_last_moment_is_not_overwritten(tmp_path: Path, file: Path) -> None:
    """A file that changes while its successor is written is kept, and no draft remains."""
    standing = await written(opened(tmp_path), "一")
    by_hand = file.read_text("utf-8").replace("一", "手写")

    class Edited(FaultyDisk):
        def draft(self, path: Path, data: bytes) -> None:
            super().draft(path, data)
            if path.suffix == ".tmp":
                file.write_text(by_hand, "utf-8")

    with pytest.raises(Overtaken):
        await opened(tmp_path, Edited()).write(replace(standing, summary="二"))
    assert file.read_text("utf-8") == by_hand
    assert [path.name for path in file.parent.iterdir()] == ["2000001.md"]
    assert await past(opened(tmp_path)) == ["一"]
    edited = await opened(tmp_path).find(TANG)
    assert edited is not None
    await opened(tmp_path).write(replace(edited, summary="二"))
    assert await past(opened(tmp_path)) == ["手写", "一"]


DAMAGED = {
    "torn": lambda data: data[: len(data) // 3], "empty": lambda _: b"", "zeros": lambda data: b"\0" * len(data),
    "large": lambda data: data * 2_000, "another's": lambda data: data.replace(b"2000001", b"2000009"),
    "bomb": lambda data: data.replace(b"tags:", b"a: &a [x]\nb: *a\ntags:"),
    "utf-16": lambda data: data.decode().encode("utf-16"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
async def test_a_damaged_file_is_put_aside(
    tmp_path: Path, file: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A damaged file is kept aside, replaced by the newest readable revision, and logged once."""
    await written(opened(tmp_path), *"一二三四")
    newest = max(tmp_path.glob("profiles/history/users/2000001/*.md"))
    newest.write_bytes(b"---\n")
    bad = DAMAGED[damage](file.read_bytes())
    file.write_bytes(bad)
    with caplog.at_level(logging.WARNING):
        for profiles in (opened(tmp_path), opened(tmp_path)):
            assert (await profiles.find(TANG) or a_profile()).summary == "二"
    assert [record.message.partition("（")[0] for record in caplog.records] == ["侧写文件读不出来"]
    [aside] = list(file.parent.glob("2000001.damaged-*"))
    assert aside.read_bytes() == bad
    assert (await written(opened(tmp_path), "五")).summary == "五"
    assert await opened(tmp_path).keys() == [TANG]


@pytest.mark.parametrize("make", ["link", "folder", "pipe"])
async def test_what_is_no_file_is_not_followed(tmp_path: Path, file: Path, make: str) -> None:
    """A link, a folder or a pipe in place of the file is moved aside unread, and the link's target is kept."""
    await written(opened(tmp_path), "一", "二")
    outside = tmp_path / "outside.md"
    outside.write_bytes(file.read_bytes().replace("二".encode(), "外".encode()))
    file.unlink()
    {"link": lambda: file.symlink_to(outside), "folder": file.mkdir, "pipe": lambda: os.mkfifo(file)}[make]()
    assert await asyncio.wait_for(opened(tmp_path).find(TANG), PATIENCE) == (await opened(tmp_path).find(TANG))
    assert (await opened(tmp_path).find(TANG) or a_profile()).summary == "一"
    assert (await written(opened(tmp_path), "三")).summary == "三"
    assert "外" in outside.read_text("utf-8")
    assert len(list(file.parent.glob("2000001.damaged-*"))) == 1


async def test_a_profile_that_nobody_could_read_back_is_refused(profiles: FileProfiles) -> None:
    """A profile over the limits is refused, and the existing one is kept."""
    standing = await written(profiles, "一")
    with pytest.raises(LimitReached):
        await profiles.write(replace(standing, summary="好" * 300_000))
    assert (await profiles.find(TANG) or standing).version == standing.version


# F22: the disk fails, or the process ends, at every operation


async def whole(root: Path, step: str) -> tuple[Profile | None, list[str], Profile | None, Profile | None]:
    """Read everything back with a working disk and check that every file is a complete profile."""
    profiles = opened(root, days=2)
    found = [await profiles.find(key) for key in (TANG, GROUP_KEY, MILI_THERE)]
    for folder in root.glob("profiles/history/*/**/"):
        assert all(path.suffix in (".md", ".tmp") or path.is_dir() for path in folder.iterdir()), step
    for path in root.glob("profiles/history/users/2000001/*.md"):
        assert path.read_bytes().endswith(b"\n"), step
        assert len(path.read_bytes()) > 2_000, step
    return found[0], await past(profiles), found[1], found[2]


@pytest.mark.parametrize("step", ACTS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_write_is_whole_or_did_not_happen(tmp_path: Path, step: str, kind: str) -> None:
    """Whichever operation fails, a profile is the old or the new one with all its revisions."""
    code, always, late = KINDS[kind]
    await seeded(tmp_path / "seed")
    untouched, done = tmp_path / "untouched", tmp_path / "done"
    for root in (untouched, done):
        copytree(tmp_path / "seed", root)
    await acted(done, step, FaultyDisk())
    old, new = Kept.of(untouched), Kept.of(done)
    before, after = await whole(untouched, step), await whole(done, step)
    for point in count(1):
        root = tmp_path / f"copy{point}"
        if (point + [*KINDS].index(kind)) % sized(3, 1):
            continue
        copytree(tmp_path / "seed", root)
        disk = FaultyDisk()
        disk.arm(Fault(point, code, always, late))
        if not await acted(root, step, disk):
            break
        assert harm(Kept.of(root), old, new, is_done=False) == Harm()
        tang, history, group, mili = await whole(root, step)
        assert tang in (before[0], after[0])
        assert group in (before[2], after[2])
        assert mili == before[3] == after[3]
        assert [one for one in history if one in SEEDED] == history
        assert history[: KEEP - 1] in (before[1][: KEEP - 1], after[1][: KEEP - 1])
        assert history in (before[1], after[1], [*after[1], before[1][-1]])
        await ACTS[step](opened(root, days=2))
    assert point > 3


@pytest.mark.parametrize("step", ["write", "restore", "rename"])
async def test_a_write_outlives_a_power_cut(tmp_path: Path, step: str) -> None:
    """After power is lost the profile is the old or the new one, and after the write it is the new one."""
    await seeded(tmp_path / "seed")
    for point in count(1):
        root = tmp_path / f"copy{point}"
        copytree(tmp_path / "seed", root)
        before = (await opened(root).find(TANG), await past(opened(root)))
        disk = FragileDisk(root / "profiles" / "users", root / "profiles" / "history" / "users" / "2000001")
        disk.arm(Fault(point, None))
        has_struck = await acted(root, step, disk)
        disk.cut_power()
        tang, history, _, _ = await whole(root, step)
        assert tang is not None
        if not has_struck:
            assert tang != before[0]
            assert history[0] == (before[1][0] if step == "rename" else SEEDED[-1])
            break
        assert tang == before[0] or tang.updated_at > before[0].updated_at or tang.name == "棠棠"
        assert set(before[1][: KEEP - 1]) <= set(history)


# forgetting


@pytest.mark.parametrize(
    "written",
    ['mood: "\\u963f\\u68e0"', "mood: 阿\u200b棠", "mood: Wan\n  Derer", "mood: |\n  阿棠", "# 阿棠", "mood: 2000001"],
)
async def test_they_are_found_however_they_are_written(profiles: FileProfiles, file: Path, written: str) -> None:
    """The person is found in escapes, with invisible characters, over two lines and in comments."""
    await profiles.write(a_profile("静", MILI_THERE, name="米粒"))
    place = file.parents[1] / "members" / "10001" / "2000002.md"
    place.write_text(place.read_text("utf-8").replace("tags:", f"{written}\ntags:"), "utf-8")
    assert await profiles.erase_person("2000001", Redaction.of({"2000001"}, {"阿棠", "Wan Derer"})) == [MILI_THERE]
    text = place.read_text("utf-8")
    assert not any(word in text for word in ("阿棠", "u963f", "Derer", "2000001", "\u200b"))
    assert (await profiles.find(MILI_THERE) or a_profile()).summary == "静"


async def test_what_cannot_be_read_and_names_them_gives_way_to_a_revision(tmp_path: Path) -> None:
    """A damaged profile of another person that names them is removed, and the newest revision restored."""
    profiles = opened(tmp_path)
    await written(profiles, "好", "阿棠爱茶", key=GROUP_KEY)
    group = tmp_path / "profiles" / "groups" / "10001.md"
    group.write_text("阿棠", "utf-8")
    await profiles.erase_person("2000001", HIDE)
    assert (await profiles.find(GROUP_KEY) or a_profile()).summary == "好"
    assert [path.name for path in group.parent.iterdir()] == ["10001.md"]


async def test_a_forgotten_group_leaves_no_folder(tmp_path: Path) -> None:
    """The folders of a forgotten group's members are removed."""
    profiles = opened(tmp_path)
    for key in (GROUP_KEY, TANG_THERE, MILI_THERE, ProfileKey.member("10002", "2000001")):
        await written(profiles, "一", "二", key=key)
    await profiles.erase_place(GROUP.scope)
    assert {path.name for path in tmp_path.rglob("*") if "10001" in path.name} == set()
    assert await profiles.keys() == [ProfileKey.member("10002", "2000001")]


async def test_a_link_to_another_place_is_not_walked(tmp_path: Path) -> None:
    """A link to a place outside the directory is neither listed nor erased."""
    outside = opened(tmp_path / "outside")
    await written(outside, "一", "二", key=TANG_THERE)
    inside = opened(tmp_path / "inside")
    await written(inside, "一")
    (tmp_path / "inside" / "profiles" / "members").symlink_to(tmp_path / "outside" / "profiles" / "members")
    assert await inside.keys() == [TANG]
    await inside.erase_person("2000001", HIDE)
    assert await outside.keys() == [TANG_THERE]
