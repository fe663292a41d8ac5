"""F25 to F27: wrong clocks; few file handles and little memory; SIGTERM, and a cancellation at every await."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from functools import partial
from itertools import cycle
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any, TypeVar

import cognitive_memory_core as core
from cognitive_memory_core.ports import Ask
from cognitive_memory_core.profiles.files import FileProfiles
from cognitive_memory_core.recall.ranking import weighed
from cognitive_memory_core.settings.schema import Decay
from tests.support.builders import an_event
from tests.support.cancelling import cancelled_at
from tests.support.clock import NOON, SHANGHAI, FrozenClock
from tests.support.export_files import written
from tests.support.profiles import KEEP, a_profile
from tests.support.waiting import PATIENCE

from ..fault_row import Extent, Row, Seen, told
from . import world
from .child import ChildFailed, answered, next_line, started

T = TypeVar("T")
DRAINING = 60.0  # seconds


def _line(number: int) -> core.Message:
    return core.Message(f"m{number}", world.HERE, f"第 {number} 句", world.NOON + timedelta(seconds=number % 60))


# F25.

JUMPS = {
    "back 1 h": NOON - timedelta(hours=1),
    "ahead 10 y": NOON + timedelta(days=3653),
    "1970": datetime(1970, 1, 1, tzinfo=timezone.utc),
}


def f25(extent: Extent) -> Row:
    """Jump by an injected clock, in a life and between two."""
    seen = Seen()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(extent.of(10, 1)):
            for name, to in JUMPS.items():
                for restarts in (False, True):
                    asyncio.run(jumped(Path(scratch, f"{number} {name} {restarts}"), to, seen, restarts=restarts))
    return seen.row(seen.pop("jumps"), told(broken_promises=len(seen.examples)), failed=seen.examples)


async def jumped(data: Path, to: datetime, seen: Seen, *, restarts: bool) -> None:
    """Work before and after one jump and compare everything that was handed in with what is there."""
    clock = FrozenClock()
    seen["jumps"] += 1
    await _before(data, clock, None if restarts else to)
    clock.instant = to
    queue = await world.opened_queue(data)
    await queue.recover()
    claimed: list[str] = []
    while (claim := await queue.claim()) is not None:
        claimed.append(getattr(claim.job.work, "memo", ""))
        await queue.requeue(claim, delay=3600, counted=False)
    await queue.close()
    async with core.CognitiveMemory.open(world.SETTINGS, data, background=False, clock=clock) as memory:
        await memory.remember(_of_noon(9))
        await memory.drain(DRAINING)
        await memory.context(world.HERE, "第 3 号茶")
        found = await world.finished(memory, (0, 1, 2, 3, 4, 9))
        seen.update(lost=found["lost"], twice=found["twice"])
        lines = [line.id for line in await memory.recent_messages(world.HERE)]
        failed = len(await memory.failed_jobs())
    is_held = await _stays_claimed(data / "claims", clock, to)
    decay = Decay(half_life_days=14.0, boost=0.2, floor=0.0)
    one = core.Candidate(an_event(happened_at=NOON), relevance=0.5)
    score = weighed([one], (), frozenset(), decay, to)[0].score
    kept, all_kept = await _revisions(data / "revisions", to), [str(2 * KEEP - back) for back in range(KEEP + 1)]
    promises = {
        f"claimed {claimed} at {to}": claimed == sorted(claimed),
        f"lines {lines}": lines == ["m0", "m1", "m2"],
        "the failed job was pruned": failed == 1,
        "a claimed job was taken for stale": is_held,
        f"score {score}": 0.5 <= score <= 0.5 * 1.2 + 1e-9,
        f"revisions {kept}": kept in (all_kept[:KEEP], all_kept[1:]),
    }
    seen.examples += [what for what, is_kept in promises.items() if not is_kept]


def _of_noon(number: int) -> core.Turn:
    return world.turn(number, world.HERE, happened_at=NOON)


async def _before(data: Path, clock: FrozenClock, to: datetime | None) -> None:
    """Hand in lines and turns, bury one job, and leave turns; with ``to`` the clock jumps before the last of them."""
    async with core.CognitiveMemory.open(world.SETTINGS, data, background=False, clock=clock) as memory:
        for number in range(3):
            await memory.observe(_line(number))
            await memory.remember(_of_noon(number))
        await memory.drain(DRAINING)
        await memory.remember(_of_noon(3))
        clock.instant = to or clock.instant
        await memory.remember(_of_noon(4))
    queue = await world.opened_queue(data)
    await queue.enqueue(world.a_job("坏", world.THERE))
    while (claim := await queue.claim()) is not None and claim.job.scope != world.THERE.scope:
        await queue.requeue(claim, delay=0, counted=False)
    assert claim is not None
    await queue.bury(claim, "坏了")
    await queue.close()


async def _stays_claimed(data: Path, clock: FrozenClock, to: datetime) -> bool:
    """Hold a job while the clock jumps: nobody may be given it as a stale one."""
    clock.instant = NOON
    queue = await world.opened_queue(data)
    await queue.enqueue(world.a_job("甲"))
    assert await queue.claim() is not None
    clock.instant = to
    second = await queue.claim()
    await queue.close()
    return second is None


async def _revisions(data: Path, to: datetime) -> list[str]:
    """Write more revisions than are kept, some after the jump; return those that stay, of which the newest should."""
    standing = a_profile(summary="0")
    for number in range(1, 2 * KEEP + 1):
        profiles = FileProfiles(data, KEEP, FrozenClock(NOON if number <= KEEP else to), SHANGHAI)
        standing = await profiles.write(replace(standing, summary=str(number)))
    profiles = FileProfiles(data, KEEP, FrozenClock(to), SHANGHAI)
    return [revision.profile.summary for revision in await profiles.revisions(standing.key)]


# F26.

HANDLES = (64, 32)
SPARE = 48 << 20  # bytes of address space that a short process gets beyond what it has
BATCH = 500
MEGABYTE = 1 << 20


def f26(extent: Extent) -> Row:
    """Take handles and memory away in processes of their own, give them back, and count what groups and events cost."""
    many, groups = extent.of(20_000, 500), (10, 100, extent.of(1_000, 200))
    with tempfile.TemporaryDirectory() as scratch:
        fews = [alone(few, Path(scratch, f"few{number}"), number) for number in HANDLES]
        shorts = alone(short, Path(scratch, "short"), SPARE)
        handles = [answered(talked, Path(scratch, f"groups{number}"), number) for number in groups]
        megabytes = answered(grown, Path(scratch, "events"), many)
    seen, lives = Seen(), [*fews, shorts]
    for name, ends in {"handles": fews, "address space": [shorts]}.items():
        for kind in ("accepted", "refused"):
            seen[f"{kind} without {name}"] = sum(one[kind] for one in ends)
    injected = seen.total()
    for one in lives:
        seen.update(lost=one["lost"], twice=one["twice"])
        seen.examples += one["crashes"]
    note = (
        f"file handles at {'/'.join(map(str, groups))} groups {'/'.join(map(str, handles))}; "
        f"{megabytes:.1f} MB per 10,000 events ({many} measured); raised otherwise {len(seen.examples)}"
    )
    return seen.row(injected, note, failed=seen.examples)


def alone(work: Callable[..., object], data: Path, size: int) -> dict[str, Any]:
    """Work in a process of its own; return what it told, or that it crashed."""
    try:
        return answered(work, data, size)
    except ChildFailed as crash:
        return {"accepted": 0, "refused": 0, "crashes": [str(crash)], "lost": 1, "twice": 0}


class Attempts:
    """Calls made while something is short: how many succeeded, were refused, or raised what no caller expects."""

    def __init__(self) -> None:
        """Start with none."""
        self.accepted: list[int] = []
        self.refused = 0
        self.crashes: list[str] = []

    async def make(self, name: str, work: Callable[[], Awaitable[object]], number: int | None = None) -> None:
        """Make one call; ``number`` is that of a turn."""
        ended = await world.tried(asyncio.wait_for(work(), 60))
        if ended == "accepted":
            self.accepted += [] if number is None else [number]
        elif ended == "refused":
            self.refused += 1
        else:
            self.crashes.append(f"{name}: {ended}"[:120])

    async def all(self, memory: core.CognitiveMemory, first: int, count: int) -> None:
        """Hand in turns, and read and write in every other way."""
        for number in range(first, first + count):
            await self.make("remember", lambda number=number: memory.remember(world.turn(number, world.HERE)), number)
        line = _line(first)
        await self.make("observe", lambda: memory.observe(line))
        await self.make("consider", lambda: memory.consider(world.HERE, [line]))
        await self.make("context", lambda: memory.context(world.HERE, "第 1 号茶"))
        await self.make("search", lambda: memory.search_events(world.HERE, "第 1 号茶"))
        await self.make("pin", lambda: memory.pin(world.HERE, f"置顶 {first}"))
        await self.make("status", memory.status)
        await self.make("drain", lambda: memory.drain(2))

    async def result(self, memory: core.CognitiveMemory) -> dict[str, Any]:
        """Hand in one turn more, now that nothing is short, and count what was accepted."""
        await memory.remember(world.turn(999, world.HERE))
        await memory.drain(DRAINING)
        await memory.revive()
        counts = await world.finished(memory, [*self.accepted, 999])
        told = {"accepted": len(self.accepted), "refused": self.refused, "crashes": self.crashes}
        return {**told, "lost": counts["lost"], "twice": counts["twice"]}


async def few(data: str, number: int) -> dict[str, Any]:
    """Work with few handles, then without any, then with enough."""
    attempts, hard = Attempts(), resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    enough = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (1024, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    try:
        async with core.CognitiveMemory.open(world.SETTINGS, Path(data)) as memory:
            await attempts.all(memory, 0, 5)
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))  # a handle that is closed now cannot be had again
            await attempts.all(memory, 5, 15)
            enough()
            return await attempts.result(memory)
    except core.CognitiveMemoryError:
        attempts.refused += 1
    enough()
    async with core.CognitiveMemory.open(world.SETTINGS, Path(data)) as memory:
        return await attempts.result(memory)


async def short(data: str, spare: int) -> dict[str, Any]:
    """Work with little address space left, most of which is then taken in large blocks, then with enough."""
    attempts, limits = Attempts(), resource.getrlimit(resource.RLIMIT_AS)
    async with core.CognitiveMemory.open(world.SETTINGS, Path(data)) as memory:
        await attempts.all(memory, 0, 3)
        resource.setrlimit(resource.RLIMIT_AS, (_bytes_of_memory(0) + spare, limits[1]))
        hoard: list[bytearray] = []
        with suppress(MemoryError):
            while True:
                hoard.append(bytearray(4 * MEGABYTE))
        await attempts.all(memory, 3, 15)
        del hoard
        resource.setrlimit(resource.RLIMIT_AS, limits)
        return await attempts.result(memory)


def _bytes_of_memory(field: int) -> int:
    """Return the process's address space (0), or what of it is resident (1)."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[field]) * resource.getpagesize()


