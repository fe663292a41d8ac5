"""Tests of a data directory that changes under a running memory, or that has lost its ledger."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.queue.job_queue import FileQueue
from tests.support.builders import a_job
from tests.support.clock import FrozenClock
from tests.support.telling import PATIENCE, READING, a_memory, recalled, say
from tests.support.waiting import until_not

MEMO = core.Turn(READING, memo="聊了茶")
TOLD = "我喜欢喝乌龙茶"


def removed(data: Path) -> None:
    """Remove the directory with its contents."""
    shutil.rmtree(data)


def renamed(data: Path) -> None:
    """Rename the directory."""
    data.rename(data.with_name("elsewhere"))


def replaced(data: Path) -> None:
    """Replace the directory by a copy, as a restore does."""
    data.rename(data.with_name("elsewhere"))
    shutil.copytree(data.with_name("elsewhere"), data)


def without_ledger(data: Path) -> None:
    """Remove the ledger only."""
    (data / "ledger.db").unlink()


def without_lock(data: Path) -> None:
    """Remove the lock file, so that another process could open the directory."""
    (data / "owner.lock").unlink()


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be removed or renamed there")
@pytest.mark.parametrize("befalls", [removed, renamed, replaced, without_ledger, without_lock])
async def test_nothing_is_accepted_after_the_directory_vanished(
    tmp_path: Path, befalls: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """After the directory is removed, renamed or replaced, no turn is accepted, and log and status report it."""
    data = tmp_path / "data"
    async with a_memory(data) as memory:
        assert await memory.remember(MEMO)
        befalls(data)
        for turn in (MEMO, core.Turn(READING, observations=(TOLD,))):
            with pytest.raises(core.StorageRefused, match="换掉"):
                await memory.remember(turn)
        with pytest.raises(core.StorageRefused, match="换掉"):
            await memory.pin(READING, "乌龙茶")
        status = await memory.status()
    assert "换掉" in status.last_error
    said = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(said) == 1
    assert str(data) in said[0].getMessage()
    assert befalls is not removed or not data.exists()


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be renamed there")
async def test_a_directory_that_comes_back_is_written_again(tmp_path: Path) -> None:
    """After the directory is moved back, turns are accepted again, and it still has those accepted before."""
    data = tmp_path / "data"
    async with a_memory(data) as memory:
        await memory.remember(core.Turn(READING, memo="之前"))
        renamed(data)
        with pytest.raises(core.StorageRefused):
            await memory.remember(MEMO)
        (tmp_path / "elsewhere").rename(data)
        await memory.remember(core.Turn(READING, memo="之后"))

        async def is_failing() -> bool:
            return bool((await memory.status()).last_error)

        await until_not(is_failing)  # a loop that failed meanwhile retries
    async with a_memory(data) as memory:
        assert [memo.text for memo in await memory.memos(READING)] == ["之前", "之后"]


async def lived(data: Path) -> None:
    """Let a memory learn something, so that it has a profile."""
    async with a_memory(data) as memory:
        await say(memory, READING, TOLD)


def lost(data: Path) -> None:
    """Remove the ledger and its companions."""
    for path in data.glob("ledger.db*"):
        path.unlink()


def emptied(data: Path) -> None:
    """Replace the ledger by an empty file, as some crashes do."""
    lost(data)
    (data / "ledger.db").touch()


def tableless(data: Path) -> None:
    """Replace the ledger by a database without tables."""
    lost(data)
    with closing(sqlite3.connect(data / "ledger.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


def names(data: Path) -> dict[str, int]:
    """Return the size of every file by its path."""
    kept = (path for path in data.rglob("*") if path.is_file() and path.name != "owner.lock")
    return {path.relative_to(data).as_posix(): path.stat().st_size for path in kept}


@pytest.mark.parametrize("befalls", [lost, emptied, tableless])
async def test_no_new_ledger_beside_what_an_older_one_left(tmp_path: Path, befalls: Callable[[Path], None]) -> None:
    """A directory with profiles but no ledger is refused unchanged, and the message names the backup."""
    data = tmp_path / "data"
    async with a_memory(data) as memory:
        await say(memory, READING, TOLD)
        await memory.backup(tmp_path / "copy")
    befalls(data)
    before = names(data)
    with pytest.raises(core.UnavailableError, match=r"ledger\.new") as refused:
        await lived(data)
    assert str(tmp_path / "copy" / "ledger.db") in str(refused.value)
    assert "profiles/" in str(refused.value)
    assert names(data) == before
    shutil.copy(tmp_path / "copy" / "ledger.db", data / "ledger.db")
    async with a_memory(data) as memory:
        assert "乌龙茶" in await recalled(memory, READING, "乌龙茶")


async def test_a_log_without_its_ledger_is_kept(tmp_path: Path) -> None:
    """A write-ahead log beside an empty ledger, which SQLite would remove, is kept."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "ledger.db").touch()
    (data / "ledger.db-wal").write_bytes(b"committed" * 1000)
    with pytest.raises(core.UnavailableError, match=r"ledger\.db-wal"):
        await lived(data)
    assert (data / "ledger.db-wal").read_bytes() == b"committed" * 1000
    (data / "ledger.new").touch()
    await lived(data)
    assert (data / "ledger.v0.db-wal").read_bytes() == b"committed" * 1000


@pytest.mark.parametrize("befalls", [lost, emptied, tableless])
async def test_a_new_ledger_is_begun_when_asked_for(tmp_path: Path, befalls: Callable[[Path], None]) -> None:
    """With ledger.new a new ledger is created once; profiles are kept and found, and pending jobs are done."""
    data = tmp_path / "data"
    await lived(data)
    befalls(data)
    (data / "ledger.new").touch()
    async with a_memory(data) as memory:
        key = ProfileKey.member(READING.group_id, READING.user_id)
        assert await memory.drain(PATIENCE)
        assert await memory.search_profiles(READING, "乌龙茶")
        assert await memory.get_profile(READING, "member", f"{key.group_id}/{key.user_id}")
        assert await memory.reindex() == 0
    assert not (data / "ledger.new").exists()
    lost(data)
    with pytest.raises(core.UnavailableError):
        await lived(data)


async def test_first_starts_are_not_refused(tmp_path: Path) -> None:
    """Files that may exist before the first ledger, such as memos, jobs and settings, do not prevent the start."""
    data = tmp_path / "data"
    for name, content in (("end_summaries.json", "[]"), ("overrides.json", "{}"), ("announced.json", "[]")):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(content, "utf-8")
    (data / "prompts").mkdir()
    (data / "chromadb").mkdir()
    queue = await FileQueue(data / "queues", core.QueueSettings(), FrozenClock()).opened()
    await queue.enqueue(a_job())
    await queue.close()
    (data / "ledger.db").touch()
    await lived(data)


async def test_a_first_start_can_be_killed_anywhere(tmp_path: Path) -> None:
    """A first start that was interrupted before the ledger has tables does not count as a lost ledger."""
    for at, begun in enumerate((lambda data: None, emptied, tableless)):
        data = tmp_path / str(at)
        data.mkdir()
        begun(data)
        await lived(data)
