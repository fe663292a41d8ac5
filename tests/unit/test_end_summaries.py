"""Tests of the copy of memos in end_summaries.json."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core.domain.notes import Memo
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.end_summaries import KEPT, EndSummaries
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.text.redaction import Redaction
from tests.support.builders import GROUP, PRIVATE
from tests.support.clock import NOON, FrozenClock
from tests.support.disk import Fault, FaultyDisk
from tests.support.ledgers import a_ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of the file, which does not exist yet."""
    return tmp_path / "end_summaries.json"


@pytest.fixture
def disk() -> FaultyDisk:
    """Return a disk that works until told otherwise."""
    return FaultyDisk()


@pytest.fixture
def mirror(path: Path, disk: FaultyDisk) -> EndSummaries:
    """Return the writer of an empty directory."""
    return EndSummaries(a_ledger().notes, path, FrozenClock(), disk=disk)


def a_memo(number: int = 1, text: str = "聊了茶", scope: Scope = GROUP.scope) -> Memo:
    """Return a memo with its own minute."""
    return Memo(f"memo{number}", scope, text, NOON + timedelta(minutes=number))


def lay(path: Path, content: str | bytes) -> None:
    """Write the file as another program does."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def mode_of(path: Path) -> int:
    """Return the permissions of a file."""
    return path.stat().st_mode & 0o777


def rows_of(path: Path) -> list[Any]:
    """Read the file as the older mode does."""
    return json.loads(path.read_text("utf-8"))


async def test_memos_are_written_as_the_older_mode_reads_them(mirror: EndSummaries, path: Path):
    """Each entry has summary, time, location and id, oldest first."""
    await mirror.keep(a_memo(1))
    await mirror.keep(a_memo(2, "聊了书", PRIVATE.scope))
    await mirror.flush()
    assert rows_of(path) == [
        {
            "summary": "聊了茶",
            "timestamp": "2026-03-04T12:01:00+08:00",
            "location": {"type": "group", "name": "10001"},
            "id": "memo1",
        },
        {
            "summary": "聊了书",
            "timestamp": "2026-03-04T12:02:00+08:00",
            "location": {"type": "private", "name": "2000001"},
            "id": "memo2",
        },
    ]
    assert mode_of(path) == 0o600


async def test_entries_of_the_older_mode_stay(mirror: EndSummaries, path: Path):
    """Entries of the older mode and unknown fields are kept."""
    old = ["很久以前", {"summary": "以前", "timestamp": "2026-01-01T00:00:00+08:00", "mood": "好"}, {"id": [1]}, 7]
    lay(path, json.dumps(old))
    await mirror.keep(a_memo())
    await mirror.flush()
    *others, newest = rows_of(path)
    assert sorted(map(str, others)) == sorted(map(str, old))
    assert newest["id"] == "memo1"


async def test_only_our_oldest_entries_go(mirror: EndSummaries, path: Path):
    """Of our entries the newest thousand stay; those of the older mode stay, however many they are."""
    old = [f"旧{number}" for number in range(KEPT + 500)]
    own = [{"summary": "x", "timestamp": "2026-01-01T00:00:00+08:00", "id": str(number)} for number in range(KEPT)]
    lay(path, json.dumps([*old, *own]))
    await mirror.keep(a_memo())
    await mirror.flush()
    rows = rows_of(path)
    assert rows[: len(old)] == old
    assert [row["id"] for row in rows[len(old) :]] == [*(row["id"] for row in own[1:]), "memo1"]


async def test_a_write_that_is_cancelled_loses_no_memo(mirror: EndSummaries, disk: FaultyDisk, path: Path):
    """A memo whose write is cancelled is written by the last flush."""
    disk.arm(Fault(1, errno.ENOSPC))
    await mirror.keep(a_memo())
    flushing = asyncio.create_task(mirror.flush())
    await asyncio.sleep(0)
    flushing.cancel()
    await asyncio.gather(flushing, return_exceptions=True)
    await mirror.flush()
    await mirror.flush()
    assert len(rows_of(path)) == 1


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"a": 1}', b"null", b"\xff\xfe", b"[" * 5000, b'["' + b"x" * 9_000_000]
)
async def test_a_corrupt_file_is_kept_aside(
    mirror: EndSummaries, path: Path, content: bytes, caplog: pytest.LogCaptureFixture
):
    """An unreadable file is kept under another name, and this is logged."""
    lay(path, content)
    await mirror.keep(a_memo())
    await mirror.flush()
    assert len(rows_of(path)) == 1
    [aside] = path.parent.glob("end_summaries.corrupt-*.json")
    assert aside.read_bytes() == content
    assert aside.name in caplog.text


async def test_a_failing_disk_is_no_error_and_loses_nothing(
    mirror: EndSummaries, disk: FaultyDisk, path: Path, caplog: pytest.LogCaptureFixture
):
    """A disk failure raises nothing, is logged once, and all memos are written later."""
    caplog.set_level(logging.WARNING)
    disk.arm(Fault(1, errno.ENOSPC, always=True))
    for number in range(3):
        await mirror.keep(a_memo(number))
        await mirror.flush()
    assert len(caplog.records) == 1
    disk.arm(None)
    await mirror.keep(a_memo(3))
    await mirror.flush()
    assert [row["id"] for row in rows_of(path)] == ["memo0", "memo1", "memo2", "memo3"]


@pytest.mark.parametrize("at", range(1, 16))
@pytest.mark.parametrize("late", [False, True])
async def test_the_file_is_never_torn(mirror: EndSummaries, disk: FaultyDisk, path: Path, at: int, late: bool):
    """Whichever operation fails, the file has the old or the new list, and the memo is written later."""
    lay(path, '["旧"]')
    disk.arm(Fault(at, errno.EIO, late=late))
    await mirror.keep(a_memo())
    await mirror.flush()
    disk.arm(None)
    left = [path, *path.parent.glob("end_summaries.corrupt-*.json")]
    assert any("旧" in json.dumps(rows_of(one), ensure_ascii=False) for one in left if one.exists())
    await mirror.flush()
    assert rows_of(path)[-1]["id"] == "memo1"
    assert not list(path.parent.glob("*.tmp"))


HIDE = Redaction.of({"2000001"}, {"阿棠"})


def told_of(path: Path) -> set[str]:
    """Return which words of the erased person are still on disk."""
    left = b"".join(one.read_bytes() for one in path.parent.iterdir())
    return {
        word
        for word in ("阿棠", "2000001", "悄悄话")
        if word.encode() in left or json.dumps(word)[1:-1].encode() in left
    }


async def test_an_erased_person_leaves_file_and_copies(mirror: EndSummaries, path: Path):
    """Memos of an erased person are removed by id and scope, before the ledger does it, and others hide their name."""
    rows = [
        "阿棠说过的",
        {"summary": "悄悄话", "location": {"type": "private", "name": "2000001"}},
        {"summary": "和别人说的", "location": {"type": "private", "name": "阿棠"}},
        {"summary": "悄悄话", "id": "memo1"},
        {"summary": "别人问起阿棠(2000001)", "id": "memo2", "location": {"type": "group", "name": "10001"}, "阿棠": 7},
    ]
    lay(path, json.dumps(rows))
    lay(path.with_name("end_summaries.before-7.json"), json.dumps(rows, ensure_ascii=False))
    lay(path.with_name("end_summaries.corrupt-7.json"), '["阿棠')
    lay(path.with_name("end_summaries.corrupt-8.json"), '["别人')
    lay(path.with_name("end_summaries.corrupt-9.json"), b"x" * 9_000_000 + "阿棠".encode())
    lay(path.with_name("end_summaries.before-9.json.tmp"), "阿棠")
    await mirror.keep(a_memo(1, "悄悄话"))
    place = Scope("another", "private", "2000001")
    assert await mirror.erase({"memo1"}, place, HIDE) == 4
    assert await mirror.erase({"memo1"}, place, HIDE) == 0
    assert told_of(path) == set()
    await mirror.flush()
    assert told_of(path) == set()
    of_a_namesake = {**rows[2], "location": {"type": "private", "name": "某位成员"}}
    left = ["某位成员说过的", of_a_namesake, {**rows[4], "summary": "别人问起某位成员", "某位成员": 7}]
    del left[2]["阿棠"]
    assert rows_of(path) == rows_of(path.with_name("end_summaries.before-7.json")) == left
    assert len(rows_of(path)) == len(left)
    assert not path.with_name("end_summaries.corrupt-7.json").exists()
    assert path.with_name("end_summaries.corrupt-8.json").exists()
    assert not path.with_name("end_summaries.corrupt-9.json").exists()


@pytest.mark.parametrize("at", range(1, 16))
async def test_an_erasure_that_the_disk_refuses_can_be_repeated(
    mirror: EndSummaries, disk: FaultyDisk, path: Path, at: int
):
    """A failed erasure is reported, leaves no partial file, and can be repeated."""
    rows = [{"summary": "阿棠来过", "id": "memo8"}, {"summary": "茶", "id": "memo9"}]
    lay(path, json.dumps(rows))
    lay(path.with_name("end_summaries.before-7.json"), json.dumps(rows))
    disk.arm(Fault(at, errno.EIO))
    with contextlib.suppress(StorageRefused):
        await mirror.erase((), PRIVATE.scope, HIDE)
    disk.arm(None)
    await mirror.erase((), PRIVATE.scope, HIDE)
    await mirror.flush()
    assert told_of(path) == set()
    assert [row["summary"] for row in rows_of(path)] == ["某位成员来过", "茶"]


async def test_an_erased_group_leaves_the_file(mirror: EndSummaries, path: Path):
    """Entries of an erased group are removed, and those of a private chat with the same id are kept."""
    other = {"summary": "书", "location": {"type": "private", "name": "10001"}, "id": "p"}
    lay(path, json.dumps([{"summary": "茶", "location": {"type": "group", "name": "10001"}}, other]))
    await mirror.keep(a_memo(2, scope=PRIVATE.scope))
    assert await mirror.erase((), GROUP.scope, str) == 1
    await mirror.flush()
    assert [row["id"] for row in rows_of(path)] == ["p", "memo2"]
