"""Tests that a cancelled or failed opening or closing releases everything."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.settings.schema import HistorianSettings
from cognitive_memory_core.vectors.chroma.location import IndexLocation
from cognitive_memory_core.vectors.chroma.process import Bounds, ChromaProcess
from tests.support import fake_chroma
from tests.support.cancelling import cancelled_after, cancelled_at, left_over, until_nothing_is_left
from tests.support.sizes import sized

SETTINGS = core.Settings(historian=HistorianSettings(shutdown_seconds=1.0))
SCENE = core.Scene.private("2000001")
COMMAND = (sys.executable, fake_chroma.__file__)
LONGEST = 400  # number of awaits, far more than opening and closing have


async def lived(data_dir: Path, turns: list[str]) -> None:
    """Open a memory, remember one turn and close it; record the turn once it is accepted."""
    async with core.CognitiveMemory.open(SETTINGS, data_dir) as memory:
        memo = f"第 {len(turns)} 次"
        if await memory.remember(core.Turn(SCENE, memo=memo)):
            turns.append(memo)


async def lived_with_chroma(data_dir: Path) -> None:
    """Open a memory and let the Chroma process build an index."""
    async with core.CognitiveMemory.open(SETTINGS, data_dir) as memory:
        with suppress(core.UnavailableError):  # on a slow machine the process may exceed its time limit
            await memory.reindex()


async def opens_again(data_dir: Path) -> list[str]:
    """Open a memory and return its memos."""
    async with core.CognitiveMemory.open(SETTINGS, data_dir, background=False) as memory:
        return [memo.text for memo in await memory.memos(SCENE, 200)]


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.timeout(1800)  # seconds; twelve of processor time
async def test_cancellation_at_any_await_releases_everything(tmp_path: Path, more: int) -> None:
    """Cancelled at each of its awaits, once or several times, a memory releases everything."""
    turns: list[str] = []
    for at in range(1 + more, LONGEST, sized(4, 1)):  # usually at every fourth, others once than several times
        went_so_far = await cancelled_at(lambda: lived(tmp_path, turns), at, more)
        await until_nothing_is_left(tmp_path)
        if not went_so_far:
            break
    else:
        pytest.fail("a life of a memory is longer than was thought")
    assert set(turns) <= set(await opens_again(tmp_path))


async def test_cancelled_closing_ends_chromas_process(tmp_path: Path) -> None:
    """Wherever closing is cancelled, the Chroma process is ended and its lock released."""
    for at in range(1, LONGEST):
        process = ChromaProcess(IndexLocation(str(tmp_path)), Bounds(closing=3.0), COMMAND)
        await process.write("pid")
        went_so_far = await cancelled_at(process.close, at)
        await until_nothing_is_left(tmp_path)
        if not went_so_far:
            break


async def slept(process: ChromaProcess) -> None:
    """Start a process and end it for inactivity."""
    await process.write("pid")
    await process.sleep()


async def written(process: ChromaProcess) -> None:
    """Request the process number by a write."""
    with suppress(core.UnavailableError):
        await process.write("pid")


async def searched(process: ChromaProcess) -> None:
    """Request the process number by a search, which does not wait for a slow start."""
    with suppress(core.UnavailableError):
        await process.search("pid")


@pytest.mark.parametrize("use", [slept, written, searched])
async def test_a_cancelled_use_leaves_no_process(tmp_path: Path, use: Callable[[ChromaProcess], Any]) -> None:
    """A process whose request or sleep was cancelled is ended, at the latest when closing."""
    for at in range(1, 30):
        process = ChromaProcess(IndexLocation(str(tmp_path)), Bounds(closing=3.0), COMMAND)
        went_so_far = await cancelled_at(partial(use, process), at)
        await process.close()
        await until_nothing_is_left(tmp_path)
        if not went_so_far:
            break


@pytest.mark.timeout(sized(300, 3600))
async def test_cancellation_at_random_moments_leaves_nothing(tmp_path: Path) -> None:
    """Memories cancelled at random moments leave no child process, thread, lock or file handle."""
    dice = random.Random(27)
    turns: list[str] = []
    for _ in range(sized(4, 200)):
        life = lived_with_chroma(tmp_path) if dice.random() < 0.5 else lived(tmp_path, turns)
        await cancelled_after(life, dice.uniform(0, sized(2, 4)))
        await until_nothing_is_left(tmp_path)
    assert set(turns) <= set(await opens_again(tmp_path))


OBSTACLES = {"owner.lock": "folder", "ledger.db": "rubbish", "queues": "file", "queues/pending": "file"}


@pytest.mark.parametrize("name", OBSTACLES)
async def test_a_refused_opening_holds_nothing(tmp_path: Path, name: str) -> None:
    """If a wrong file prevents the opening, it is refused, everything is released, and later it works."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if OBSTACLES[name] == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"rubbish " * 2000)
    with pytest.raises(core.UnavailableError):
        await lived(tmp_path, [])
    assert left_over(tmp_path) == []
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink()
    turns: list[str] = []
    await lived(tmp_path, turns)
    assert await opens_again(tmp_path) == turns == ["第 0 次"]
