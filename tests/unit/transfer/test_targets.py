"""Tests of where exports and backups may be written."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cognitive_memory_core import BadArgument, CognitiveMemory, Turn
from cognitive_memory_core.transfer.backup import outside
from tests.support.cancelling import cancelled_at
from tests.support.telling import READING, a_memory

LONGEST = 100  # number of awaits, more than an export or a backup of a small memory has


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[CognitiveMemory]:
    """Open a memory with one memo."""
    async with a_memory(tmp_path / "data") as memory:
        await memory.remember(Turn(READING, memo="聊了茶"))
        yield memory


def names(folder: Path) -> set[str]:
    """Return the names in a folder."""
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("place", ["ledger.db", "queues/pending/x.json", "new.jsonl", "queues/../x", "."])
async def test_no_export_into_the_data_directory(memory: CognitiveMemory, tmp_path: Path, place: str) -> None:
    """An export into the data directory is refused, whatever path is used for it."""
    data = tmp_path / "data"
    ledger = (data / "ledger.db").stat().st_ino
    (tmp_path / "link").symlink_to(data)
    for folder in (data, tmp_path / "link", tmp_path / "x" / ".." / "data"):
        with pytest.raises(BadArgument, match="数据目录"):
            await memory.export(folder / place)
    assert (data / "ledger.db").stat().st_ino == ledger
    assert not (data / "new.jsonl").exists()
    assert [memo.text for memo in await memory.memos(READING)] == ["聊了茶"]


@pytest.mark.skipif(os.name == "nt", reason="no pipes and devices there")
async def test_only_regular_files_are_replaced(memory: CognitiveMemory, tmp_path: Path) -> None:
    """An export to a link, a directory or a pipe is refused; a regular file is replaced."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("我的", "utf-8")
    (out / "link").symlink_to(out / "mine.txt")
    (out / "dangling").symlink_to(out / "nothing")
    (out / "folder").mkdir()
    os.mkfifo(out / "pipe")
    for path in (
        out / "link",
        out / "dangling",
        out / "folder",
        out / "pipe",
        Path("/dev/null"),
        out / "folder" / "..",
    ):
        with pytest.raises(BadArgument, match="普通文件"):
            await memory.export(path)
    assert names(out) == {"mine.txt", "link", "dangling", "folder", "pipe"}
    assert (out / "mine.txt").read_text("utf-8") == "我的"
    assert await memory.export(out / "mine.txt") == 1
    assert "聊了茶" in (out / "mine.txt").read_text("utf-8")
    assert names(out) == {"mine.txt", "link", "dangling", "folder", "pipe"}


async def test_a_refused_export_is_not_noted(memory: CognitiveMemory, tmp_path: Path) -> None:
    """An export that failed is not named as a copy when a person is forgotten."""
    with pytest.raises(BadArgument):
        await memory.export(tmp_path)
    assert (await memory.forget_user(READING, READING.user_id)).copies == ()


async def test_a_cancelled_export_leaves_the_earlier_file_whole(memory: CognitiveMemory, tmp_path: Path) -> None:
    """An export cancelled at any await leaves the old or the new file, and no temporary file."""
    out = tmp_path / "out"
    out.mkdir()
    path = out / "all.jsonl"
    for at in range(1, LONGEST):
        path.write_text("旧的", "utf-8")
        went_so_far = await cancelled_at(lambda: exported(memory, path), at)
        assert names(out) == {"all.jsonl"}
        assert path.read_text("utf-8") == "旧的" or path.read_text("utf-8").endswith("}\n")
        if not went_so_far:
            break


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_cancelled_backup_leaves_nothing_or_all(
    memory: CognitiveMemory, tmp_path: Path, is_there: bool
) -> None:
    """A backup cancelled at any await is complete or absent, and an empty target stays empty."""
    for at in range(1, LONGEST):
        out = tmp_path / f"out{at}"
        copy = out / "copy"
        (copy if is_there else out).mkdir(parents=True)
        went_so_far = await cancelled_at(lambda copy=copy: memory.backup(copy), at)  # type: ignore[misc]
        assert names(out) <= {"copy"}
        assert not copy.exists() or names(copy) in (set(), {"ledger.db", "queues", "end_summaries.json"})
        if not went_so_far:
            assert (copy / "ledger.db").exists()
            break


async def test_drafts_of_killed_processes_are_removed(memory: CognitiveMemory, tmp_path: Path) -> None:
    """Old temporary files of killed exports are removed by the next export, and other files are kept."""
    out = tmp_path / "out"
    out.mkdir()
    for name in (".cognitive-memory-0011.part", ".cognitive-memory-new.part", ".mine.part"):
        (out / name).write_text("x", "utf-8")
    os.utime(out / ".cognitive-memory-0011.part", (0, 0))
    await memory.export(out / "all.jsonl")
    assert names(out) == {"all.jsonl", ".cognitive-memory-new.part", ".mine.part"}


async def test_a_backup_does_not_follow_a_link(memory: CognitiveMemory, tmp_path: Path) -> None:
    """A backup to a link, or into the data directory through a link, is refused."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "inside").symlink_to(tmp_path / "data")
    with pytest.raises(BadArgument, match="新的或空的目录"):
        await memory.backup(tmp_path / "link")
    with pytest.raises(BadArgument, match="数据目录之外"):
        await memory.backup(tmp_path / "inside" / "copy")
    assert names(tmp_path / "empty") == set()


class MountedPath(type(Path())):
    """A path on a system on which "mounted" is another name of the data directory."""

    def samefile(self, other_path: Path) -> bool:
        """Return whether both are one directory."""
        return self.name == "mounted" or super().samefile(other_path)


def test_another_name_of_the_data_directory_is_recognised(tmp_path: Path) -> None:
    """A target under a mount of the data directory, whose path tells nothing, is refused."""
    for name in ("data", "mounted", "elsewhere"):
        (tmp_path / name).mkdir()
    with pytest.raises(BadArgument, match="mounted"):
        outside(MountedPath(tmp_path / "mounted" / "copy"), tmp_path / "data")
    assert outside(MountedPath(tmp_path / "elsewhere" / "copy"), tmp_path / "data").name == "copy"


async def exported(memory: CognitiveMemory, path: Path) -> None:
    """Export everything."""
    await memory.export(path)
