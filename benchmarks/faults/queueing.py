"""F8, F10, F21 and F32: files dropped into the queue, a second owner, a flood, and the behaviour of Windows."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.disk import TRIES, Disk
from cognitive_memory_core.queue import format as codec

from ..fault_row import Counts, Extent, Row
from . import world
from .kills import child
from .steps import QUEUE_STEPS, Step

GOOD = 5  # ordinary jobs beside the unreadable ones
SECONDS_TO_DRAIN = 120
ROUNDS_AT_ONCE = 5
HUNDRED_MEGABYTES = 100 * 1024 * 1024
REFUSED = "DirectoryInUse"
WINERRORS = (5, 32, 33)
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]|[. ]$|^(?:CON|PRN|AUX|NUL|COM\d|LPT\d)(?:\.|$)', re.IGNORECASE)
HOSTILE_IDS = ("CON", "a:b", "A", "a", "x" * 128, "..\\up", "../up", "名", "nul", "com1.", " ", "a\tb", "tail.")
LONGEST_NAME = 120


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


def f8(extent: Extent) -> Row:
    """Drop files of every kind into pending and processing, before a start and while the memory runs."""
    kinds = unreadable()
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        stuck, lost, loops, refused = asyncio.run(_dropped(Path(folder) / "data", kinds))
        seconds = time.perf_counter() - started
    note = f"{len(kinds)} kinds, in pending, in processing and while it runs; hangs {stuck}, loops {loops}"
    note += f", turns refused meanwhile {refused}"
    return Row(3 * len(kinds), lost, loops, stuck, seconds, note)


async def _dropped(data: Path, kinds: dict[str, bytes | None]) -> tuple[int, int, int, int]:
    for number, content in enumerate(kinds.values()):
        _drop(data / "queues" / "pending" / f"{number:016d}-before{number}.0.json", content)
        _drop(data / "queues" / "processing" / f"{number:016d}-held{number}.1.json", content)
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        for number, content in enumerate(kinds.values()):
            _drop(data / "queues" / "pending" / f"later{number}.json", content)
        refused = sum([await _refusals(memory, f"好{number}") for number in range(GOOD)])
        buried = await _all_buried(memory, 3 * len(kinds))
        is_done = await memory.drain(SECONDS_TO_DRAIN)
        failed = await memory.failed_jobs()
        events = await memory.events(core.Scene.operator(), limit=100)
    silent = sum(1 for job in failed if not job.error or "\n" in job.error)
    loops = sum(1 for job in failed if job.attempts > 2) + len(failed) - len({job.id for job in failed})
    hangs = int(not is_done) + int(not buried) + silent
    return hangs, GOOD - sum(1 for event in events if "第好" in event.text), loops, refused


async def _refusals(memory: core.CognitiveMemory, name: str) -> int:
    """Hand in a turn until it is accepted; return how often it was refused."""
    for refused in range(SECONDS_TO_DRAIN * 20):
        try:
            await memory.remember(_a_turn(name))
        except core.QueueFull:
            await asyncio.sleep(0.05)
        else:
            return refused
    return SECONDS_TO_DRAIN * 20


async def _all_buried(memory: core.CognitiveMemory, number: int) -> bool:
    deadline = time.monotonic() + SECONDS_TO_DRAIN
    while (await memory.status()).jobs.failed < number and time.monotonic() < deadline:  # noqa: ASYNC110  # no event
        await asyncio.sleep(0.1)
    return (await memory.status()).jobs.failed == number


def _drop(path: Path, content: bytes | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content or b"")
    if content is None:
        os.truncate(path, HUNDRED_MEGABYTES)
    then = time.time() - 60
    os.utime(path, (then, then))  # old enough not to be a copy in progress


def f10(extent: Extent) -> Row:
    """Open a directory that another process owns, repeatedly."""
    rounds = extent.of(20, 4)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        asyncio.run(world.prepared(data))
        with child("own", str(data)) as owner, ThreadPoolExecutor(ROUNDS_AT_ONCE) as pool:
            assert owner.stdout is not None
            assert owner.stdout.readline()
            before, started = _digest(data), time.perf_counter()
            said = list(pool.map(lambda _: _second_owner(data), range(rounds)))
            seconds, after = time.perf_counter() - started, _digest(data)
            owner.kill()
    refused = sum(1 for line in said if line.startswith(REFUSED) and "LOCALSTORE_USE_CWD=true" in line)
    note = f"refused {refused} of {rounds}, data {'untouched' if before == after else 'TOUCHED'}; seconds: all rounds"
    is_bad = refused < rounds or before != after
    return Row(rounds, 0, 0, 0, seconds, note, is_bad)


def _second_owner(data: Path) -> str:
    with child("own", str(data)) as second:
        return second.communicate(timeout=60)[0].replace("\n", " ")


def _digest(data: Path) -> dict[str, str]:
    files = sorted(path for path in data.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def f21(extent: Extent) -> Row:
    """Flood the queue: ten thousand jobs a minute, half of them in one group; in a separate process, for its RSS."""
    seconds = str(extent.minutes * 60)
    with tempfile.TemporaryDirectory() as folder, child("flood", str(Path(folder) / "data"), seconds) as flooded:
        said = flooded.communicate(timeout=extent.minutes * 60 + 1500)[0]
    figures = json.loads(said)
    note = (
        f"{figures['minutes']:.1f} min at {figures['rate']:.0f} jobs/min: max pending {figures['max_pending']}, "
        f"enqueue p95 {figures['p95']:.1f} p99 {figures['p99']:.1f} ms, context p95 {figures['context_p95']:.1f} ms, "
        f"RSS {figures['rss']:.0f} MB, refused {figures['refused']}, counted in the status {figures['counted']}; burst "
        f"in one group: refused {figures['burst_refused']}, another group then {figures['other']}; no bound on a "
        "person's turns a minute; seconds: to drain"
    )
    counts = Counts(figures["lost"], figures["twice"], figures["stuck"])
    is_bad = figures["refused"] != figures["counted"] or figures["other"] != "accepted"
    return Row(figures["handed"], counts.lost, counts.twice, counts.stuck, figures["drained"], note, is_bad)


class BusyDisk(Disk):
    """A disk as on Windows: every operation but fsync first meets ``times`` sharing violations."""

    pause = 0.0

    def __init__(self, winerror: int, times: int) -> None:
        """Refuse each operation ``times`` times."""
        self.refused = 0
        self._winerror, self._times = winerror, times

    def act(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Refuse inside the call, as the system does."""
        left = self._times if operation not in ("fsync", "close") else 0

        def busy(*inner: Any, **named: Any) -> Any:
            nonlocal left
            if left:
                left, self.refused = left - 1, self.refused + 1
                error = PermissionError(errno.EACCES, "in use")
                error.winerror = self._winerror  # pyright: ignore[reportAttributeAccessIssue]  # Windows alone has it
                raise error
            return call(*inner, **named)

        return super().act(operation, busy, *args, **kwargs)