async def talked(data: str, number: int) -> int:
    """Talk in many groups; return how many file handles are open."""
    async with core.CognitiveMemory.open(world.SETTINGS, Path(data)) as memory:
        for group in range(number):
            scene = core.Scene.group(str(10_000 + group), "2000001", user_name="阿棠")
            await memory.observe(core.Message(f"m{group}", scene, "花生过敏", world.NOON))
            await memory.context(scene, "花生")
        return await asyncio.to_thread(lambda: len(list(Path("/proc/self/fd").iterdir())))


async def grown(data: str, number: int) -> float:
    """Import events of fifty groups in batches; return how many megabytes 10,000 of them cost."""
    before, path, private = 0, Path(f"{data}.jsonl"), {"type": "event", "user_id": "2000001", "sender_id": "2000001"}
    same = {**private, "request_type": "group", "happened_at": world.NOON}
    async with core.CognitiveMemory.open(world.SETTINGS, Path(data)) as memory:
        for first in range(0, number, BATCH):
            texts = {f"e{one}": f"阿棠(2000001) 在第 {one} 天买了第 {one} 号茶" for one in range(first, first + BATCH)}
            groups = cycle(map(str, range(10_000, 10_050)))
            own = [{"id": name, "text": text, "group_id": next(groups)} for name, text in texts.items()]
            await asyncio.to_thread(written, [same | one for one in own], path)
            assert await memory.import_(path) == BATCH
            await memory.drain(DRAINING)
            before = before or _bytes_of_memory(1)
        return max(_bytes_of_memory(1) - before, 0) / MEGABYTE * 10_000 / max(number - BATCH, 1)


