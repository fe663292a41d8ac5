"""Tests that files that cannot be read for a moment do not count as broken or empty."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.builders import GROUP, a_job, a_message
from tests.support.clock import FrozenClock
from tests.support.disk import Fault, FaultyDisk


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES])
async def test_withdrawing_from_a_job_that_cannot_be_read_now_is_refused(tmp_path: Path, code: int):
    """Withdrawing from a job that cannot be read is refused, and works when repeated."""
    disk = FaultyDisk()
    queue = await FileQueue(tmp_path, QueueSettings(), FrozenClock(), disk=disk).opened()
    await queue.enqueue(a_job(recent_messages=[a_message("说错了", id="m1")]))
    disk.arm(Fault(1, code))
    with pytest.raises(StorageRefused):
        await queue.withdraw(GROUP.scope, "m1")
    disk.arm(None)
    assert await queue.withdraw(GROUP.scope, "m1") == 1
    [path] = (tmp_path / "pending").iterdir()
    assert "说错了" not in path.read_text("utf-8")
    await queue.close()
