"""A31: a chat plugin collects messages of two places in one queue, and one handler asks its model for all of them."""

from __future__ import annotations

import random
import tempfile
from itertools import count
from pathlib import Path

from ..fault_row import Extent, Row, Seen
from . import theatre

QUEUES = 200
LINES = 6  # in each queue, by the two places in turn
FORMS = ("{}", "阿棠：{}", '{{"user": "阿棠", "text": "{}"}}')
SHORT = ("在吗", "好", "晚安")
SIGNS = "今晚一起吃火锅去哪家好周五天气怎么样帮我查下车票几点出发"
_people, _groups = count(2_400_001), count(740_001)


async def a31(extent: Extent) -> Row:
    """Give two places a fact each; no request for a line of one may hold the fact of the other."""
    dice, queues = random.Random(extent.seed), extent.of(QUEUES, 40)
    wrong = served = 0
    with tempfile.TemporaryDirectory() as folder:
        async with theatre.opened():
            from nonebot_plugin_cognitive_memory.bridges import openai_calls  # noqa: PLC0415  # after NoneBot's start
            from tests.plugin import one_queue  # noqa: PLC0415  # as above
            from tests.plugin.stage import loaded_plugin  # noqa: PLC0415  # as above

            with loaded_plugin(Path(folder), one_queue.MODULE, one_queue.PLUGIN) as chat:
                openai_calls.allow(one_queue.MODULE)
                for number in range(queues):
                    places = [(next(_people), dice.choice((None, next(_groups)))) for _ in range(2)]
                    facts = [f"暗号是{number}号{word}" for word in ("冰岛", "花生")]
                    stage = theatre.a_stage()
                    theatre.unhurried()
                    for place, fact in zip(places, facts, strict=True):
                        await theatre.heard(stage, theatre.a_message(f"/记忆 记住 {fact}", *place))
                    said = _lines(dice)
                    heard = [theatre.a_message(text, *places[at % 2]) for at, text in enumerate(said)]
                    prompts = await one_queue.prompts_of(chat, stage, *heard, form=dice.choice(FORMS))
                    wrong += sum(facts[1 - at % 2] in prompt for at, prompt in enumerate(prompts))
                    served += sum(facts[at % 2] in prompt for at, prompt in enumerate(prompts))
    seen = Seen(lost=wrong, queues=queues, requests_with_their_own_context=served)
    return seen.row(queues * LINES, failed=not served)


def _lines(dice: random.Random) -> list[str]:
    """Return lines of two places in turn; most are equal to, part of or longer than one before, or very short."""
    said = ["".join(dice.sample(SIGNS, 8))]
    while len(said) < LINES:
        before, start = dice.choice(said), dice.randrange(4)
        said.append(
            dice.choice((before, f"你们{before}？", before[start:] or before, *SHORT, "".join(dice.sample(SIGNS, 8))))
        )
    return said
