"""F37: a bot that has a fifth of a core hears fifty messages a second, is told to end, and ends."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from cognitive_memory_core.models.local import LOADED_AFTER
from tests.support.onebot import BotProcess, OneBotClient
from tests.support.waiting import until

from ..fault_row import Extent, Row, Seen, told
from .bots import PLUGIN, a_bot, rows_of

SHARE = 0.2  # of a core
A_SECOND, GROUPS, PEOPLE = 50, 20, 50  # messages, and where and by whom they are said
ADDRESSED = 10  # every so many messages is said to the bot
TICK = 0.004  # seconds between two looks at the processor time
AT_REST = 0.05  # share of a core below which a bot has started: its encoder is loaded, too
SHUTDOWN, GRACE = 10.0, 5.0  # shutdown_seconds, and what the rest of a process's end may take
MOST_TASKS, MOST_OWN = 1_000, 2.5  # at a time; by a message: ours beyond NoneBot's, one each to record and for commands
PROBE = """
import asyncio, json, os, time
from nonebot import get_driver, on_message

made, handled = 0, open("handled.txt", "a", buffering=1)
rest = on_message(priority=90, block=False)

@rest.handle()
async def note(event):
    handled.write(f"{event.message_id}\\n")

def counting(loop, coroutine, **more):
    global made
    made += 1
    return asyncio.Task(coroutine, loop=loop, **more)

async def look():
    with open("seen.txt", "a", buffering=1) as seen:
        while True:
            pages = int(open("/proc/self/statm").read().split()[1])
            row = time.time(), len(asyncio.all_tasks()), made, time.process_time(), pages * os.sysconf("SC_PAGE_SIZE")
            seen.write(json.dumps(row) + "\\n")
            await asyncio.sleep(0.5)

@get_driver().on_startup
async def begin():
    asyncio.get_running_loop().set_task_factory(counting)
    asyncio.create_task(look())
"""


@dataclass(frozen=True)
class _Life:
    """What one bot went through: messages sent and handled, and figures of its process."""

    sent: int
    handled: int
    lost: int
    tasks_at_once: int
    tasks_a_message: float
    milliseconds_a_message: float  # of processor time
    megabytes_a_minute: float  # of more memory
    seconds_to_end: float  # from SIGTERM on


FIGURES: Mapping[str, Callable[[Iterable[Any]], Any]] = {
    **dict.fromkeys(("sent", "handled"), sum),
    **dict.fromkeys(("tasks_at_once", "seconds_to_end"), max),
    **dict.fromkeys(("tasks_a_message", "milliseconds_a_message", "megabytes_a_minute"), median),
}


def f37(extent: Extent) -> Row:
    """Let a bot with the memory and one without live through the same flood, in turn."""
    seconds, rounds = extent.of(60, 8), extent.of(3, 1)
    bare, ours = zip(*([asyncio.run(_lived(one, seconds)) for one in ({}, PLUGIN)] for _ in range(rounds)), strict=True)
    without, figures = (
        {name: how([getattr(one, name) for one in each]) for name, how in FIGURES.items()} for each in (bare, ours)
    )
    seen, own = Seen(lost=sum(life.lost for life in ours)), figures["tasks_a_message"] - without["tasks_a_message"]
    seen.seconds = figures["seconds_to_end"]
    ratio = figures["milliseconds_a_message"] / without["milliseconds_a_message"]
    note = f"{told(**figures)}; NoneBot without the memory: {told(**without)}; milliseconds {ratio:.2f} times NoneBot's"
    is_heavy = not extent.quick and (figures["tasks_at_once"] > MOST_TASKS or own > MOST_OWN)
    return seen.row(figures["sent"], note, failed=is_heavy or seen.seconds > SHUTDOWN + GRACE)


async def _lived(plugins: dict[str, str], seconds: float) -> _Life:
    async with a_bot(["LOG_LEVEL=WARNING"], {**plugins, "probe": PROBE}, PYTHONHASHSEED="0") as bot:
        async with bot.client() as client:
            if plugins:
                await until((bot.data / "ledger.db").exists)
            await _rested(bot.process.pid)
            begun = time.time()
            throttling = asyncio.create_task(_throttle(bot))
            sent = await _said(client, seconds)
            ended = time.time()
            bot.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(bot.process.wait, 300.0)
            stopping = time.time() - ended
            await throttling
        handled = (bot.home / "handled.txt").read_text().split()
        looks = [json.loads(line) for line in (bot.home / "seen.txt").read_text().splitlines()]
        flood = [look for look in looks if begun <= look[0] <= ended]
        first, last, count = flood[0], flood[-1], max(len(handled), 1)
        return _Life(
            sent,
            len(handled),
            len(set(handled) - {one for (one,) in rows_of(bot.data, "SELECT id FROM messages")[0]}) if plugins else 0,
            max(look[1] for look in flood),
            (last[2] - first[2]) / count,
            1000 * (last[3] - first[3]) / count,
            (last[4] - first[4]) / (last[0] - first[0]) * 60 / 1e6,
            stopping,
        )


async def _said(client: OneBotClient, seconds: float) -> int:
    """Say messages at a steady pace; return how many."""
    started, sent = time.perf_counter(), 0
    while (passed := time.perf_counter() - started) < seconds:
        while sent < passed * A_SECOND:
            text, who = f"第 {sent} 句：周末去不去爬山", 30_000 + sent % PEOPLE
            more: dict[str, Any] = (
                {} if sent % ADDRESSED == 0 else {"message": [{"type": "text", "data": {"text": text}}]}
            )
            await client.say(text, user=who, name=f"群友{who}", group=10_000 + sent % GROUPS, **more)
            sent += 1
        await asyncio.sleep(0.01)
    return sent


async def _rested(pid: int) -> None:
    """Wait until a bot has done what a start does, once and whatever is said; that is no part of the flood."""
    used, quiet = _used(pid), 0
    while quiet < LOADED_AFTER + 2:  # seconds: longer than the bot waits before it loads its encoder
        await asyncio.sleep(1.0)
        before, used = used, _used(pid)
        quiet = quiet + 1 if used - before < AT_REST else 0


async def _throttle(bot: BotProcess) -> None:
    """Stop the process whenever it has used more than its share of a core, until it ends."""
    credit, last, used, is_stopped = 0.0, time.monotonic(), _used(bot.process.pid), False
    with suppress(ProcessLookupError, FileNotFoundError):
        while bot.process.poll() is None:
            await asyncio.sleep(TICK)
            now, spent = time.monotonic(), _used(bot.process.pid)
            credit = min(credit + (now - last) * SHARE, 0.1 * SHARE) - (spent - used)
            last, used = now, spent
            if (credit < 0) != is_stopped:
                is_stopped = credit < 0
                bot.process.send_signal(signal.SIGSTOP if is_stopped else signal.SIGCONT)


def _used(pid: int) -> float:
    """Return the seconds of processor time that a process's living threads have used."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9
