"""Sends lines to a bot as soon as it can be reached, on a busy machine, and counts what its memory did not store.

A real bot is started as a process, next to busy loops. A real OneBot client connects as soon as the bot listens and
sends everything at once; a chat plugin ends a turn for every second line. With ``--held`` another process owns the data
directory until half of the lines are sent, so that every start has lines that arrive before its memory is open. Then
the bot is stopped, and the memory's export is compared with what was sent. ``--demos`` runs the demo beside the same
loops and compares the turns that it reports as ended and as recorded.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

import cognitive_memory_core as core
from tests.support.onebot import ROOT, BotProcess, OneBotClient, data_of, prepare, start

from .measure import Report

GROUPS, PEOPLE = 5, 8
PATIENCE = 600.0  # seconds until a bot must have handled all lines
TURNS = re.compile(r"聊天插件结束了 (\d+) 轮，记下 (\d+) 轮")
NUMBER = re.compile(r"第(\d+)号")
EXACT = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
ENV = (
    "LOG_LEVEL=WARNING",
    "COGNITIVE_MEMORY__VECTOR_STORE__BACKEND=exact",
    "COGNITIVE_MEMORY__HISTORIAN__SHUTDOWN_SECONDS=90",  # a busy machine may be slow to release a directory
)
COMPANION = """
from nonebot import on_message, require
from nonebot.adapters import Event

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import RecordEnd, get_memory

chat = on_message(priority=50)


@chat.handle()
async def turn(event: Event, record_end: RecordEnd):
    is_early, text, job = not get_memory().is_running, event.get_plaintext().strip(), "none was ended"
    if "轮" in text:
        job = await record_end("答过：" + text, [text.replace("我", "说话的人")])
    with open("handled", "a", encoding="ascii") as file:
        file.write(f"{event.message_id} {int(is_early)} {int(job is not None)}\\n")
"""


@dataclass(frozen=True)
class Outcome:
    """One start: the lines that came before the memory was open, and what is missing in the end."""

    early: int
    lost_lines: int
    lost_turns: int
    not_considered: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of starts, lines, loops and demo runs."""
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--lines", type=int, default=100, help="said in each start")
    parser.add_argument("--loops", type=int, default=4, help="busy loops beside the bot")
    parser.add_argument("--held", action="store_true", help="another owner holds the directory for the first half")
    parser.add_argument("--demos", type=int, default=0, help="runs of the demo")


def run(options: argparse.Namespace) -> Report:
    """Run the starts and count; then run the demos."""
    columns = ("run", "said", "came early", "lines lost", "turns ended", "turns lost", "lines not considered")
    report = Report(f"early: lines and turns from the moment of connecting, {options.loops} busy loops beside", columns)
    with busy(options.loops):
        for number in range(1, options.starts + 1):
            found = asyncio.run(_started(options.lines, held=options.held))
            turns = options.lines // 2
            report.add(
                f"start {number}", options.lines, found.early, found.lost_lines, turns, found.lost_turns,
                found.not_considered,
            )  # fmt: skip
            report.failed |= bool(found.lost_lines or found.lost_turns or found.not_considered)
            print(report.rows[-1], file=sys.stderr, flush=True)
        for number in range(1, options.demos + 1):
            ended, recorded, status = _demo()
            report.add(f"demo {number}", "", "", "", ended, ended - recorded, "")
            report.failed |= bool(status or ended != recorded or not ended)
            print(report.rows[-1], file=sys.stderr, flush=True)
    report.notes.append("came early: lines that the chat plugin was handed before the memory was open")
    report.notes.append("not considered: lines without a turn, each worth an event, of which there is none in the end")
    return report


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Run busy loops while a block runs."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for loop in running:
            loop.kill()
            loop.wait()


async def _started(lines: int, *, held: bool) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        prepare(home, {"companion": COMPANION}, ENV)
        await _spoken_to(home, lines, held=held)
        rows = [row.split() for row in (home / "handled").read_text("ascii").splitlines()]
        early = sum(int(is_early) for _, is_early, _ in rows)
        refused = sum(not int(is_recorded) for _, _, is_recorded in rows)
        return await _counted(home, lines, early, refused)


async def _spoken_to(home: Path, lines: int, *, held: bool) -> None:
    """Start a bot, send everything as soon as it can be reached, and stop it after it has handled all lines."""
    async with AsyncExitStack() as owner:
        if held:
            await owner.enter_async_context(core.CognitiveMemory.open(EXACT, data_of(home), background=False))
        bot = start(home)
        try:
            async with bot.client() as client:
                await _say(client, range(lines // 2))
                await owner.aclose()
                await _say(client, range(lines // 2, lines))
                await _handled(bot, lines)
        finally:
            bot.stop()


async def _say(client: OneBotClient, numbers: Sequence[int]) -> None:
    for number in numbers:
        what = "轮" if number % 2 else "句"
        await client.say(
            f"这一{what}：我喜欢喝第{number}号茶",
            group=700_001 + number % GROUPS,
            user=2_000_001 + number % PEOPLE,
            name=f"茶客{number % PEOPLE}",
        )


async def _handled(bot: BotProcess, lines: int) -> None:
    deadline, path = time.monotonic() + PATIENCE, bot.home / "handled"
    while time.monotonic() < deadline and bot.process.poll() is None:
        if path.exists() and len(path.read_bytes().splitlines()) >= lines:
            return
        await asyncio.sleep(0.2)
    raise AssertionError(bot.log())


async def _counted(home: Path, lines: int, early: int, refused: int) -> Outcome:
    """Drain the memory that the bot left, export it, and compare it with what was sent."""
    data = data_of(home)
    async with core.CognitiveMemory.open(EXACT, data) as memory:
        assert await memory.drain(PATIENCE)
        await memory.export(home / "out.jsonl")
    found: dict[str, set[int]] = {"message": set(), "memo": set(), "event": set()}
    for line in (home / "out.jsonl").read_bytes().splitlines():
        row = orjson.loads(line)
        if row.get("type") in found:
            found[row["type"]].update(map(int, NUMBER.findall(row["text"])))
    said, turns = set(range(lines)), set(range(1, lines, 2))
    lost_turns = turns - (found["memo"] & found["event"])
    assert refused <= len(lost_turns), "a turn of which no id was given is not there"
    return Outcome(early, len(said - found["message"]), len(lost_turns), len(said - turns - found["event"]))


def _demo() -> tuple[int, int, int]:
    """Run the demo; return the turns that it ended and recorded, and its exit status."""
    command = [sys.executable, "-m", "cognitive_memory_core.cli", "demo"]
    with tempfile.TemporaryDirectory() as home:
        environ = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        ended = subprocess.run(
            command, cwd=home, env={**os.environ, **environ}, capture_output=True, encoding="utf-8", check=False
        )  # fmt: skip
    counts = TURNS.search(ended.stdout)
    return (int(counts[1]), int(counts[2]), ended.returncode) if counts else (0, 0, ended.returncode)