# F27.

SHUTDOWN = 3.0  # shutdown_seconds of the killed processes
JOBS = 8
MOST_AWAITS = 400
TERMINATED = world.SETTINGS.model_copy(update={"historian": core.HistorianSettings(shutdown_seconds=SHUTDOWN)})
IMPATIENT = world.SETTINGS.model_copy(update={"historian": core.HistorianSettings(shutdown_seconds=0)})
Operation = Callable[[core.CognitiveMemory, int], Coroutine[Any, Any, object]]


@dataclass
class Hanging:
    """A model that never answers; a stubborn one does not hear its cancellation either."""

    is_stubborn: bool = False

    async def ask(self, ask: Ask[T]) -> T:
        """Wait for ever."""
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not self.is_stubborn:
                    raise


def f27(extent: Extent) -> Row:
    """Terminate processes with jobs in hand; cancel every operation at each of its awaits."""
    seen = Seen()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(extent.of(10, 1)):
            for kind in ("deaf", "stubborn"):
                terminated(Path(scratch, f"{kind}{number}"), kind, seen)
        asyncio.run(cancelled_everywhere(Path(scratch, "cancelled"), seen, extent.of(MOST_AWAITS, 8)))
        asyncio.run(cancelled_closing(Path(scratch, "closing"), seen, extent.of(MOST_AWAITS, 6)))
    injected = seen["stops"] + sum(seen[name] for name in (*OPERATIONS, "close"))
    note = f"slowest end {seen.seconds:.1f} s of {SHUTDOWN:.0f} + 5 allowed, locks kept {len(seen.examples)}"
    return seen.row(injected, note, failed=seen.examples)


