"""F21 and A17: the queue flooded by everybody, and one group flooded by one person while others go on."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from ..fault_row import Extent, Row, Seen, told
from ..measure import Sample, percentile
from . import world
from .child import answered
from .puppets import PATIENCE, VICTIM, Siege, besieged, there

STEP = 0.01  # seconds between two checks


@dataclass
class Flood:
    """What was handed in and what became of it, and what it cost those who handed in and asked."""

    remember: Sample = field(default_factory=Sample)
    context: Sample = field(default_factory=Sample)
    stored: Sample = field(default_factory=Sample)
    accepted: set[int] = field(default_factory=set[int])
    handed: int = 0
    refused: int = 0
    lost: int = 0
    calls: int = 0
    counted: int = 0
    messages: int = 0
    dropped: int = 0
    seconds: float = 0.0

    async def hand(self, act: Awaitable[object], number: int = 0) -> None:
        """Hand in a turn that was counted, and count whether it was refused."""
        try:
            with self.remember.watch():
                await act
        except core.QueueFull:
            self.refused += 1
        else:
            self.accepted.add(number)


def _started(work: Coroutine[Any, Any, None], hands: set[asyncio.Task[None]]) -> None:
    """Start a task, which is kept until it is done."""
    hands.add(task := asyncio.create_task(work))
    task.add_done_callback(hands.discard)


# F21: a steady ten thousand jobs a minute, half of them in one group, then a burst into one group.

A_MINUTE = 10_000  # jobs
LOOK = 0.25  # seconds between two samples of the queue
BURST = 2_500  # jobs in one group: more than its limit
BURST_AT_ONCE = 64


def f21(extent: Extent) -> Row:
    """Flood the queue in a process of its own, for its resident size."""
    with tempfile.TemporaryDirectory() as folder:
        figures = answered(flooded, Path(folder) / "data", extent.minutes * 60)
    seen, is_bad = Seen(**figures.pop("counts")), figures["refused"] != figures["counted"]
    seen.seconds = figures["drained"]
    failed = is_bad or not figures["another_group_then_accepted"]
    return seen.row(figures["handed_in"], f"{told(**figures)}; seconds: to drain", failed=failed)


async def flooded(data: str, seconds: float) -> dict[str, object]:
    """Flood a memory, drain it, and return the figures."""
    flood, most = Flood(), [0]
    # without a limit per person, which would refuse before the queue's
    settings = core.Settings(vector_store=world.SETTINGS.vector_store, queue=core.QueueSettings(turns_per_minute=0))
    async with core.CognitiveMemory.open(settings, Path(data)) as memory:

        async def hand_in(number: int, group: int) -> None:
            scene = core.Scene.group(str(10_001 + group), str(20_001 + group), user_name="小雨")
            await flood.hand(memory.remember(world.turn(number, scene, request_id=None)), number)

        async def look() -> None:
            scene = core.Scene.group("10002", "20002", user_name="小雨")
            while True:
                most[0] = max(most[0], (await memory.status()).jobs.pending)
                with flood.context.watch():
                    await memory.context(scene, "小雨喜欢什么茶")
                await asyncio.sleep(LOOK)

        looking, begun = asyncio.create_task(look()), time.perf_counter()
        hands = set[asyncio.Task[None]]()  # nobody waits for earlier jobs
        async for number in world.paced(A_MINUTE / 60, seconds):
            flood.handed += 1
            _started(hand_in(number, 0 if number % 2 else 1 + number // 2 % 20), hands)
        await asyncio.gather(*hands)
        poured = time.perf_counter() - begun
        figures: dict[str, object] = {"minutes": poured / 60, "jobs_a_minute": flood.handed / poured * 60}
        figures |= {"enqueue_p95": flood.remember.p95, "p99": 1000 * percentile(flood.remember.seconds, 0.99)}
        figures |= {"context_p95": flood.context.p95, "refused": flood.refused}
        figures["counted"] = (await memory.status()).refused
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking

        await memory.pause()  # one group is filled beyond its limit; another must still be served
        before = flood.refused
        for _ in range(0, BURST, BURST_AT_ONCE):
            numbers = range(flood.handed, flood.handed + BURST_AT_ONCE)
            flood.handed += BURST_AT_ONCE
            await asyncio.gather(*(hand_in(number, 99) for number in numbers))
        figures["burst_in_one_group_refused"] = flood.refused - before
        await hand_in(flood.handed, 98)
        figures["another_group_then_accepted"] = flood.handed in flood.accepted
        await memory.resume()
        begun = time.perf_counter()
        await memory.drain(1200)
        figures |= {"drained": time.perf_counter() - begun, "max_pending": most[0], "RSS_MB": _rss()}
        counts = await world.finished(memory, flood.accepted)
    return figures | {"counts": counts, "handed_in": flood.handed + 1}


def _rss() -> float:
    """Return the largest resident size so far, in MB; 0 if the system does not report it."""
    if sys.platform == "win32":
        return 0.0
    import resource  # noqa: PLC0415  # there is none on Windows

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (1024 * 1024 if sys.platform == "darwin" else 1024)


# A17: one person floods with oversized messages, and with turns and messages; others go on.

BUDGET = 120
MODEL_SECONDS = 0.01
TURNS_A_SECOND, MESSAGES_A_SECOND = 200, 2_000
FIRST = 1_000  # number of the others' first turn
SLOWER, STORED = 3.0, 2_000.0  # others' remember against no flood; ms until their turns are stored
Attack = Callable[[Siege, Flood], Awaitable[object]]


async def a17(extent: Extent) -> Row:
    """Flood one group in two ways; at the published size the others' times are compared with no flood."""
    people, rounds, number = extent.of(20, 6), extent.of(10, 1), extent.of(300, 6)
    if not extent.quick:
        await _shared(1, 1, None)  # the first use of a process loads modules and is no measure
    alone, _ = await _shared(people, rounds, None)
    attacks: Mapping[str, Attack] = {
        f"{number} turns and dialogues of 1 MB and 10,000 mentions": partial(_endless, number),
        f"{TURNS_A_SECOND} turns/s and {MESSAGES_A_SECOND} messages/s": _turns_and_messages,
    }
    seen, parts, is_bad, injected = Seen(), list[str](), False, 0
    for name, attack in attacks.items():
        others, flood = await _shared(people, rounds, attack)
        figures = {f"{one}_ms": getattr(others, one).p95 for one in ("remember", "context", "stored")}
        figures |= {f"{one}_alone": getattr(alone, one).p95 for one in ("remember", "context", "stored")}
        figures |= {"refused": flood.refused, "of": flood.handed, "model_calls": flood.calls, "seconds": flood.seconds}
        parts.append(f"{name}: {told(**figures, messages=flood.messages, dropped=flood.dropped)}")
        is_late = others.stored.p95 > max(STORED, SLOWER * alone.stored.p95)
        is_slow = is_late or others.remember.p95 > SLOWER * alone.remember.p95
        is_bad |= flood.calls > BUDGET or flood.counted != flood.refused or (is_slow and not extent.quick)
        seen["lost"] += flood.lost
        seen.seconds = max(seen.seconds, others.stored.p95 / 1000)
        injected += flood.handed
    return seen.row(injected, f"1 attacker, {people} others, their p95 beside: {'; '.join(parts)}", failed=is_bad)


