"""Tests that files that cannot be read for a moment do not count as broken or empty."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from cognitive_memory_core.domain.turn import Memo
from cognitive_memory_core.end_summaries import EndSummaries
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.builders import GROUP, a_job, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.disk import Fault, FaultyDisk
from tests.support.ledgers import a_ledger


def a_memo(number: int) -> Memo:
    """Return one of several memos."""
    return Memo(f"memo{number}", GROUP.scope, "聊了茶", NOON, GROUP.user_id)


def names_in(folder: Path) -> list[str]:
    """List the names in a folder."""
    return [file.name for file in folder.iterdir()]


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
@pytest.mark.parametrize("at", [1, 2])
async def test_a_second_copy_that_cannot_be_read_now_is_not_begun_anew(tmp_path: Path, at: int, code: int):
    """While the summary file cannot be read memos wait, and afterwards they are appended to it."""
    disk, path = FaultyDisk(), tmp_path / "end_summaries.json"
    mirror = EndSummaries(a_ledger().notes, path, FrozenClock(), disk=disk)
    await mirror.keep(a_memo(1))
    await mirror.flush()
    await mirror.keep(a_memo(2))
    disk.arm(Fault(at, code))  # opening, reading
    await mirror.flush()
    assert [row["id"] for row in json.loads(path.read_bytes())] == ["memo1"]
    disk.arm(None)
    await mirror.flush()
    assert [row["id"] for row in json.loads(path.read_bytes())] == ["memo1", "memo2"]
    assert names_in(tmp_path) == [path.name]


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
async def test_withdrawing_from_a_job_that_cannot_be_read_now_is_refused(tmp_path: Path, code: int):
    """Withdrawing from a job that cannot be read is refused, and works when repeated."""
    disk = FaultyDisk()
    queue = await FileQueue.open(tmp_path, QueueSettings(), FrozenClock(), disk=disk)
    await queue.enqueue(a_job(recent_messages=[a_message("说错了", id="m1")]))
    disk.arm(Fault(1, code))
    with pytest.raises(StorageRefused):
        await queue.withdraw(GROUP.scope, "m1")
    disk.arm(None)
    assert await queue.withdraw(GROUP.scope, "m1") == 1
    [path] = (tmp_path / "pending").iterdir()
    assert "说错了" not in path.read_text("utf-8")
    await queue.close()
