"""Tests of the bot's side of Chroma's process, with a process that sleeps, dies and prints on request."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import psutil
import pytest

from cognitive_memory_core import sentences
from cognitive_memory_core.errors import BadArgument, Busy, UnavailableError
from cognitive_memory_core.vectors.chroma.location import IndexLocation
from cognitive_memory_core.vectors.chroma.process import Bounds, ChromaProcess, ProcessDied, clean_environment
from tests.support import fake_chroma

NOWHERE = IndexLocation("/nowhere")
BOUNDS = Bounds(writing=3.0, searching=1.0, hanging=1.5, queueing=0.1, closing=3.0)
COMMAND = (sys.executable, fake_chroma.__file__)
SIZES = (4_096, 100_000, 600_000)  # bytes: a page, and blocks of an index
REUSED = f"""
import ctypes
heap = ctypes.CDLL(None)
heap.malloc.restype, heap.malloc.argtypes, heap.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
for size in {SIZES}:
    held = [heap.malloc(size) for _ in range(4)]
    for block in held:
        ctypes.memset(block, 65, size)
    for block in held:
        heap.free(block)
    print(sum(ctypes.string_at(heap.malloc(size), size).count(b"AAAA") for _ in range(4)))
"""


@asynccontextmanager
async def running(bounds: Bounds = BOUNDS, location: IndexLocation = NOWHERE) -> AsyncIterator[ChromaProcess]:
    """Return a process that is closed at the end."""
    process = ChromaProcess(location, bounds, COMMAND)
    try:
        yield process
    finally:
        await process.close()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds; the test's own time limit ends it otherwise."""
    while not is_so():  # noqa: ASYNC110  # another process tells no event of ours
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("value", ["\ud800", 2**70, {1, 2}, float])
async def test_what_no_line_can_hold_is_not_sent(value: object) -> None:
    """A lone surrogate, a number too large, and foreign types are the caller's mistake, and cost nothing."""
    async with running() as process:
        pid = await process.write("pid")
        with pytest.raises(BadArgument):
            await process.write("print", value=value)
        assert await process.write("pid") == pid


async def test_the_process_lives_from_the_first_request_to_the_close() -> None:
    """The process starts with the first request, answers all, what a library prints too, and ends when closing."""
    async with running() as process:
        assert process.pid is None
        pid = await process.write("pid")
        assert await process.write("print") is None
        assert pid == await process.write("pid") == process.pid != os.getpid()
    assert not psutil.pid_exists(pid)
    with pytest.raises(UnavailableError):
        await process.write("pid")


async def test_the_process_sleeps_until_the_next_request() -> None:
    """A stopped process does not count as failed, and the next request starts another one."""
    async with running() as process:
        await process.sleep()
        assert process.pid is None
        first = await process.write("pid")
        for _ in range(2):
            await process.sleep()
            assert process.pid is None
        assert not psutil.pid_exists(first)
        assert await process.write("pid") != first
    await process.sleep()  # once it is closed, too


async def test_a_request_in_hand_is_finished_before_the_sleep() -> None:
    """A running request is answered before the process stops for inactivity; one that hangs ends at its limit."""
    async with running() as process:
        await process.write("pid")
        for work in (process.write("sleep", milliseconds=200), process.write("sleep", milliseconds=60_000, limit=0.2)):
            request = asyncio.create_task(work)
            await until(process._turn.locked)  # the request is running
            await process.sleep()
            assert process.pid is None
            (end,) = await asyncio.gather(request, return_exceptions=True)
            assert end is None or isinstance(end, ProcessDied)


async def test_the_process_gets_none_of_the_bots_keys() -> None:
    """Only environment variables that Python needs are passed to the process."""
    assert "PYTEST_CURRENT_TEST" in os.environ  # set in this test's process and not needed by Python
    async with running() as process:
        names = await process.write("environment")
    assert not [name for name in names if "PYTEST" in name]
    assert {"PYTHONPATH", "OPENBLAS_NUM_THREADS"} <= set(names)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another heap")
def test_nothing_that_was_freed_comes_into_what_is_written_next() -> None:
    """Freed memory is cleared, so that erased data cannot reach the blocks that Chroma writes."""
    environment = clean_environment(os.environ, sys.path)
    found = subprocess.run([sys.executable, "-c", REUSED], env=environment, capture_output=True, check=True, text=True)
    assert found.stdout.split() == ["0"] * len(SIZES)


@pytest.mark.parametrize(
    ("way", "asked"), [("die", {"status": 7}), ("sleep", {"milliseconds": 60_000, "limit": 0.2})], ids=["dies", "hangs"]
)
async def test_a_lost_process_fails_the_call_and_the_next_one_starts_anew(way: str, asked: dict[str, Any]) -> None:
    """A write whose process dies, or is ended as hanging at its limit, raises ProcessDied; the next starts another."""
    async with running() as process:
        first = await process.write("pid")
        with pytest.raises(ProcessDied) as died:
            await process.write(way, **asked)
        assert died.value.is_hung is (way == "sleep")
        assert died.value.is_hung or "7" in str(died.value)
        assert not psutil.pid_exists(first)
        assert await process.write("pid") != first


async def test_a_slow_search_fails_alone() -> None:
    """A slow search is refused to its caller, and the process continues."""
    async with running(replace(BOUNDS, searching=0.2)) as process:
        first = await process.write("pid")
        with pytest.raises(UnavailableError) as slow:
            await process.search("sleep", milliseconds=600)
        assert not isinstance(slow.value, ProcessDied)
        assert await process.write("pid") == first


async def test_a_search_that_hangs_ends_the_process_later() -> None:
    """A search that hangs too long ends the process."""
    async with running(replace(BOUNDS, searching=0.2, hanging=0.6)) as process:
        first = await process.write("pid")
        with pytest.raises(UnavailableError) as late:
            await process.search("sleep", milliseconds=60_000)
        assert not isinstance(late.value, Busy)  # a missing answer does not count as busy
        assert await process.write("pid") != first


async def test_a_search_does_not_wait_behind_long_work() -> None:
    """A search behind long work is refused soon."""
    async with running() as process:
        await process.write("pid")
        work = asyncio.create_task(process.write("sleep", milliseconds=2_000))
        await asyncio.sleep(0)
        for _ in range(3):
            with pytest.raises(Busy) as refused:
                await process.search("pid")
            assert str(refused.value) == sentences.storage_errors.VECTOR_STORE_BUSY
        assert not work.done()
        assert await work is None
        assert await process.search("pid") == process.pid


async def test_who_stops_waiting_leaves_nothing_broken() -> None:
    """The request of a cancelled caller is finished or never sent, and other answers are not mixed up."""
    async with running() as process:
        first = await process.write("pid")
        calls = [asyncio.create_task(process.write("sleep", milliseconds=100)) for _ in range(3)]
        await asyncio.sleep(0.05)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert await process.write("pid") == first


@pytest.mark.parametrize("why", ["locked", "missing", "failed"])
async def test_a_process_that_stays_off_says_why(why: str) -> None:
    """A locked folder, a missing chromadb and an unreachable server are reported, and the process ends."""
    async with running(location=replace(NOWHERE, database=why)) as process:
        with pytest.raises(UnavailableError) as told:
            await process.write("pid")
        assert ("chromadb" in str(told.value)) == (why != "locked")
        assert process.pid is None


def test_the_token_is_not_shown() -> None:
    """The representation of a location does not contain the server's token."""
    assert "secret" not in repr(IndexLocation("/folder", token="secret"))
