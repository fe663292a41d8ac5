"""Minutes of chat in many groups over a real OneBot WebSocket, with kills of the bot: what is lost, and what grows.

A bot runs as an operator would start it, with the rule-based historian and a companion plugin that records a turn for
every n-th message and answers with the job's id; that answer is the acknowledgement. The bot is killed with SIGKILL at
moments chosen by the seed and restarted at once; lines due meanwhile are not sent. Afterwards the memory is drained and
exported, and each acknowledged turn must have become one event and one memo.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
import orjson
import psutil
from websockets.exceptions import ConnectionClosed

import cognitive_memory_core as core
from tests.support.onebot import BotProcess, OneBotClient, data_of, prepare, start

from .bystander import bystander
from .family import children_resident, resident
from .faults.world import exported
from .measure import Report, Sample, percentile
from .workload import Speech

FIRST_GROUP, FIRST_PERSON = 618_000_000, 2_000_000_000
PEOPLE = 10  # per group
MIDDLE = (0.3, 0.7)  # share of the time in which the bot may be killed
SAMPLED = 2.0  # seconds between two samples of the memory
WARM_UP = 60.0  # seconds of a process excluded from its growth, at most a third of them
QUIET = 20.0  # seconds in which the last answers must arrive
STRIKE = 0.03  # seconds at most from a turn to the kill: before or shortly after its answer
LIKED = 4  # every so many lines are worth remembering
TOKEN = re.compile(r"暗号是(t\d+e)|备忘(t\d+e)")

COMPANION = """
import asyncio
import os
import time

from nonebot import get_driver, on_message, require
from nonebot.adapters import Event
from nonebot.rule import to_me

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import RecordEnd

chat = on_message(rule=to_me(), priority=50)
watching = []


@chat.handle()
async def turn(event: Event, record_end: RecordEnd):
    token = event.get_plaintext().strip()
    job_id = await record_end("备忘" + token, ["暗号是" + token])
    await chat.finish(f"{token} {job_id}")


@get_driver().on_startup
async def watch():
    watching.append(asyncio.create_task(gaps()))


async def gaps():
    with open(f"gaps-{time.time():.3f}-{os.getpid()}", "w", buffering=1) as file:
        while True:
            longest, until = 0.0, time.perf_counter() + 1.0
            while (before := time.perf_counter()) < until:
                await asyncio.sleep(0.002)
                longest = max(longest, time.perf_counter() - before - 0.002)
            file.write(f"{1000 * longest:.2f}\\n")
"""


@dataclass(frozen=True)
class Look:
    """The memory of bot and children at a moment, in MB."""

    at: float
    bot: float
    children: float


@dataclass
class Life:
    """One process of the bot, from start to end."""

    started: float
    looks: list[Look] = field(default_factory=list)

    @property
    def settled(self) -> list[Look]:
        """Return the samples after the warm-up."""
        if not self.looks:
            return []
        warm = self.started + min(WARM_UP, (self.looks[-1].at - self.started) / 3)
        return [look for look in self.looks if look.at >= warm]

    def growth(self) -> tuple[float, float]:
        """Return the slopes of bot and children, in MB per minute."""
        looks = self.settled
        if len(looks) < 3:
            return 0.0, 0.0
        minutes = [(look.at - self.started) / 60 for look in looks]
        bot, children = ([getattr(look, name) for look in looks] for name in ("bot", "children"))
        return float(np.polyfit(minutes, bot, 1)[0]), float(np.polyfit(minutes, children, 1)[0])


@dataclass
class Chat:
    """What was said and acknowledged."""

    dice: random.Random
    said: dict[str, float] = field(default_factory=dict)
    acknowledged: dict[str, str] = field(default_factory=dict)
    refused: int = 0
    messages: int = 0
    unsaid: int = 0
    answers: Sample = field(default_factory=Sample)
    lives: list[Life] = field(default_factory=list)

    def take(self, reply: str) -> None:
        """Record the bot's answer to a turn."""
        token, _, job_id = reply.partition(" ")
        if token not in self.said or token in self.acknowledged:
            return
        if job_id in ("", "None"):
            self.refused += 1
            return
        self.acknowledged[token] = job_id
        self.answers.seconds.append(time.perf_counter() - self.said[token])

    @property
    def waits(self) -> bool:
        """Return whether recent turns are not answered yet."""
        last = list(self.said)[-20:]
        return any(token not in self.acknowledged for token in last)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: duration, load, number of kills."""
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=50.0, help="messages a second")
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--every", type=int, default=5, help="every so many messages are a turn that is recorded")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--consider", choices=("off", "mentions", "all"), default="all")
    parser.add_argument("--directory", type=Path, help="a folder on the disk to use (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Chat, kill, restart and count."""
    title = f"soak: {options.rate:g} messages a second from {options.groups} groups, {options.minutes:g} minutes"
    report = Report(title, ("figure", "value"))
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        home = Path(folder)
        prepare(home, {"companion": COMPANION}, (f"COGNITIVE_MEMORY__CAPTURE__AUTO_CONSIDER={options.consider}",))
        chat, beside = asyncio.run(_watched(home, options))
        left = _waiting(data_of(home))
        drained = Sample()
        with drained.watch():
            events, memos, stuck = asyncio.run(_remembered(data_of(home)))
        _say_of_chat(report, chat, options.kills)
        _say_of_truth(report, chat, events, memos, stuck)
        report.add("jobs waiting when the bot was stopped", left)
        report.add("s to open, drain and export them", drained.seconds[0])
        _say_of_memory(report, chat.lives)
        _say_of_loop(report, home)
        report.add("a bystander's longest ms, starting included", beside)
        log = (home / "bot.log").read_text("utf-8", "replace")
        report.add("warnings in the bot's log", log.count("[WARNING]"))
        report.add("errors in the bot's log", log.count("[ERROR]"))
    report.notes.append("slopes after the warm-up of each process that lived long enough; gaps in the bot's event loop")
    return report


