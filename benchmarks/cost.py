"""The cost of a hundred turns: model calls and estimated tokens by purpose, with turns 30 s apart and all at once.

The model answers in 0 ms; it gets the prompts and schemas that a real one gets. For comparison: the cost of the seed's
design with the same prompts, which is one call per observation, then one for each profile that it concerns, never
batched. The clock is simulated; only waiting for the loops to read it takes real time.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace

import cognitive_memory_core as core
from tests.support.clock import FrozenClock
from tests.support.puppet import Puppet

from .answers_gold import CountedChat
from .faults import world
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of turns."""
    parser.add_argument("--turns", type=int, default=100)


def run(options: argparse.Namespace) -> Report:
    """Play the turns in each way."""
    return asyncio.run(_run(options.turns))


async def _run(turns: int) -> Report:
    columns = ("way", "calls", *(f"{one} calls" for one in PURPOSES), "tokens", *(f"{one} tokens" for one in PURPOSES))
    report = Report(f"cost: {turns} turns with {OBSERVATIONS} observations, {PEOPLE} people, one group", columns)
    ways = {"30 s apart": _apart, "all at once": _at_once, "the seed's design": _as_seeds}
    chats, stored = dict[str, CountedChat](), list[int]()
    for name, play in ways.items():
        clock, chat = FrozenClock(), CountedChat(Puppet())
        async with world.a_memory(world.model_settings(), chat=chat, clock=clock) as (memory, _):
            await play(memory, clock, _turns(turns, clock))
            stored.append(sum(event.count for event in await world.listed(memory)))
        calls, tokens = ([kind[one] for one in PURPOSES] for kind in (chat.calls, chat.tokens))
        report.add(name, chat.calls.total(), *calls, chat.tokens.total(), *tokens)
        chats[name] = chat
    apart, at_once, seed = chats.values()
    share = apart.tokens.total() / max(seed.tokens.total(), 1)
    report.notes.append(f"tokens, 30 s apart against the seed's: {100 * share:.0f} %")
    report.notes.append("tokens: estimated, instructions + form + prompt + answer")
    wanted = turns * OBSERVATIONS
    is_whole = stored[0] == stored[1] == wanted
    is_cheap = apart.calls.total() <= MOST_APART and at_once.calls.total() <= MOST_AT_ONCE and share <= MOST_SHARE
    if not is_whole:
        report.notes.append(f"STORED {stored[0]} and {stored[1]} of {wanted}")
    report.failed = not is_whole or (turns == 100 and not is_cheap)
    return report


async def _apart(memory: core.CognitiveMemory, clock: FrozenClock, turns: Sequence[core.Turn]) -> None:
    """Play the turns 30 s apart; work that comes due is done, and what waits at the end is merged too."""
    for turn in turns:
        await memory.remember(turn)
        await world.wait_idle(memory, PATIENCE)
        clock.advance(seconds=APART)
        await asyncio.sleep(LOOKED)
    assert await memory.drain(PATIENCE)


async def _at_once(memory: core.CognitiveMemory, _: FrozenClock, turns: Sequence[core.Turn]) -> None:
    """Queue all turns, then process them."""
    await memory.pause()
    for turn in turns:
        await memory.remember(turn)
    await memory.resume()
    assert await memory.drain(PATIENCE)


async def _as_seeds(memory: core.CognitiveMemory, _: FrozenClock, turns: Sequence[core.Turn]) -> None:
    """Play the turns as the seed does: each observation alone, and each profile that it concerns at once."""
    for turn in turns:
        for observation in turn.observations:
            await memory.remember(replace(turn, observations=[observation]))
            assert await memory.drain(PATIENCE)


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
        core.Message(f"m{number}-{at}", scene((person + at) % PEOPLE), text, clock.now())
        for at, text in enumerate(said)
    ]
    return core.Turn(scene(person), observations=[own, other], source_message=own, recent_messages=lines)


def scene(person: int) -> core.Scene:
    """Return the group's scene of one of its people."""
    name = f"阿{'甲乙丙丁戊己庚辛壬癸'[person]}"
    return core.Scene.group(GROUP, str(2_000_001 + person), user_name=name, group_name="读书会")