def f32(extent: Extent) -> Row:
    """Run every queue step on a disk where each file is in use briefly or permanently; check all file names."""
    total, refused, silent = Counts(), 0, 0
    for winerror in WINERRORS:
        for times in (1, TRIES - 1, TRIES):
            for step in QUEUE_STEPS.values():
                counts, number, said = asyncio.run(_walked(step, winerror, times))
                total, refused = total + counts, refused + number
                silent += said != (times == TRIES)
    bad_names = asyncio.run(_bad_names())
    note = f"sharing violations met {refused}, each tried at most {TRIES} times; bad names {bad_names}; wrong {silent}"
    return Row(refused, total.lost, total.twice, note=note, failed=bool(bad_names or silent))


async def _walked(step: Step, winerror: int, times: int) -> tuple[Counts, int, bool]:
    """Return the counts, the number of violations, and whether the step was refused."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        await step.lay(data)
        before = (await step.found(data)).tokens
        disk = BusyDisk(winerror, 0)
        stage = await step.ready(data, disk=disk)
        disk._times = times  # noqa: SLF001  # ours
        is_acked = True
        try:
            await step.act(stage)
        except core.UnavailableError:
            is_acked = False
        disk._times = 0  # noqa: SLF001  # ours
        verdict = step.judged(await step.found(data), before, is_acked=is_acked)
    return Counts(len(verdict.lost) + len(verdict.torn), len(verdict.twice)), disk.refused, not is_acked


async def _bad_names() -> int:
    """Count the file names, from hostile people, places and requests, that Windows would reject."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        async with core.CognitiveMemory.open(world.SETTINGS, data, background=False) as memory:
            for turn in _hostile_turns():
                await memory.remember(turn)
        names = _names_in(data)
    folded = {name.casefold() for name in names}
    bad = sum(1 for name in names if FORBIDDEN.search(name) or len(name) > LONGEST_NAME)
    return bad + len(names) - len(folded)


def _names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*")]


def _hostile_turns() -> Iterator[core.Turn]:
    for hostile in HOSTILE_IDS:
        for scene in (core.Scene.group("10001", "20001"), core.Scene.private("20001")):
            turn = core.Turn(scene, observations=["小雨喜欢茶"], request_id=hostile)
            yield turn
            try:
                yield replace(turn, scene=replace(scene, user_id=hostile))
            except core.BadArgument:
                continue


def _a_turn(name: str) -> core.Turn:
    scene = core.Scene.group("10001", "2000001", user_name="阿棠")
    return core.Turn(scene, memo=f"{name}：答过了", observations=[f"阿棠喜欢第{name}号茶"], request_id=name)