async def _watched(home: Path, options: argparse.Namespace) -> tuple[Chat, float]:
    """Chat; also return the longest delay in ms of a bystander process that only sleeps."""
    async with bystander() as beside:
        chat = await _chatted(home, options)
        return chat, await beside.longest()


async def _chatted(home: Path, options: argparse.Namespace) -> Chat:
    """Run all processes of the bot, one after the other; each but the last is killed."""
    dice = random.Random(options.seed)
    seconds = 60 * options.minutes
    chat, lines, began = Chat(dice), _lines(options, dice), time.perf_counter()
    for until in (*_moments(options.kills, seconds, dice), seconds):
        bot = await asyncio.to_thread(start, home)
        life = Life(time.perf_counter())
        chat.lives.append(life)
        looking = asyncio.create_task(_look(life, bot.process.pid))
        try:
            await _lived(bot, chat, lines, began, until, is_last=until == seconds)
        finally:
            looking.cancel()
            await asyncio.to_thread(bot.stop)
    return chat


async def _lived(
    bot: BotProcess,
    chat: Chat,
    lines: Iterator[tuple[float, str, int, int]],
    began: float,
    until: float,
    *,
    is_last: bool,
) -> None:
    async with bot.client() as client:
        taking = asyncio.create_task(_take(client, chat))
        try:
            await _talk(client, chat, lines, began, until)
            if is_last:
                await _answered(chat)
            else:
                await asyncio.sleep(chat.dice.random() * STRIKE)
                await asyncio.to_thread(bot.kill)
                await asyncio.wait({client.answering} if client.answering else set(), timeout=5)
        finally:
            await asyncio.sleep(0)
            taking.cancel()
            while not client.everything.empty():
                chat.take(client.everything.get_nowait())


async def _talk(
    client: OneBotClient, chat: Chat, lines: Iterator[tuple[float, str, int, int]], began: float, until: float
) -> None:
    """Send lines when due, up to the first turn after ``until``; lines due while the bot was away are skipped."""
    connected = time.perf_counter() - began
    for due, text, group, user in lines:
        if due < connected:
            chat.unsaid += 1
            continue
        await asyncio.sleep(max(began + due - time.perf_counter(), 0))
        with suppress(ConnectionClosed):
            await _say(client, chat, text, group, user)
        if due >= until and not text:
            return


async def _say(client: OneBotClient, chat: Chat, text: str, group: int, user: int) -> None:
    if text:
        plain = [{"type": "text", "data": {"text": text}}]
        await client.say(text, group=group, user=user, name=f"群友{user % 100}", message=plain)
    else:
        token = f"t{len(chat.said):06d}e"
        chat.said[token] = time.perf_counter()
        await client.say(token, group=group, user=user, name=f"群友{user % 100}")
    chat.messages += 1


def _lines(options: argparse.Namespace, dice: random.Random) -> Iterator[tuple[float, str, int, int]]:
    """Yield all lines: due time, text ("" for a turn), group and person."""
    speech = Speech(options.seed)
    for number in count():
        group = dice.randrange(options.groups)
        user = FIRST_PERSON + 100 * group + dice.randrange(PEOPLE)
        text = speech.text(dice.randint(4, 30))
        if number % options.every == 0:
            text = ""
        elif number % LIKED == 0:
            text = f"我喜欢{text[:3]}茶"
        yield number / options.rate, text, FIRST_GROUP + group, user


