"""F1, F6 to F8, F10 and F32: processes killed or beside each other, and files that are no jobs or in use."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.disk import TRIES, Disk
from cognitive_memory_core.domain.event import Statement
from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.historian.rules import RuleHistorian
from cognitive_memory_core.queue import codec
from tests.support.waiting import until

from ..fault_row import Extent, Row, Seen, told
from . import world
from .child import answered, let_live, next_line, started
from .steps import QUEUE_STEPS, Found, Step, prepared, torn_files

PATIENCE = 60.0  # seconds
SIDE_BY_SIDE = 2  # directories processed at once

# F1: a pipeline that is killed at random moments.

EARLIEST, LATEST = 0.05, 1.5  # seconds from the start of a child to its kill
AGAIN = 8  # turns that a new child hands in again
HANDS = 3  # turns handed in at once
BACKLOG, ASKED_EVERY = 300, 20  # waiting jobs at which a child pauses; turns between two looks
SLOWEST = 0.03  # seconds between two turns of one task


def f1(extent: Extent) -> Row:
    """Kill the whole pipeline at random moments; compare what was acknowledged with what is stored."""
    cycles, seen = extent.of(500, 12), Seen()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        shares = [len(range(number, cycles, SIDE_BY_SIDE)) for number in range(SIDE_BY_SIDE)]
        work = [(Path(folder) / str(number), share, extent.seed + number) for number, share in enumerate(shares)]
        for life, (data, accepted) in pool.map(lambda given: _lived(*given), work):
            seen.update(life, accepted=len(accepted))
            seen.update(asyncio.run(world.counted_in(data, accepted)))
            seen.seconds = max(seen.seconds, life.seconds)
    return seen.row(cycles, "seconds: to reopen", failed=seen["torn"] or seen["at work"] * 2 < cycles)


def _lived(folder: Path, cycles: int, seed: int) -> tuple[Seen, tuple[Path, list[int]]]:
    """Let children hand in turns until their time is over; for most it starts after their first turn."""
    folder.mkdir()
    data, ledger, seen = folder / "data", world.AcceptedTurns(folder / "accepted"), Seen()
    dice = random.Random(seed)
    for cycle in range(cycles):
        seconds, must_open, before = dice.uniform(EARLIEST, LATEST), dice.random() < 0.9, len(ledger.accepted)
        with started(work, data, ledger.first(AGAIN), f"{seed}-{cycle}") as process:
            let_live(process, lambda line: ledger.note(int(line)), seconds, seen, PATIENCE if must_open else 0.0)
        seen.update({"at work": len(ledger.accepted) > before, "torn": len(torn_files(data))})
    return seen, (data, ledger.accepted)


async def work(data: str, first: int, seed: str) -> None:
    """Hand in turns while the historian works, and print the number of each accepted one."""
    dice = random.Random(seed)

    async def hand_in(number: int) -> None:
        while True:
            while number % ASKED_EVERY == 0 and (await memory.status()).jobs.pending > BACKLOG:  # noqa: ASYNC110  # no event
                await asyncio.sleep(0.1)
            if await memory.remember(world.turn(number)) is not None:
                print(number, flush=True)
            number += HANDS
            await asyncio.sleep(dice.uniform(0, SLOWEST))

    async with core.CognitiveMemory.open(world.SETTINGS, Path(data)) as memory:
        await asyncio.gather(*(hand_in(first + hand) for hand in range(HANDS)))


# F6 and F7: a crash with a job in hand, and a job that ends the process.

REST = 1.0  # seconds between a crash and the next start
DEATHS = 20  # number after which a deadly job counts as stuck
HARMLESS = 10
POISON_TEXT = "第毒号茶"
IMPATIENT = core.Settings(vector_store=world.SETTINGS.vector_store, historian=world.SETTINGS.historian)


def f6(extent: Extent) -> Row:
    """Crash with a claimed job; after a restart one second later it must be done."""
    rounds, seen = extent.of(20, 3), Seen()
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            with started(hold, folder) as process:
                assert next_line(process)
            time.sleep(REST)
            with seen.timed():
                done, failed = asyncio.run(_done(Path(folder), world.SETTINGS, "第甲号茶"))
            seen["stuck"] += not done or failed > 0
    return seen.row(rounds, f"a job in hand, killed, started again after {REST:g} s; seconds: from opening until done")


async def hold(data: str) -> None:
    """Claim a job and keep it."""
    queue = await world.opened_queue(Path(data))
    await queue.enqueue(world.a_job("甲"))
    assert await queue.claim() is not None
    print("held", flush=True)
    await asyncio.sleep(3600)


async def _done(data: Path, settings: core.Settings, part: str) -> tuple[int, int]:
    """Do what can be done; return how many events hold a part, and how many jobs failed."""
    async with core.CognitiveMemory.open(settings, data) as memory:
        await memory.drain(PATIENCE)
        events = await memory.events(core.Scene.operator(), limit=100)
        return sum(part in event.text for event in events), (await memory.status()).jobs.failed


def f7(extent: Extent) -> Row:
    """Process a job that ends the process each time; count the deaths until it is buried."""
    with tempfile.TemporaryDirectory() as folder:
        data, deaths, status = Path(folder) / "data", 0, 1
        harmless = [(f"好{number}", world.THERE if number % 2 else world.HERE) for number in range(HARMLESS)]
        asyncio.run(world.queued(data, ("毒", world.HERE), *harmless))
        while status and deaths < DEATHS:
            with started(poison, data) as process:
                status = process.wait(PATIENCE)
            deaths += status != 0
        done, failed = asyncio.run(_done(data, IMPATIENT, "第好"))
    most = core.Settings().queue.job_max_retries + 2
    note = f"quarantined after {deaths} deaths (at most {most}); others done {done} of {HARMLESS}; seconds: all of it"
    return Seen(lost=HARMLESS - done).row(deaths, note, failed=deaths > most or failed != 1)


async def poison(data: str) -> None:
    """Process all jobs; one of them ends the process."""
    harmless = RuleHistorian.statements

    async def deadly(self: RuleHistorian, work: core.Turn | Dialogue, job_context: JobContext) -> list[Statement]:
        if isinstance(work, core.Turn) and any(POISON_TEXT in said for said in work.observations):
            os._exit(9)
        return await harmless(self, work, job_context)

    RuleHistorian.statements = deadly
    async with core.CognitiveMemory.open(IMPATIENT, Path(data)) as memory:
        await memory.drain(PATIENCE)


# F8: files that are no jobs.

GOOD = 5  # ordinary jobs beside the unreadable ones
HUNDRED_MEGABYTES = 100 * 1024 * 1024


def unreadable() -> dict[str, bytes | None]:
    """Return the kinds of files that are no valid job; None stands for a file of a hundred megabytes."""
    whole = codec.encoded(world.a_job("整"))
    return {
        "empty": b"",
        "one byte": b"{",
        "blanks": b" \n" * 1000,
        "zeros": bytes(4096),
        "binary": bytes(range(256)) * 40,
        "truncated": whole[:-20],
        "two objects": whole + whole,
        "deep": b'{"a":' * 900 + b"1" + b"}" * 900,
        "very deep": b"[" * 100_000,
        "a list": b"[1, 2]",
        "a number": b"17",
        "an empty object": b"{}",
        "wrong types": b'{"scene": {"kind": "group", "group_id": "10001", "user_id": "1"}, "observations": {"a": 1}}',
        "a control character in an id": b'{"user_id": "a\\u0007b", "memo": "x"}',
        "a lone surrogate": b'{"user_id": "1", "memo": "\\ud800"}',
        "not UTF-8": b'{"user_id": "1", "memo": "\xff\xfe"}',
        "UTF-16": whole.decode().encode("utf-16"),
        "five thousand digits": b'{"user_id": ' + b"9" * 5000 + b"}",
        "from the future": whole.replace(b'"schema_version":1', b'"schema_version":9'),
        "HTML": b"<!doctype html><title>502</title>",
        "a hundred megabytes": None,
    }


async def f8(extent: Extent) -> Row:
    """Drop files of every kind into pending and processing, before a start and while the memory runs."""
    kinds, refused = unreadable(), 0
    with tempfile.TemporaryDirectory() as folder:
        pending, processing = (Path(folder) / "data" / "queues" / name for name in ("pending", "processing"))
        for number, content in enumerate(kinds.values()):
            _drop(pending / f"{number:016d}-before{number}.0.json", content)
            _drop(processing / f"{number:016d}-held{number}.1.json", content)
        async with core.CognitiveMemory.open(world.SETTINGS, Path(folder) / "data") as memory:
            for number, content in enumerate(kinds.values()):
                _drop(pending / f"later{number}.json", content)
            for number in range(GOOD):
                refused += await _refusals(memory, number)

            async def are_buried() -> bool:
                return (await memory.status()).jobs.failed == 3 * len(kinds)

            await until(are_buried, pause=0.1)
            counts = await world.finished(memory, range(GOOD))
            failed = await memory.failed_jobs()
    silent = sum(1 for job in failed if not job.error or "\n" in job.error)
    loops = sum(1 for job in failed if job.attempts > 2) + len(failed) - len({job.id for job in failed})
    counts.update(twice=loops, stuck=silent - len(failed))
    note = f"{len(kinds)} kinds, in pending, in processing and while it runs; {told(refused_meanwhile=refused)}"
    return counts.row(3 * len(kinds), note)


async def _refusals(memory: core.CognitiveMemory, number: int) -> int:
    """Hand in a turn until it is accepted; return how often it was refused."""
    refused = 0
    while True:
        try:
            await memory.remember(world.turn(number))
        except core.QueueFull:
            refused += 1
            await asyncio.sleep(0.05)
        else:
            return refused


def _drop(path: Path, content: bytes | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content or b"")
    if content is None:
        os.truncate(path, HUNDRED_MEGABYTES)
    then = time.time() - 60
    os.utime(path, (then, then))  # old enough not to be a copy in progress


# F10: a second owner.

AT_ONCE = 5


def f10(extent: Extent) -> Row:
    """Open a directory that another process owns, repeatedly."""
    rounds = extent.of(20, 4)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        asyncio.run(prepared(data))
        with started(own, data) as owner, ThreadPoolExecutor(AT_ONCE) as pool:
            assert next_line(owner)
            before = _digest(data)
            said = list(pool.map(lambda _: answered(own, data), range(rounds)))
            is_touched = _digest(data) != before
            owner.kill()
    refused = sum(line.startswith("DirectoryInUse") and "LOCALSTORE_USE_CWD=true" in line for line in said)
    note = f"refused {refused} of {rounds}, data {'TOUCHED' if is_touched else 'untouched'}; seconds: all rounds"
    return Seen().row(rounds, note, failed=refused < rounds or is_touched)


async def own(data: str) -> str:
    """Own a directory without working; if it is refused, return the reason."""
    impatient = world.SETTINGS.model_copy(update={"historian": core.HistorianSettings(shutdown_seconds=0)})
    try:
        async with core.CognitiveMemory.open(impatient, Path(data), background=False):
            print("owned", flush=True)
            await asyncio.sleep(3600)
    except core.UnavailableError as refused:
        return f"{type(refused).__name__} {refused}"
    return "owned"


def _digest(data: Path) -> dict[str, str]:
    files = sorted(path for path in data.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


# F32: files in use and file names, as on Windows.

WINERRORS = (5, 32, 33)
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[. ]$|^(?:CON|PRN|AUX|NUL|COM\d|LPT\d)(?:\.|$)', re.IGNORECASE)
HOSTILE_IDS = ("CON", "a:b", "A", "a", "x" * 128, "..\\up", "../up", "名", "nul", "com1.", " ", "a\tb", "tail.")
LONGEST_NAME = 120


class BusyDisk(Disk):
    """A disk as on Windows: every operation but fsync first meets ``times`` sharing violations."""

    pause = 0.0

    def __init__(self, winerror: int, times: int) -> None:
        """Refuse each operation ``times`` times."""
        self.refused = 0
        self._winerror, self.times = winerror, times

    def act(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Refuse inside the call, as the system does."""
        left = self.times if operation not in ("fsync", "close") else 0

        def busy(*inner: Any, **named: Any) -> Any:
            nonlocal left
            if left:
                left, self.refused = left - 1, self.refused + 1
                error = PermissionError(errno.EACCES, "in use")
                error.winerror = self._winerror  # pyright: ignore[reportAttributeAccessIssue]  # Windows alone has it
                raise error
            return call(*inner, **named)

        return super().act(operation, busy, *args, **kwargs)


