"""Tests of the supervisor with a test process that sleeps, dies, grows and prints on request."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from cognitive_memory_core import sentences
from cognitive_memory_core.errors import Busy, UnavailableError
from cognitive_memory_core.vectors.chroma.process import clean_environment
from cognitive_memory_core.vectors.chroma.protocol import Answer, Done, Failed, InUse, Start
from cognitive_memory_core.vectors.chroma.supervisor import Bounds, ProcessDied, Supervisor
from tests.support import fake_chroma
from tests.support.fake_chroma import asked
from tests.support.waiting import PATIENCE

BOUNDS = Bounds(writing=3.0, searching=1.0, hanging=1.5, queueing=0.1, closing=3.0, first_pause=1.0)
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
PID, PRINT = asked("pid"), asked("print")


@asynccontextmanager
async def supervised(bounds: Bounds = BOUNDS, start: Start | None = None) -> AsyncIterator[Supervisor]:
    """Return a supervisor that is closed at the end."""
    supervisor = Supervisor(start or Start("/nowhere"), bounds, COMMAND)
    try:
        yield supervisor
    finally:
        await supervisor.close()


async def pid_of(supervisor: Supervisor) -> int:
    """Return the process id from the process itself."""
    answer = await supervisor.write(PID)
    assert isinstance(answer, InUse)
    return answer.number or 0


async def until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds; the test's own time limit ends it otherwise."""
    while not is_so():  # noqa: ASYNC110  # another process tells no event of ours
        await asyncio.sleep(0.01)


async def test_the_process_lives_from_the_first_request_to_the_close() -> None:
    """The process starts with the first request, answers all requests, and ends when closing."""
    async with supervised() as supervisor:
        assert (supervisor.state, supervisor.pid) == ("off", None)
        number = await pid_of(supervisor)
        assert number == await pid_of(supervisor) == supervisor.pid != os.getpid()
        assert supervisor.state == "ready"
    assert supervisor.state == "off"
    assert not psutil.pid_exists(number)
    with pytest.raises(UnavailableError):
        await supervisor.write(PID)


async def test_the_process_sleeps_until_the_next_request() -> None:
    """A stopped process does not count as failed, and the next request starts another one."""
    async with supervised() as supervisor:
        await supervisor.sleep()
        assert (supervisor.state, supervisor.incarnation) == ("off", 0)
        first = await pid_of(supervisor)
        for _ in range(2):
            await supervisor.sleep()
            assert (supervisor.state, supervisor.pid, supervisor.last_error) == ("off", None, "")
        assert not psutil.pid_exists(first)
        assert await pid_of(supervisor) != first
        assert supervisor.incarnation == 2


async def test_a_request_in_hand_is_finished_before_the_sleep() -> None:
    """A running request is answered before the process stops for inactivity."""
    async with supervised() as supervisor:
        await pid_of(supervisor)
        work = asyncio.create_task(supervisor.write(asked("sleep", 200)))
        await until(lambda: supervisor.queueing_left() < BOUNDS.queueing)  # the request is running
        await supervisor.sleep()
        assert await work == Done()
        assert supervisor.state == "off"


async def test_a_process_that_hangs_is_put_to_sleep_as_well() -> None:
    """Stopping a process waits for a hanging request no longer than its time limit."""
    async with supervised() as supervisor:
        hung = asyncio.create_task(supervisor.write(asked("sleep", 60_000), 0.2))
        await until(lambda: supervisor.queueing_left() < BOUNDS.queueing)
        await supervisor.sleep()
        assert supervisor.pid is None
        with pytest.raises(ProcessDied):
            await hung


async def test_a_closed_supervisor_is_asleep_already() -> None:
    """Stopping a closed or closing supervisor raises nothing."""
    async with supervised() as supervisor:
        await pid_of(supervisor)
        await asyncio.gather(supervisor.close(), supervisor.sleep())
        await supervisor.sleep()
        assert supervisor.pid is None


async def test_what_a_library_prints_is_no_answer() -> None:
    """Text that a library prints does not disturb the frames."""
    async with supervised() as supervisor:
        assert await supervisor.write(PRINT) == Done()
        assert await pid_of(supervisor) == supervisor.pid


async def test_the_process_gets_none_of_the_bots_keys() -> None:
    """Only environment variables that Python needs are passed to the process."""
    assert "PYTEST_CURRENT_TEST" in os.environ  # set in this test's process and not needed by Python
    async with supervised() as supervisor:
        answer = await supervisor.write(asked("environment"))
    assert isinstance(answer, Failed)
    assert "PYTEST" not in answer.reason
    assert {"PYTHONPATH", "OPENBLAS_NUM_THREADS"} <= set(answer.reason.split())