def _moments(kills: int, seconds: float, dice: random.Random) -> list[float]:
    """Return a random moment in each of ``kills`` equal parts of the middle."""
    first, last = (share * seconds for share in MIDDLE)
    return [first + (last - first) * (number + dice.random()) / kills for number in range(kills)]


async def _take(client: OneBotClient, chat: Chat) -> None:
    while True:
        chat.take(await client.everything.get())


async def _answered(chat: Chat) -> None:
    deadline = time.perf_counter() + QUIET
    while chat.waits and time.perf_counter() < deadline:  # noqa: ASYNC110  # the answers come over a socket
        await asyncio.sleep(0.1)


async def _look(life: Life, pid: int) -> None:
    process = psutil.Process(pid)
    while True:
        bot, children = await asyncio.to_thread(lambda: (resident(process), children_resident(pid)))
        if bot:
            life.looks.append(Look(time.perf_counter(), bot, children))
        await asyncio.sleep(SAMPLED)


def _waiting(data: Path) -> int:
    return sum(1 for state in ("pending", "processing") for _ in (data / "queues" / state).glob("*.json"))


async def _remembered(data: Path) -> tuple[Counter[str], Counter[str], int]:
    """Drain, export, and count events (as often as they were seen), memos by their token, and stuck jobs."""
    events, memos = Counter[str](), Counter[str]()
    async with core.CognitiveMemory.open(core.Settings(), data) as memory:
        assert await memory.drain(600)
        jobs = (await memory.status()).jobs
        lines = await exported(memory)
    for row in map(orjson.loads, lines):
        for in_event, in_memo in TOKEN.findall(row.get("text", "")):
            if row["type"] == "event" and in_event:
                events[in_event] += row.get("count", 1)
            if row["type"] == "memo" and in_memo:
                memos[in_memo] += 1
    return events, memos, jobs.pending + jobs.processing + jobs.failed


def _say_of_chat(report: Report, chat: Chat, kills: int) -> None:
    report.add("kills", kills)
    report.add("messages said", chat.messages)
    report.add("messages due while the bot was away", chat.unsaid)
    report.add("turns said", len(chat.said))
    report.add("turns acknowledged", len(chat.acknowledged))
    report.add("turns refused", chat.refused)
    report.add("acknowledgement p50 ms", chat.answers.p50)
    report.add("acknowledgement p95 ms", chat.answers.p95)
    report.add("acknowledgement longest ms", 1000 * max(chat.answers.seconds))


def _say_of_truth(report: Report, chat: Chat, events: Counter[str], memos: Counter[str], stuck: int) -> None:
    lost = sum(not events[token] or not memos[token] for token in chat.acknowledged)
    twice = sum(events[token] > 1 or memos[token] > 1 for token in chat.said)
    report.add("lost", lost)
    report.add("twice", twice)
    report.add("stuck jobs", stuck)
    report.add("kept though not acknowledged", len(events.keys() - chat.acknowledged.keys()))
    report.failed = bool(lost or twice or stuck) or not chat.acknowledged


def _say_of_memory(report: Report, lives: Sequence[Life]) -> None:
    for name, life in (("first", lives[0]), ("last", lives[-1])):
        if not (looks := life.settled):
            continue
        bot, children = life.growth()
        report.add(f"{name} process, bot MB, from", looks[0].bot)
        report.add(f"{name} process, bot MB, to", looks[-1].bot)
        report.add(f"{name} process, bot MB a minute", bot)
        report.add(f"{name} process, children MB, from", looks[0].children)
        report.add(f"{name} process, children MB, to", looks[-1].children)
        report.add(f"{name} process, children MB a minute", children)
    report.add("most of bot and children, MB", max(look.bot + look.children for life in lives for look in life.looks))


def _say_of_loop(report: Report, home: Path) -> None:
    """Report the longest gap of each second: of all processes, and of the last one after its warm-up."""
    lives = [[float(line) for line in path.read_text("ascii").split()] for path in sorted(home.glob("gaps-*"))]
    settled = lives[-1][min(int(WARM_UP), len(lives[-1]) // 3) :]
    seconds = [gap for life in lives for gap in life]
    report.add("event loop, longest gap ms, starting included", max(seconds))
    report.add("event loop, longest gap ms, settled", max(settled))
    report.add("event loop, p95 of each second's longest ms", percentile(settled, 0.95))
