"""Kill the bot repeatedly while it works: acknowledged turns are neither lost nor recorded twice.

``JOURNEY_KILLS=10 JOURNEY_TURNS=500 python -m pytest tests/journeys/test_kills.py -s`` runs the published size, which
is also the nightly one; the suite runs a smaller one.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cognitive_memory_core import CognitiveMemory, Scene, Settings
from tests.support.onebot import AHE, GROUP, MILI, OTHER_GROUP, BotProcess, OneBotClient, data_of, prepare, start
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE

KILLS = int(os.environ.get("JOURNEY_KILLS", sized(2, 10)))
TURNS = int(os.environ.get("JOURNEY_TURNS", sized(48, 500)))
AT_ONCE = 8
PLACES = ((GROUP, AHE), (GROUP, MILI), (OTHER_GROUP, AHE), (None, AHE), (None, MILI))
ENV = ("COGNITIVE_MEMORY__CAPTURE__AUTO_CONSIDER=off",)

COMPANION = """
from nonebot import on_message, require
from nonebot.adapters import Event

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import RecordEnd

chat = on_message(priority=50)


@chat.handle()
async def turn(event: Event, record_end: RecordEnd):
    token = event.get_plaintext()
    job_id = await record_end("备忘" + token, ["暗号是" + token])
    await chat.finish(f"{token} {job_id}")
"""


@dataclass
class AckLedger:
    """The test's own record of what the bot acknowledged; each line is on disk before it counts."""

    path: Path
    tokens: set[str] = field(default_factory=set)

    def take(self, reply: str) -> None:
        """Append an acknowledgement to the record."""
        token, _, job_id = reply.partition(" ")
        assert job_id not in ("", "None")
        with self.path.open("a") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.tokens.add(token)


@pytest.mark.timeout(sized(240, 1200))
async def test_nothing_acknowledged_is_lost_or_doubled(tmp_path: Path) -> None:
    """After kills at random moments, each acknowledged turn is one event and one memo; no turn is recorded twice."""
    dice = random.Random(7)
    acked = AckLedger(tmp_path / "acked")
    tokens = [f"x{dice.getrandbits(64):016x}" for _ in range(TURNS)]
    prepare(tmp_path, {"companion": COMPANION}, ENV)
    share = -(-TURNS // (KILLS + 1))
    for number in range(0, TURNS, share):
        is_last = number + share >= TURNS
        bot = start(tmp_path)
        try:
            await _play(bot, tokens[number : number + share], acked, None if is_last else dice)
        finally:
            _ = bot.stop() if is_last else bot.kill()
    events, memos = await _remembered(tmp_path)
    lost = {token for token in acked.tokens if events[token] < 1 or memos[token] < 1}
    doubled = {token for token in tokens if events[token] > 1 or memos[token] > 1}
    print(f"\nkills {KILLS}, turns {TURNS}, acked {len(acked.tokens)}, lost {len(lost)}, doubled {len(doubled)}")
    assert len(acked.tokens) > TURNS / 2
    assert not lost
    assert not doubled


async def _play(bot: BotProcess, tokens: list[str], acked: AckLedger, dice: random.Random | None) -> None:
    """Send tokens to many places at once; with a random source, stop listening at a random moment before the kill."""
    async with bot.client() as client:
        await bot.opened()
        until = len(tokens) if dice is None else dice.randrange(len(tokens) // 2, len(tokens))
        answers = 0
        for at in range(0, len(tokens), AT_ONCE):
            some = tokens[at : at + AT_ONCE]
            for place, token in enumerate(some, at):
                group, user = PLACES[place % len(PLACES)]
                await client.say(token, group=group, user=user)
            for _ in some:
                if answers == until:
                    await asyncio.sleep(dice.random() * 0.05 if dice else 0)
                    return _take_rest(client, acked)
                acked.take(await client.reply())
                answers += 1
    return None


def _take_rest(client: OneBotClient, acked: AckLedger) -> None:
    while not client.everything.empty():
        acked.take(client.everything.get_nowait())


async def _remembered(home: Path) -> tuple[Counter[str], Counter[str]]:
    """Count each token in the events (with their occurrences) and in the memos, after all jobs are done."""
    events, memos = Counter[str](), Counter[str]()
    async with CognitiveMemory.open(Settings(), data_of(home)) as memory:
        assert await memory.drain(PATIENCE)
        assert not await memory.failed_jobs()
        for page in range(0, 10 * TURNS, 200):
            for event in await memory.events(Scene.operator(), limit=200, offset=page):
                events[event.text.partition("暗号是")[2]] += event.count
        for group, user in set(PLACES):
            if (group, user) != (GROUP, MILI):  # the memos of a group are counted once
                scene = Scene.group(str(group), str(user)) if group else Scene.private(str(user))
                memos.update(memo.text.removeprefix("备忘") for memo in await memory.memos(scene, limit=10 * TURNS))
    return events, memos
