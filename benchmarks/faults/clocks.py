"""F25: the clock set back an hour, ten years ahead, and to 1970, while a memory is open and between two lives."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.profiles.files import FileProfiles
from cognitive_memory_core.recall.ranking import weighed
from cognitive_memory_core.settings import Decay
from tests.support.builders import an_event
from tests.support.clock import NOON, SHANGHAI, FrozenClock
from tests.support.profiles import KEEP, a_profile

from ..fault_row import Extent, Row
from . import world
from .tracer import ROOT

JUMPS = {
    "back 1 h": NOON - timedelta(hours=1),
    "ahead 10 y": NOON + timedelta(days=3653),
    "1970": datetime(1970, 1, 1, tzinfo=timezone.utc),
}
DRAINING = 60.0
FAKETIME = ("-1h", "+3653d", "@1970-01-02 00:00:00")  # in libfaketime's syntax
MACHINE = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


@dataclass
class Wrong:
    """What a jump spoilt."""

    jumps: int = 0
    recoveries: int = 0
    pruned: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])
    twice: list[str] = field(default_factory=list[str])
    order: list[str] = field(default_factory=list[str])
    weights: int = 0

    @property
    def examples(self) -> list[str]:
        """Return all that is wrong, for the note."""
        return [*self.pruned, *self.lost, *self.twice, *self.order]


def f25(extent: Extent) -> Row:
    """Jump by an injected clock, in a life and between two; then by libfaketime, where it is installed."""
    started, wrong = time.monotonic(), Wrong()
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(extent.of(10, 1)):
            for name, to in JUMPS.items():
                for restarts in (False, True):
                    folder = Path(scratch, f"{number} {name} {restarts}")
                    asyncio.run(jumped(folder, to, wrong, restarts=restarts))
        real = _by_faketime(Path(scratch), wrong)
    note = (
        f"3 jumps, within a life and between two: jobs taken for stale {wrong.recoveries}, pruned wrong "
        f"{len(wrong.pruned)}, out of order {len(wrong.order)}, weights outside [0, 1] {wrong.weights}; {real}; "
        "seconds: the whole row"
    )
    is_bad = bool(wrong.recoveries or wrong.pruned or wrong.order or wrong.weights)
    print(*wrong.examples, sep="\n", file=sys.stderr)
    seconds = time.monotonic() - started
    return Row(wrong.jumps, len(wrong.lost), len(wrong.twice), 0, seconds, note, is_bad)


async def jumped(data: Path, to: datetime, wrong: Wrong, *, restarts: bool) -> None:
    """Work before and after one jump and compare everything that was handed in with what is there."""
    clock = FrozenClock()
    wrong.jumps += 1
    await _before(data, clock, None if restarts else to)
    clock.instant = to
    await _order(data, clock, wrong)
    async with core.CognitiveMemory.open(world.SETTINGS, data, background=False, clock=clock) as memory:
        await memory.remember(_turn(9))
        await memory.drain(DRAINING)
        await memory.context(world.HERE, "第 3 号茶")
        await _whole(memory, wrong)
    await _claimed_once(data / "claims", clock, to, wrong)
    await _revisions(data / "revisions", to, wrong)
    decay = Decay(half_life_days=14.0, boost=0.2, floor=0.0)
    hit = core.Hit(an_event(happened_at=NOON), 0.5, relevance=0.5)
    wrong.weights += not 0.5 <= weighed([hit], None, frozenset(), decay, to)[0].score <= 0.5 * 1.2 + 1e-9


async def _before(data: Path, clock: FrozenClock, to: datetime | None) -> None:
    """Hand in lines and turns, bury one job, and leave turns; with ``to`` the clock jumps before the last of them."""
    async with core.CognitiveMemory.open(world.SETTINGS, data, background=False, clock=clock) as memory:
        for number in range(3):
            memory_line = core.Message(f"m{number}", world.HERE, f"第 {number} 句", NOON + timedelta(seconds=number))
            await memory.observe(memory_line)
            await memory.remember(_turn(number))
        await memory.drain(DRAINING)
        await memory.remember(_turn(3))
        if to is not None:
            clock.instant = to
        await memory.remember(_turn(4))
    queue = await world.opened_queue(data)
    await queue.enqueue(world.a_job("坏", world.THERE))
    while (claim := await queue.claim()) is not None and claim.job.scope != world.THERE.scope:
        await queue.requeue(claim, delay=0, counted=False)
    assert claim is not None
    await queue.bury(claim, "坏了")
    await queue.close()


def _turn(number: int) -> core.Turn:
    said = f"阿棠(2000001) 喜欢第 {number} 号茶"
    return core.Turn(world.HERE, memo=f"第 {number} 轮", observations=[said], request_id=f"t{number}", happened_at=NOON)


async def _order(data: Path, clock: FrozenClock, wrong: Wrong) -> None:
    """Compare the order of claims with that of arrival."""
    queue = await world.opened_queue(data)
    await queue.recover()
    claimed: list[str] = []
    while (claim := await queue.claim()) is not None:
        claimed.append(getattr(claim.job.work, "memo", ""))
        await queue.requeue(claim, delay=3600, counted=False)
    await queue.close()
    if claimed != sorted(claimed):
        wrong.order.append(f"claimed {claimed} at {clock.now()}")


async def _whole(memory: core.CognitiveMemory, wrong: Wrong) -> None:
    texts = Counter(event.text for event in await memory.events(core.Scene.operator(), limit=100))
    numbers = (0, 1, 2, 3, 4, 9)
    counts = {number: sum(text.count(f"第 {number} 号茶") for text in texts.elements()) for number in numbers}
    wrong.lost += [f"turn {number}" for number, count in counts.items() if not count]
    wrong.twice += [f"turn {number}" for number, count in counts.items() if count > 1]
    lines = [line.id for line in await memory.recent_messages(world.HERE)]
    wrong.order += [f"lines {lines}"] if lines != sorted(lines) else []
    wrong.lost += [f"lines {lines}"] if len(lines) != 3 else []
    wrong.pruned += [] if len(await memory.failed_jobs()) == 1 else ["the failed job"]


async def _claimed_once(data: Path, clock: FrozenClock, to: datetime, wrong: Wrong) -> None:
    """Hold a job while the clock jumps: nobody may be given it as a stale one."""
    clock.instant = NOON
    queue = await world.opened_queue(data)
    await queue.enqueue(world.a_job("甲"))
    assert await queue.claim() is not None
    clock.instant = to
    wrong.recoveries += await queue.claim() is not None
    await queue.close()


async def _revisions(data: Path, to: datetime, wrong: Wrong) -> None:
    """Write more revisions than are kept, some after the jump: the newest by sequence stay."""
    standing = a_profile(summary="0")
    for number in range(1, 2 * KEEP + 1):
        clock = FrozenClock(NOON if number <= KEEP else to)
        profiles = FileProfiles(data, KEEP, clock, SHANGHAI)
        standing = await profiles.write(replace(standing, summary=str(number)))
    kept = [revision.profile.summary for revision in await profiles.revisions(standing.key)]
    wanted = [str(2 * KEEP - back) for back in range(KEEP + 1)]
    wrong.pruned += [] if kept in (wanted[:KEEP], wanted[1:]) else [f"revisions {kept}"]


def _by_faketime(folder: Path, wrong: Wrong) -> str:
    """Start a process under each wrong clock of libfaketime in one directory, one after the other."""
    library = os.environ.get("FAKETIME_LIBRARY") or (MACHINE if Path(MACHINE).exists() else "")
    if not library:
        return "libfaketime is not installed"
    for number, offset in enumerate(FAKETIME):
        environment = {**os.environ, "LD_PRELOAD": library, "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        command = [sys.executable, "-m", "benchmarks.faults.clocks", str(folder / "real"), str(number)]
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        wrong.jumps += 1
        wrong.lost += [] if ended.returncode == 0 else [f"{offset}: {ended.stderr[-200:]}"]
    return f"libfaketime: {len(FAKETIME)} lives of one directory"


async def _one_life(data: Path, number: int) -> None:
    """Hand in and do one turn; all turns of earlier lives are there."""
    async with core.CognitiveMemory.open(world.SETTINGS, data) as memory:
        await memory.remember(_turn(number))
        assert await memory.drain(DRAINING)
        texts = [event.text for event in await memory.events(core.Scene.operator(), limit=100)]
        assert all(sum(f"第 {one} 号茶" in text for text in texts) == 1 for one in range(number + 1)), texts


if __name__ == "__main__":
    asyncio.run(_one_life(Path(sys.argv[1]), int(sys.argv[2])))
