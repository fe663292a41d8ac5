"""The cost of a hundred turns: model calls and estimated tokens by purpose, with turns 30 s apart and all at once.

The model answers in 0 ms; it gets the prompts and schemas that a real one gets. For comparison: the cost of the seed's
design with the same prompts, which is one call per observation, then one for each profile that it concerns, never
batched. The clock is simulated; only waiting for the loops to read it takes real time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.text.terms import token_count
from tests.support.clock import FrozenClock
from tests.support.puppet import Puppet, Question

from .measure import Report

SEED = 7
PEOPLE, OBSERVATIONS = 10, 2
GROUP = "100001"
APART = 30.0  # seconds between two turns
LOOKED = 0.4  # real seconds within which every loop has read the clock
PATIENCE = 300.0
MOST_APART, MOST_AT_ONCE, MOST_SHARE = 160, 125, 0.4
PURPOSES = ("rewrite", "triage", "merge")
LIKES = ("乌龙茶", "爬山", "桌游", "听雨", "摄影", "写诗", "骑车", "做饭", "养猫", "看展", "修表", "游泳")
HABITS = ("喝茶之前洗杯子", "轮流记账", "十点以后不发语音", "每月换一次书", "迟到的人带零食", "文档放在网盘")


@dataclass
class Bill:
    """Calls and tokens by purpose."""

    calls: Counter[str] = field(default_factory=Counter[str])
    tokens: Counter[str] = field(default_factory=Counter[str])
    stored: int = 0

    @classmethod
    def of(cls, chat: Puppet, stored: int) -> Bill:
        """Sum up what a model was asked and what it wrote."""
        bill = cls(stored=stored)
        for purpose, question, answer in zip(chat.purposes, chat.asked, chat.written, strict=True):
            bill.calls[purpose] += 1
            bill.tokens[purpose] += _tokens(question) + token_count(answer)
        return bill


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of turns."""
    parser.add_argument("--turns", type=int, default=100)


def run(options: argparse.Namespace) -> Report:
    """Play the turns in each way."""
    return asyncio.run(_run(options.turns))


async def _run(turns: int) -> Report:
    columns = (
        "way",
        "calls",
        *(f"{purpose} calls" for purpose in PURPOSES),
        "tokens",
        *(f"{one} tokens" for one in PURPOSES),
    )
    report = Report(f"cost: {turns} turns with {OBSERVATIONS} observations, {PEOPLE} people, one group", columns)
    apart, at_once, seed = await _apart(turns), await _at_once(turns), await _as_seeds(turns)
    for name, bill in (("30 s apart", apart), ("all at once", at_once), ("the seed's design", seed)):
        calls, tokens = ([kind[one] for one in PURPOSES] for kind in (bill.calls, bill.tokens))
        report.add(name, bill.calls.total(), *calls, bill.tokens.total(), *tokens)
    share = apart.tokens.total() / max(seed.tokens.total(), 1)
    report.notes.append(f"tokens, 30 s apart against the seed's: {100 * share:.0f} %")
    report.notes.append("tokens: estimated, instructions + form + prompt + answer")
    wanted = turns * OBSERVATIONS
    is_whole = apart.stored == at_once.stored == wanted
    is_cheap = apart.calls.total() <= MOST_APART and at_once.calls.total() <= MOST_AT_ONCE and share <= MOST_SHARE
    if not is_whole:
        report.notes.append(f"STORED {apart.stored} and {at_once.stored} of {wanted}")
    report.failed = not is_whole or (turns == 100 and not is_cheap)
    return report


async def _apart(turns: int) -> Bill:
    """Play the turns 30 s apart; work that comes due is done, and what waits at the end is merged too."""
    clock, chat = FrozenClock(), Puppet()
    async with _opened(chat, clock) as memory:
        for turn in _turns(turns, clock):
            await memory.remember(turn)
            await _idle(memory)
            clock.advance(seconds=APART)
            await asyncio.sleep(LOOKED)
        assert await memory.drain(PATIENCE)
        return Bill.of(chat, await _stored(memory))


async def _at_once(turns: int) -> Bill:
    """Queue all turns, then process them."""
    clock, chat = FrozenClock(), Puppet()
    async with _opened(chat, clock) as memory:
        await memory.pause()
        for turn in _turns(turns, clock):
            await memory.remember(turn)
        await memory.resume()
        assert await memory.drain(PATIENCE)
        return Bill.of(chat, await _stored(memory))


async def _as_seeds(turns: int) -> Bill:
    """Play the turns as the seed does: each observation alone, and each profile that it concerns at once."""
    clock, chat = FrozenClock(), Puppet()
    async with _opened(chat, clock) as memory:
        for turn in _turns(turns, clock):
            for observation in turn.observations:
                await memory.remember(replace(turn, observations=[observation]))
                assert await memory.drain(PATIENCE)
        return Bill.of(chat, await _stored(memory))


@asynccontextmanager
async def _opened(chat: Puppet, clock: FrozenClock, daily_calls: int = 0) -> AsyncGenerator[core.CognitiveMemory, None]:
    given = {
        "vector_store": {"backend": "exact"},
        "daily_calls": daily_calls,
        "historian": {"poll_interval_seconds": 0.05},
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        settings = core.Settings.from_mapping(given)
        async with core.CognitiveMemory.open(settings, Path(folder) / "data", chat=chat, clock=clock) as memory:
            yield memory


def _turns(number: int, clock: FrozenClock) -> Sequence[core.Turn]:
    """Return turns that each say one thing about their person and, every second time, one about the group."""
    dice = random.Random(SEED)
    return [_turn(one, dice.randrange(PEOPLE), clock) for one in range(number)]


def _turn(number: int, person: int, clock: FrozenClock) -> core.Turn:
    name, user_id = f"阿{'甲乙丙丁戊己庚辛壬癸'[person]}", str(2_000_001 + person)
    label, place = f"{name}({user_id})", f"读书会({GROUP})"
    own = f"{label} 喜欢{LIKES[number % len(LIKES)]}，排第 {number} 位"
    other = (
        f"{place} 定了第 {number} 条规矩：{HABITS[number % len(HABITS)]}"
        if number % 2
        else f"{label} 第 {number} 次讲了怎样{HABITS[0]}"
    )
    said = [f"第 {number} 轮，说到{LIKES[(number + at) % len(LIKES)]}" for at in range(6)]
    lines = [
        core.Message(f"m{number}-{at}", _scene((person + at) % PEOPLE), text, clock.now())
        for at, text in enumerate(said)
    ]
    return core.Turn(_scene(person), observations=[own, other], source_message=own, recent_messages=lines)


def _scene(person: int) -> core.Scene:
    name = f"阿{'甲乙丙丁戊己庚辛壬癸'[person]}"
    return core.Scene.group(GROUP, str(2_000_001 + person), user_name=name, group_name="读书会")


async def _idle(memory: core.CognitiveMemory) -> None:
    while (jobs := (await memory.status()).jobs).pending or jobs.processing:  # noqa: ASYNC110  # nothing tells
        await asyncio.sleep(0.005)


async def _stored(memory: core.CognitiveMemory) -> int:
    found: list[core.Event] = []
    while page := await memory.events(core.Scene.operator(), limit=200, offset=len(found)):
        found += page
    return sum(event.count for event in found)


def _tokens(question: Question) -> int:
    form = json.dumps(dict(question.schema), ensure_ascii=False)
    return token_count(question.instructions) + token_count(question.prompt) + token_count(form)
