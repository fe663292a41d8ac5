"""A17: one person floods with oversized messages, with turns, and with both messages and turns; others go on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import cognitive_memory_core as core

from ..fault_row import Extent, Row
from ..measure import Sample
from . import turns
from .puppets import PATIENCE, VICTIM, Siege, besieged, there

BUDGET = 120
MODEL_SECONDS = 0.01
TURNS_A_SECOND, MESSAGES_A_SECOND = 200, 2_000
FIRST = 1_000  # number of the others' first turn
SLOWER, STORED = 3.0, 2_000.0  # others' remember against no flood; ms until their turns are stored
STEP = 0.01  # seconds between two checks
Flood = Callable[[Siege, "_Share"], Awaitable[None]]


async def a17(extent: Extent) -> Row:
    """Flood one group in three ways; at the published size the others' times are compared with no flood."""
    others, number = _Others(extent.of(20, 8), extent.of(10, 1)), extent.of(300, 12)
    await _shared(_Others(1, 1), None)  # the first use of a process loads modules and is no measure
    alone = await _shared(others, None)
    floods = {
        f"{number} turns and dialogues of 1 MB and 10,000 mentions": await _shared(others, _endless(number)),
        f"{TURNS_A_SECOND} turns/s": await _shared(others, _turns),
        f"those and {MESSAGES_A_SECOND} messages/s": await _shared(others, _turns_and_messages),
    }
    said = [f"{name}: {share.against(alone)}, {share.offered}" for name, share in floods.items()]
    calls = max(share.calls for share in floods.values())
    figures = f"{'; '.join(said)}; model calls at most {calls} <= {BUDGET}"
    note = f"1 attacker, {others.people} others, their p95 beside: {figures}"
    shares = floods.values()
    is_bad = any(share.is_miscounted or (not extent.quick and share.is_bad(alone)) for share in shares)
    return Row(
        sum(share.handed for share in shares),
        sum(share.lost for share in shares),
        seconds=max(share.stored.p95 for share in shares) / 1000,
        note=note,
        failed=is_bad,
    )


@dataclass(frozen=True)
class _Others:
    """The people who go on during a flood, and how many turns each of them has."""

    people: int
    rounds: int


@dataclass
class _Share:
    """The times of the other people, and the counts of the flood."""

    remember: Sample = field(default_factory=Sample)
    context: Sample = field(default_factory=Sample)
    stored: Sample = field(default_factory=Sample)
    lost: int = 0
    calls: int = 0
    own_calls: int = 0
    handed: int = 0
    refused: int = 0
    counted: int = 0
    messages: int = 0
    dropped: int = 0
    seconds: float = 0.0

    def against(self, alone: _Share) -> str:
        """Return the others' figures next to those without a flood."""
        return (
            f"remember {self.remember.p95:.1f} ms (alone {alone.remember.p95:.1f}), context {self.context.p95:.1f} ms "
            f"({alone.context.p95:.1f}), stored {self.stored.p95:.0f} ms ({alone.stored.p95:.0f})"
        )

    @property
    def offered(self) -> str:
        """Return a description of the flood and of what was refused."""
        turned_away = f"refused {self.refused} of {self.handed} in {self.seconds:.0f} s"
        if not self.messages:
            return turned_away
        return f"{turned_away}, {self.messages / self.seconds:.0f} messages/s came, dropped {self.dropped} (counted)"

    def is_bad(self, alone: _Share) -> bool:
        """Return whether the others were slowed down beyond the limits."""
        is_slow = self.remember.p95 > SLOWER * alone.remember.p95
        is_late = self.stored.p95 > max(STORED, SLOWER * alone.stored.p95)
        return is_slow or is_late

    @property
    def is_miscounted(self) -> bool:
        """Return whether the call budget was exceeded, or status counts other refusals than callers received."""
        return self.calls > BUDGET or self.counted != self.refused


