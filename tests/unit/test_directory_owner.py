"""Tests that one process owns a data directory, with real processes."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cognitive_memory_core.directory_owner import DirectoryOwner
from cognitive_memory_core.errors import DirectoryInUse

OTHER = """
import asyncio, os, sys
from pathlib import Path
sys.path.insert(0, os.environ["PROJECT"])
from cognitive_memory_core.directory_owner import DirectoryOwner
from cognitive_memory_core.errors import DirectoryInUse

async def main():
    owner = DirectoryOwner(Path(sys.argv[1]))
    try:
        await owner.acquire(float(sys.argv[2]))
    except DirectoryInUse as refused:
        print(f"refused {refused}", flush=True)
        return
    print("owner", flush=True)
    await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


def another_process(data_dir: Path, patience: float) -> subprocess.Popen[str]:
    """Start a process that acquires the directory and holds it until its input ends."""
    environment = {**os.environ, "PROJECT": str(Path(__file__).resolve().parents[2]), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", OTHER, str(data_dir), str(patience)]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )


def said(process: subprocess.Popen[str]) -> str:
    """Read the next line of a process."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


async def test_a_killed_owner_leaves_the_directory_free(tmp_path: Path):
    """The lock ends with its process, and a waiting process gets it."""
    with another_process(tmp_path, 0) as first:
        assert said(first) == "owner"
        owner = DirectoryOwner(tmp_path)
        with pytest.raises(DirectoryInUse):
            await owner.acquire(0)
        waiting = asyncio.create_task(owner.acquire(30))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        first.kill()
        await waiting
        first.communicate()
    owner.release()


async def test_waiting_does_not_block_the_loop(tmp_path: Path):
    """Waiting for a directory does not block the event loop and can be cancelled."""
    first, second = DirectoryOwner(tmp_path), DirectoryOwner(tmp_path)
    await first.acquire(0)
    waiting = asyncio.create_task(second.acquire(60))
    for _ in range(5):
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    first.release()
    third = DirectoryOwner(tmp_path)
    await third.acquire(5)
    third.release()


async def test_a_cancelled_attempt_owns_nothing(tmp_path: Path):
    """A lock acquired for a cancelled caller is released."""
    owner = DirectoryOwner(tmp_path)
    acquiring = asyncio.create_task(owner.acquire(0))
    await asyncio.sleep(0)
    acquiring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await acquiring
    other = DirectoryOwner(tmp_path)
    await other.acquire(5)
    other.release()