async def f32(extent: Extent) -> Row:
    """Run every queue step on a disk where each file is in use briefly or permanently; check all file names."""
    seen = Seen()
    for winerror in WINERRORS:
        for times in (1, TRIES - 1, TRIES):
            for step in QUEUE_STEPS.values():
                seen["silent"] += await _is_refused(step, winerror, times, seen) != (times == TRIES)
    bad, met, silent = await _bad_names(), seen["met"], seen["silent"]
    note = f"sharing violations met {met}, each tried at most {TRIES} times; bad names {bad}; wrong {silent}"
    return seen.row(met, note, failed=bad or silent)


async def _is_refused(step: Step, winerror: int, times: int, seen: Seen) -> bool:
    """Do a step and count; return whether it was refused."""
    with tempfile.TemporaryDirectory() as folder:
        data, disk, is_acked = Path(folder), BusyDisk(winerror, 0), True
        await step.lay(data)
        before = await step.found(data)
        stage = await step.ready(data, disk=disk)
        disk.times = times
        try:
            await step.act(stage)
        except core.UnavailableError:
            is_acked = False
        disk.times = 0
        verdict = step.judged(await step.found(data), before, Found(), is_acked=is_acked)
    seen.update(lost=len(verdict.lost) + len(verdict.torn), twice=len(verdict.twice), met=disk.refused)
    return not is_acked


async def _bad_names() -> int:
    """Count the file names, from hostile people, places and requests, that Windows would reject."""
    async with world.a_memory(background=False) as (memory, data):
        for turn in _hostile_turns():
            await memory.remember(turn)
        names = [path.name for path in data.rglob("*")]
    bad = sum(1 for name in names if FORBIDDEN.search(name) or len(name) > LONGEST_NAME)
    return bad + len(names) - len({name.casefold() for name in names})


def _hostile_turns() -> Iterator[core.Turn]:
    for hostile in HOSTILE_IDS:
        for scene in (core.Scene.group("10001", "20001"), core.Scene.private("20001")):
            turn = core.Turn(scene, observations=["小雨喜欢茶"], request_id=hostile)
            yield turn
            with suppress(core.BadArgument):
                yield replace(turn, scene=replace(scene, user_id=hostile))
