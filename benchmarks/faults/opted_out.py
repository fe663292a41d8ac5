"""A32: whoever opted out is named nowhere in what others said, by card or nickname; no word of others is lost."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone

import cognitive_memory_core as core

from ..fault_row import Extent, Row, Seen
from . import world

GROUPS = 200
LINES = 10  # under each card
SIGNS = "棠禾岚栀澄霁屿柚蓝桃榆枫"
WORDS = ("花生过敏", "羽毛球", "周末加班", "火锅底料", "露营装备", "期末考试")
START = datetime(2026, 3, 2, 1, 0, tzinfo=timezone.utc)


async def a32(extent: Extent) -> Row:
    """Let somebody of each group change cards, the last one being a word of the others, and opt out."""
    dice, injected, seen = random.Random(extent.seed), 0, Seen()
    async with world.a_memory(core.Settings.from_mapping(world.EXACT), background=False) as (memory, _):
        for group in range(extent.of(GROUPS, 5)):
            names, word = _names(dice), dice.choice(WORDS)
            other = core.Scene.group(f"{700_001 + group}", "8600000002", user_name="小雨")
            words = [f"我上次说过{word}的事", f"那就聊聊{word}吧"]
            injected += await _talked(memory, other, names, word, words)
            await memory.opt_out(f"{8_610_000_000 + group}")
            texts = await _read(memory, other, [*names, word])
            seen["lost"] += sum(any(name in text for name in names) for text in texts)
            seen["twice"] += sum(not any(line in text for text in texts) for line in words)
    return seen.row(injected)


def _names(dice: random.Random) -> list[str]:
    """Return a card, a later card and a nickname."""
    return ["".join(dice.sample(SIGNS, 3)) + mark for mark in ("儿", "君", "酱")]


async def _talked(
    memory: core.CognitiveMemory, other: core.Scene, names: list[str], word: str, words: list[str]
) -> int:
    """Log the talk of a group, which names the person also before their first line; return the lines of others."""
    number = int(other.group_id) - 700_001
    person = f"{8_610_000_000 + number}"
    card, later, nickname = names
    said = [(other, f"{card}今天来吗"), (other, words[0])]
    for worn in (card, later, word):
        here = core.Scene.group(other.group_id, person, user_name=worn, nickname=nickname)
        said += [(here, f"第 {n} 句闲话") for n in range(LINES)]
    said += [(other, f"{name}下周去冰岛") for name in names]
    said += [(other, f"记得带上{name}({person})的护照") for name in [*names, word]]
    said += [(other, words[1])]
    for n, (scene, text) in enumerate(said):
        await memory.observe(core.Message(f"{number}-{n}", scene, text, START + timedelta(minutes=n)))
    await memory.drain(60)
    return sum(scene is other for scene, _ in said)


async def _read(memory: core.CognitiveMemory, here: core.Scene, asked: list[str]) -> list[str]:
    """Return what the group can read: its latest lines, what searches for the names find, and contexts."""
    texts = [line.text for line in await memory.recent_messages(here, 60)]
    for name in asked:
        hits = await memory.search_events(here, f"{name}去哪里", kinds=("message",), top_k=20)
        found = [line for hit in hits for line in (hit.event.text, *(near.text for near in hit.neighbours))]
        lines = (await memory.context(here, "谁下周去冰岛，护照谁带")).text.splitlines()
        texts += [*found, *lines]
    return texts
