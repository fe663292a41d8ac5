"""README: when record_end returns, the turn is on disk."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from cognitive_memory_core import Turn
from tests.support.telling import READING, a_memory
from tests.support.waiting import PATIENCE


async def test_a_copy_of_the_disk_made_at_return_holds_the_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A data directory copied when ``remember`` returned gives the event of that turn, once, on a slow disk too."""
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (time.sleep(0.05), sync(file)))
    live, frozen = tmp_path / "live", tmp_path / "frozen"
    async with a_memory(live, background=False) as memory:
        job_id = await memory.remember(Turn(READING, memo="答应了米粒", observations=("读书会改到下午三点",)))
        assert job_id is not None
        shutil.copytree(live, frozen)
    async with a_memory(frozen) as memory:
        assert await memory.drain(PATIENCE)
        assert [event.text.count("下午三点") for event in await memory.events(READING)] == [1]
        assert [memo.text for memo in await memory.memos(READING)] == ["答应了米粒"]