def terminated(data: Path, kind: str, seen: Seen) -> None:
    """Terminate one process that has jobs in hand; the next one finds all of them pending, and the rules do them."""
    with started(serve, data, kind) as process:
        assert next_line(process) == "asked"
        process.send_signal(signal.SIGTERM)
        with seen.timed():
            try:
                process.wait(PATIENCE)
            except TimeoutExpired:
                seen.examples.append(f"{kind}: did not end")
    folders = {name: len(list((data / "queues" / name).glob("*.json"))) for name in world.FOLDERS}
    seen.update(stops=1, lost=folders["pending"] != JOBS or folders["processing"] > 0)
    asyncio.run(_compare(data, IMPATIENT, seen, range(JOBS)))


async def serve(data: str, kind: str) -> None:
    """Work with a model that hangs until SIGTERM comes, as a bot does."""
    stop, chat = asyncio.Event(), Hanging(kind == "stubborn")
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with core.CognitiveMemory.open(TERMINATED, Path(data), chat=chat) as memory:
        for number in range(JOBS):
            await memory.remember(world.turn(number, world.HERE))
        while (await memory.status()).jobs.processing == 0:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.05)
        print("asked", flush=True)
        await stop.wait()
    os._exit(0)  # asyncio.run would wait for a stubborn model; the memory does not


async def _compare(data: Path, settings: core.Settings, seen: Seen, accepted: Iterable[int]) -> None:
    """Open a directory without waiting for its owner, and count its turns."""
    try:
        async with core.CognitiveMemory.open(settings, data) as memory:
            counts = await world.finished(memory, accepted)
            seen.update(lost=counts["lost"], twice=counts["twice"])
    except core.DirectoryInUse:
        seen.examples.append(f"{data} is in use")


OPERATIONS: dict[str, Operation] = {
    "enqueue": lambda memory, number: memory.remember(world.turn(number, world.HERE, request_id=None)),
    "observe": lambda memory, number: memory.observe(_line(number)),
    "consider": lambda memory, number: memory.consider(world.HERE, [_line(number)]),
    "context": lambda memory, _: memory.context(world.HERE, "第 1 号茶"),
    "search": lambda memory, _: memory.search_events(world.HERE, "第 1 号茶"),
    "pin": lambda memory, number: memory.pin(world.HERE, f"置顶 {number}"),
    "forget": lambda memory, _: memory.forget_user(core.Scene.operator(), "2000099"),
    "evolve": lambda memory, _: _evolved(memory),
    "drain": lambda memory, _: memory.drain(DRAINING),
    "status": lambda memory, _: memory.status(),
}


async def _evolved(memory: core.CognitiveMemory) -> None:
    with suppress(core.CognitiveMemoryError):  # there is nothing to grow from, which is said after the same reads
        await memory.evolve(world.HERE)


async def cancelled_everywhere(data: Path, seen: Seen, most: int) -> None:
    """Cancel each operation at its first, second, ... await; the same operation then works, and nothing is twice."""
    handed: list[int] = []
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        for kind, (name, operation) in enumerate(OPERATIONS.items()):
            for number in range(kind * 1_000 + 1, kind * 1_000 + most + 1):
                went_so_far = await cancelled_at(partial(operation, memory, number), number % 1_000)
                seen[name] += went_so_far
                if name == "enqueue":
                    handed += [number + 500] if went_so_far else [number, number + 500]
                try:
                    await asyncio.wait_for(operation(memory, number + 500), PATIENCE)
                except asyncio.TimeoutError:
                    seen.examples.append(f"{name} waits after a cancellation")
                if not went_so_far:
                    break
        counts = await world.finished(memory, handed)
        seen.update(lost=counts["lost"], twice=counts["twice"])


async def cancelled_closing(data: Path, seen: Seen, most: int) -> None:
    """Cancel the closing at each of its awaits; the next opening finds what was accepted, at once."""
    handed: list[int] = []
    for at in range(1, most + 1):
        opening = core.CognitiveMemory.open(TERMINATED, data)
        memory = await opening.__aenter__()
        await memory.remember(world.turn(at, world.HERE))
        handed.append(at)
        went_so_far = await cancelled_at(partial(_closed, opening), at)
        seen["close"] += went_so_far
        if not went_so_far:
            break
    await _compare(data, TERMINATED, seen, handed)


async def _closed(opening: Any) -> None:
    await opening.__aexit__(None, None, None)