def test_the_process_finds_the_modules_that_the_bot_finds() -> None:
    """The import path is passed in its order without the entry for the current directory."""
    one, two = str(Path("one").resolve()), str(Path("two").resolve())
    entries = clean_environment({"PATH": "p", "KEY": "k"}, ["", one, two])
    assert "KEY" not in entries
    assert entries["PATH"] == "p"
    found = entries["PYTHONPATH"].split(os.pathsep)
    assert found[:2] == [one, two]
    assert all(found)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another heap")
def test_nothing_that_was_freed_comes_into_what_is_written_next() -> None:
    """Freed memory is cleared, so that erased data cannot reach the blocks that Chroma writes."""
    environment = clean_environment(os.environ, sys.path)
    found = subprocess.run([sys.executable, "-c", REUSED], env=environment, capture_output=True, check=True, text=True)
    assert found.stdout.split() == ["0"] * len(SIZES)


async def test_death_fails_the_call_and_the_next_one_starts_anew() -> None:
    """A request whose process dies raises ProcessDied, and the first death causes no pause."""
    async with supervised() as supervisor:
        first = await pid_of(supervisor)
        with pytest.raises(ProcessDied) as died:
            await supervisor.write(asked("die", 7))
        assert not died.value.is_hung
        assert supervisor.state.startswith("failed: ")
        assert "7" in supervisor.last_error
        assert await pid_of(supervisor) != first
        assert (supervisor.state, supervisor.last_error) == ("ready", "")


async def test_a_death_between_calls_costs_no_call() -> None:
    """A process that died between requests is replaced before the next one."""
    async with supervised() as supervisor:
        first = await pid_of(supervisor)
        process = psutil.Process(first)
        process.kill()
        await until(lambda: process.status() == psutil.STATUS_ZOMBIE)
        assert await pid_of(supervisor) != first


async def test_repeated_death_is_answered_with_growing_pauses() -> None:
    """After repeated deaths the process is restarted with growing pauses and requests are refused meanwhile."""
    async with supervised() as supervisor:
        for _ in range(2):
            with pytest.raises(ProcessDied):
                await supervisor.write(asked("die", 1))
        with pytest.raises(UnavailableError) as first:
            await supervisor.write(PID)
        assert 0 < (first.value.retry_after or 0) <= BOUNDS.first_pause
        await asyncio.sleep(BOUNDS.first_pause)
        with pytest.raises(ProcessDied):
            await supervisor.write(asked("die", 1))
        with pytest.raises(UnavailableError) as second:
            await supervisor.write(PID)
        assert BOUNDS.first_pause < (second.value.retry_after or 0) <= 2 * BOUNDS.first_pause
        supervisor.reset_restart_pause()
        assert await pid_of(supervisor)


async def test_a_good_answer_ends_the_pauses() -> None:
    """A successful request resets the count of deaths."""
    async with supervised() as supervisor:
        for _ in range(3):
            with pytest.raises(ProcessDied):
                await supervisor.write(asked("die", 1))
            assert await pid_of(supervisor)


async def test_a_write_past_its_deadline_ends_the_process() -> None:
    """A write over its time limit ends the process and is reported as hanging."""
    async with supervised() as supervisor:
        first = await pid_of(supervisor)
        with pytest.raises(ProcessDied) as died:
            await supervisor.write(asked("sleep", 60_000), 0.2)
        assert died.value.is_hung
        assert not psutil.pid_exists(first)
        assert await pid_of(supervisor) != first


async def test_a_slow_search_fails_alone() -> None:
    """A slow search is refused to its caller, and the process continues."""
    async with supervised(replace(BOUNDS, searching=0.2)) as supervisor:
        first = await pid_of(supervisor)
        with pytest.raises(UnavailableError) as slow:
            await supervisor.search(asked("sleep", 600))
        assert not isinstance(slow.value, ProcessDied)
        assert await pid_of(supervisor) == first


async def test_a_search_that_hangs_ends_the_process_later() -> None:
    """A search that hangs too long ends the process."""
    async with supervised(replace(BOUNDS, searching=0.2, hanging=0.6)) as supervisor:
        first = await pid_of(supervisor)
        with pytest.raises(UnavailableError) as late:
            await supervisor.search(asked("sleep", 60_000))
        assert not isinstance(late.value, Busy)  # a missing answer does not count as busy
        assert await pid_of(supervisor) != first