async def _shared(others: _Others, flood: Flood | None) -> _Share:
    share = _Share()
    async with besieged(daily_calls=BUDGET, capture={"auto_consider": "off"}) as siege:
        siege.chat.seconds = MODEL_SECONDS
        started = time.perf_counter()
        flooding = asyncio.ensure_future(flood(siege, share)) if flood else None
        await asyncio.gather(*(_live(siege, person, others.rounds, share) for person in range(others.people)))
        share.seconds = time.perf_counter() - started
        if flooding:
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
        await siege.settle(2 * PATIENCE)
        handed = range(FIRST, FIRST + others.rounds * others.people)
        share.lost = (await turns.counted(siege.memory, handed)).lost
        status = await siege.memory.status()
        share.calls, share.counted, share.dropped = len(siege.chat.asked), status.refused, status.dropped_messages
    return share


async def _live(siege: Siege, person: int, rounds: int, share: _Share) -> None:
    """Run a person's turns in separate groups, each awaited until it is stored."""
    for part in range(rounds):
        number = FIRST + rounds * person + part
        scene = turns.scene(number)
        await asyncio.sleep(0.05 * (person % 5))
        with share.remember.watch():
            await siege.memory.remember(turns.turn(number))
        with share.stored.watch():
            deadline = time.monotonic() + PATIENCE
            while not await siege.memory.events(scene, limit=1) and time.monotonic() < deadline:  # noqa: ASYNC110  # as a person would
                await asyncio.sleep(STEP)
        with share.context.watch():
            await siege.memory.context(scene, "喜欢什么茶")


def _endless(number: int) -> Flood:
    """Return a flood of turns and dialogues of the greatest length, one after the other."""

    async def flood(siege: Siege, share: _Share) -> None:
        for one in range(number):
            text = (f"[CQ:at,qq={VICTIM}]" * 10_000, "啊" * 350_000, " " * 1_000_000 + "(" * 40_000)[one % 3]
            line = core.Message(f"f{one}", there(), text, turns.now())
            await siege.memory.observe(line)
            observations = [text[:2000] + str(one)] * 50
            turn = core.Turn(there(), observations=observations, source_message=text, recent_messages=[line] * 20)
            await _handed(siege.memory.remember(turn), share)
            lines = [replace(line, id=f"c{one}-{part}") for part in range(20)]
            await _handed(siege.memory.consider(there(), lines), share)
            share.handed += 2
            await asyncio.sleep(0)

    return flood


async def _turns(siege: Siege, share: _Share) -> None:
    """Hand in turns at a steady pace, without waiting for earlier ones."""
    started, hands = time.perf_counter(), set[asyncio.Task[None]]()
    while True:
        while share.handed < (time.perf_counter() - started) * TURNS_A_SECOND:
            turn = core.Turn(
                there(), observations=[f"小雨说喜欢第 {share.handed} 种花"], memo=f"第 {share.handed} 次答过"
            )
            hands.add(asyncio.create_task(_handed(siege.memory.remember(turn), share)))
            share.handed += 1
        hands = {hand for hand in hands if not hand.done()}
        await asyncio.sleep(STEP)


async def _turns_and_messages(siege: Siege, share: _Share) -> None:
    await asyncio.gather(_turns(siege, share), _messages(siege, share))


async def _messages(siege: Siege, share: _Share) -> None:
    started = time.perf_counter()
    while True:
        while share.messages < (time.perf_counter() - started) * MESSAGES_A_SECOND:
            said = core.Message(f"s{share.messages}", there(), f"第 {share.messages} 句闲话", turns.now())
            await siege.memory.observe(said)
            share.messages += 1
            await asyncio.sleep(0)  # each message lets other tasks run, as frames of a connection do
        await asyncio.sleep(STEP)


async def _handed(act: Awaitable[object], share: _Share) -> None:
    try:
        await act
    except core.QueueFull:
        share.refused += 1
