"""Tests of backups, which are directories that a memory can open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timezone
from pathlib import Path

import pytest

from cognitive_memory_core import BadArgument, CognitiveMemory, Message, StorageRefused, Turn
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from cognitive_memory_core.transfer import backed_up
from tests.support.builders import a_job
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.mirrors import NoMirror
from tests.support.telling import READING, a_memory, recalled, say


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[CognitiveMemory]:
    """Open a memory with one event and one message that was observed just before."""
    async with a_memory(tmp_path / "data") as memory:
        await memory.remember(Turn(READING, memo="聊了茶"))
        await say(memory, READING, "我喜欢喝乌龙茶")
        await memory.observe(Message("m1", READING, "刚说的", datetime.now(timezone.utc)))
        yield memory


def names(folder: Path) -> set[str]:
    """Return the paths of all files in a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def open_to_others(folder: Path) -> set[str]:
    """Return the files and folders that other users may read."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.stat().st_mode & 0o077}


async def test_everything_of_the_contract_is_in_it(memory: CognitiveMemory, tmp_path: Path) -> None:
    """The ledger, jobs and every small file are copied; locks, indexes and incomplete files are not."""
    data, copy = tmp_path / "data", tmp_path / "deep" / "copy"
    small = {
        "announced.json",
        "considering.json",
        "departed.json",
        "evolution_schedule.json",
        "fonts/a.ttf",
        "overrides.json",
        "profiles/users/1.md",
        "profiles/users/3.damaged-20260222T103000.000000Z",
        "profiles/history/users/1/20260222T103000.123456Z.md",
        "agents/a/profiles/history/groups/1/20260222T103000.123456Z.md",
        "prompts/triage.md",
        "agents/a/profiles/users/1.md",
    }
    for name in (*small, "profiles/users/2.md.tmp", "chromadb/current", "somebody.txt"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(name, "utf-8")
    await memory.backup(copy)
    made = {"ledger.db", "end_summaries.json", "profiles/members/618203471/2156083317.md"}
    assert names(copy) == {*small, *made}
    assert open_to_others(copy) == set()
    assert {(copy / name).read_text("utf-8") for name in small} == small
    async with a_memory(copy) as restored:
        assert "乌龙茶" in await recalled(restored, READING, "乌龙茶")
        assert [message.text for message in await restored.recent_messages(READING)] == ["刚说的"]


async def test_nothing_is_overwritten(memory: CognitiveMemory, tmp_path: Path) -> None:
    """A backup to a directory that is not empty, or to a file, is refused; an empty directory is accepted."""
    (tmp_path / "full").mkdir()
    for name in ("full/mine.txt", "file"):
        (tmp_path / name).write_text("我的", "utf-8")
    for name in ("full", "file", "file/below"):
        with pytest.raises(BadArgument, match="新的或空的目录"):
            await memory.backup(tmp_path / name)
    assert names(tmp_path / "full") == {"mine.txt"}
    assert (tmp_path / "file").read_text("utf-8") == "我的"
    (tmp_path / "empty").mkdir()
    await memory.backup(tmp_path / "empty")
    assert "ledger.db" in names(tmp_path / "empty")


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_half_made_backup_is_removed(tmp_path: Path, is_there: bool) -> None:
    """If one part cannot be copied, the others are removed and the target is as before."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    clock = FrozenClock()
    queue = await FileQueue(data / "queues", QueueSettings(), clock).opened()
    await queue.enqueue(a_job())
    if is_there:
        copy.mkdir()
    eraser = Refusing(a_ledger(clock=clock).eraser)
    with pytest.raises(StorageRefused):
        await backed_up(data, copy, queue=queue, eraser=eraser, memos=NoMirror(), at=NOON)  # type: ignore[arg-type]
    assert eraser.saw == {"queues"}
    assert copy.exists() is is_there
    assert not is_there or not list(copy.iterdir())
    await queue.close()


async def test_exports_and_backups_are_named_to_whoever_is_forgotten(memory: CognitiveMemory, tmp_path: Path) -> None:
    """Forgetting a person names the absolute paths of earlier exports and backups."""
    await memory.export(tmp_path / "old.jsonl")
    await memory.backup(tmp_path / "copy")
    forgotten = await memory.forget_user(READING, READING.user_id)
    assert {Path(path).relative_to(tmp_path).parts[0] for path in forgotten.copies} == {"old.jsonl", "copy"}


class Refusing:
    """An eraser whose disk is full when the ledger is copied."""

    def __init__(self, eraser: object) -> None:
        """Wrap an eraser."""
        self._eraser = eraser
        self.saw: set[str] = set()

    async def copy_to(self, path: Path, at: object, *, name: object = None) -> None:
        """Record the existing files and refuse."""
        self.saw = {one.name for one in path.parent.iterdir()}
        raise StorageRefused("满了")