async def _shared(people: int, rounds: int, attack: Attack | None) -> tuple[Flood, Flood]:
    """Return what the others went through, and what became of the flood."""
    others, flood = Flood(), Flood()
    async with besieged(daily_calls=BUDGET, capture={"auto_consider": "off"}) as siege:
        siege.chat.seconds = MODEL_SECONDS
        started = time.perf_counter()
        flooding = asyncio.ensure_future(attack(siege, flood)) if attack else None
        await asyncio.gather(*(_live(siege, person, rounds, others) for person in range(people)))
        flood.seconds = time.perf_counter() - started
        if flooding:
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
        await siege.settle(2 * PATIENCE)
        numbers = range(FIRST, FIRST + rounds * people)
        flood.lost = (await world.counted(siege.memory, numbers, ["event"]))["lost"]
        status = await siege.memory.status()
        flood.calls, flood.counted, flood.dropped = len(siege.chat.asked), status.refused, status.dropped_messages
    return others, flood


async def _live(siege: Siege, person: int, rounds: int, others: Flood) -> None:
    """Run a person's turns in separate groups, each awaited until it is stored."""
    for number in range(FIRST + rounds * person, FIRST + rounds * (person + 1)):
        scene = world.own_scene(number)
        await asyncio.sleep(0.05 * (person % 5))
        with others.remember.watch():
            await siege.memory.remember(world.own_turn(number))
        with others.stored.watch():
            deadline = time.monotonic() + PATIENCE
            while not await siege.memory.events(scene, limit=1) and time.monotonic() < deadline:  # noqa: ASYNC110  # as a person would
                await asyncio.sleep(STEP)
        with others.context.watch():
            await siege.memory.context(scene, "喜欢什么茶")


async def _endless(number: int, siege: Siege, flood: Flood) -> None:
    """Hand in turns and dialogues of the greatest length, one after the other."""
    for one in range(number):
        text = (f"[CQ:at,qq={VICTIM}]" * 10_000, "啊" * 350_000, " " * 1_000_000 + "(" * 40_000)[one % 3]
        line = core.Message(f"f{one}", there(), text, world.now())
        await siege.memory.observe(line)
        observations = [text[:2000] + str(one)] * 50
        turn = core.Turn(there(), observations=observations, source_message=text, recent_messages=[line] * 20)
        flood.handed += 2
        await flood.hand(siege.memory.remember(turn))
        lines = [replace(line, id=f"c{one}-{part}") for part in range(20)]
        await flood.hand(siege.memory.consider(there(), lines))
        await asyncio.sleep(0)


async def _turns_and_messages(siege: Siege, flood: Flood) -> None:
    """Hand in turns and messages at a steady pace, without waiting for earlier turns."""

    async def talk() -> None:
        async for number in world.paced(MESSAGES_A_SECOND):
            await siege.memory.observe(core.Message(f"s{number}", there(), f"第 {number} 句闲话", world.now()))
            flood.messages += 1
            await asyncio.sleep(0)  # each message lets other tasks run, as frames of a connection do

    async def hand_in() -> None:
        hands = set[asyncio.Task[None]]()
        async for number in world.paced(TURNS_A_SECOND):
            turn = core.Turn(there(), observations=[f"小雨说喜欢第 {number} 种花"], memo=f"第 {number} 次答过")
            flood.handed += 1
            _started(flood.hand(siege.memory.remember(turn)), hands)

    await asyncio.gather(talk(), hand_in())