async def test_a_search_does_not_wait_behind_long_work() -> None:
    """A search behind long work is refused soon, and at once if the work is known to be long."""
    async with supervised() as supervisor:
        await pid_of(supervisor)
        work = asyncio.create_task(supervisor.write(asked("sleep", 2_000)))
        await asyncio.sleep(0)
        for _ in range(30):  # each of which would take a second if it waited
            with pytest.raises(Busy) as refused:
                await supervisor.search(PID)
            assert str(refused.value) == sentences.storage_errors.VECTOR_STORE_BUSY
        assert not work.done()
        assert await work == Done()
        assert isinstance(await supervisor.search(PID), InUse)


async def test_writes_wait_their_turn() -> None:
    """Simultaneous writes are done one after another, and none is refused."""
    async with supervised() as supervisor:
        calls: list[Awaitable[Answer]] = [supervisor.write(asked("sleep", 20)) for _ in range(20)]
        assert await asyncio.gather(*calls) == [Done()] * 20


async def test_the_loop_goes_on_meanwhile() -> None:
    """Starting, waiting and ending do not block the event loop."""
    ticks: list[None] = []

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.005)
            ticks.append(None)

    ticking = asyncio.create_task(tick())
    async with supervised() as supervisor:
        await supervisor.write(asked("sleep", 300))
    ticking.cancel()
    assert len(ticks) > 5


async def test_who_stops_waiting_leaves_nothing_broken() -> None:
    """The request of a cancelled caller is finished or never sent, and other answers are not mixed up."""
    async with supervised() as supervisor:
        first = await pid_of(supervisor)
        calls = [asyncio.create_task(supervisor.write(asked("sleep", 100))) for _ in range(3)]
        await asyncio.sleep(0.05)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert await pid_of(supervisor) == first


async def test_a_process_that_grew_is_replaced_between_two_requests() -> None:
    """A process whose memory grew too much is replaced between two requests without a failed call."""
    async with supervised(replace(BOUNDS, headroom=50 * fake_chroma.MEGABYTE)) as supervisor:
        first = await pid_of(supervisor)
        await supervisor.write(asked("grow", 10_000))
        assert await pid_of(supervisor) == first  # its memory never settled
        await supervisor.write(asked("grow", 100))
        supervisor.record_normal_memory()
        await supervisor.write(asked("grow", 250))
        assert await pid_of(supervisor) == first
        assert await supervisor.write(asked("grow", 251)) == Done()
        assert not supervisor.is_running
        assert await pid_of(supervisor) != first


@pytest.mark.parametrize("why", ["locked", "missing", "failed"])
async def test_a_process_that_stays_off_says_why(why: str) -> None:
    """A locked folder, a missing chromadb and an unreachable server are reported and not retried at once."""
    async with supervised(start=Start("/nowhere", database=why)) as supervisor:
        with pytest.raises(UnavailableError) as told:
            await supervisor.write(PID)
        assert ("chromadb" in str(told.value)) == (why != "locked")
        assert supervisor.state == f"failed: {told.value}"
        assert supervisor.pid is None
        with pytest.raises(UnavailableError) as again:
            await supervisor.write(PID)
        assert (again.value.retry_after or 0) > BOUNDS.first_pause


async def test_a_command_that_cannot_be_started_is_unavailable() -> None:
    """A missing interpreter raises UnavailableError."""
    supervisor = Supervisor(Start("/nowhere"), BOUNDS, ("/nowhere/python",))
    with pytest.raises(UnavailableError):
        await supervisor.write(PID)
    await supervisor.close()


async def test_closing_in_the_middle_of_work_ends_it() -> None:
    """A request that does not finish during closing is told that the process ended."""
    async with supervised(replace(BOUNDS, closing=0.3)) as supervisor:
        process = psutil.Process(await pid_of(supervisor))
        work = asyncio.create_task(supervisor.write(asked("sleep", 60_000), 50.0))
        await asyncio.sleep(0.05)
    with pytest.raises(UnavailableError):
        await work
    assert not process.is_running()


async def test_closing_again_waits_for_nothing() -> None:
    """Closing repeatedly waits for the end each time."""
    async with supervised() as supervisor:
        await pid_of(supervisor)
        await asyncio.wait_for(asyncio.gather(supervisor.close(), supervisor.close()), PATIENCE)
        await asyncio.wait_for(supervisor.close(), PATIENCE)
        assert supervisor.pid is None


async def test_closing_in_the_middle_of_the_start_leaves_no_process() -> None:
    """Closing ends a process that is still starting."""
    async with supervised() as supervisor:
        starting = asyncio.create_task(supervisor.write(PID))
        await until(lambda: supervisor.pid is not None)
        process = psutil.Process(supervisor.pid)
        starting.cancel()
    assert not process.is_running()
