"""A20: events that no person is behind: the bot's own, its other accounts, anonymous members, bots answering bots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, cycle, islice
from typing import Any

import nonebot

from ..fault_row import Extent, Row, Seen
from . import theatre

EVENTS = 2_000
MOST_TURNS = 1_000
SEEDS = (
    "/记忆 帮助",
    "/记忆 列表",
    "/记忆 状态",
    "/记忆 记住 /记忆 列表",
    "/记忆 搜索 /记忆 帮助",
    "/memory nothing",
    "/记忆",
)
SAID = ("我喜欢乌龙茶，记住了", "/记忆 清空", "/记忆 统计", "/记忆 记住 我是群主")
OTHER_ACCOUNT = 3_850_617_295
_people, _groups = count(2_200_001), count(720_001)


async def a20(extent: Extent) -> Row:
    """Send events of nobody; none may be stored or privileged, and two bots that answer each other must fall silent."""
    async with theatre.opened() as memory:
        sent = extent.of(EVENTS, 60)
        privileged = await _nobodies(sent)
        await memory.drain(theatre.PATIENCE)
        totals = (await memory.status()).totals
        seen = Seen(lost=totals.messages + totals.events + totals.pins, twice=privileged)
        seen["anonymous admins that bare GROUP_ADMIN lets pass"] = await _bare()
        seen["turns of two bots joined"] = max([await _turns(seed, joined=True) for seed in SEEDS])
        seen["answers a minute to one that repeats"] = max([await _turns(seed, joined=False) for seed in SEEDS])
    return seen.row(sent + len(SEEDS) * 2, failed=max(seen.values()) >= MOST_TURNS)


async def _nobodies(wanted: int) -> int:
    """Send events of nobody; return how many were answered as somebody who may do something."""
    from nonebot_plugin_cognitive_memory.replies import commands  # noqa: PLC0415  # after NoneBot's start

    stage, privileged = theatre.a_stage(), 0
    stage.answers["get_group_member_info"] = {"role": "owner"}
    bots: dict[str, Any] = nonebot.get_driver()._bots  # noqa: SLF001  # what a second connected account leaves there
    bots[str(OTHER_ACCOUNT)] = stage.bot
    for event in islice(cycle([make for said in SAID for make in _of(said)]), wanted):
        answer = await theatre.heard(stage, event())
        privileged += bool(answer) and answer != commands.NOBODY and answer[:5] != commands.TOO_OFTEN[:5]
    del bots[str(OTHER_ACCOUNT)]
    return privileged


def _of(said: str) -> Iterator[Callable[[], Any]]:
    """Yield makers of events with these words that no person is behind."""
    from tests.plugin.stage import BOT  # noqa: PLC0415  # imports adapters

    anonymous = {"anonymous": {"id": 1, "name": "匿名", "flag": "x"}, "sub_type": "anonymous"}
    as_admin = {"sender": {"user_id": 80_000_000, "nickname": "匿名", "card": "", "role": "owner"}}
    operator = int(theatre.SUPERUSERS[0])
    yield lambda: theatre.a_message(said, BOT, next(_groups))
    yield lambda: theatre.a_message(said, BOT)
    yield lambda: _sent_by_itself(said)
    yield lambda: theatre.a_message(said, OTHER_ACCOUNT, next(_groups))
    yield lambda: theatre.a_message(said, OTHER_ACCOUNT)
    yield lambda: theatre.a_message(said, 80_000_000, next(_groups), **anonymous)
    yield lambda: theatre.a_message(said, 80_000_000, next(_groups), **anonymous, **as_admin)
    yield lambda: theatre.a_message(said, operator, next(_groups), **anonymous)
    yield lambda: theatre.a_message(said, next(_people), next(_groups), sub_type="anonymous")


def _sent_by_itself(said: str) -> Any:
    """Return the event by which some platforms report what the bot itself sent."""
    from nonebot.adapters.onebot import v11  # noqa: PLC0415  # adapters after nonebot.init

    sent = theatre.a_message(said, next(_people), next(_groups)).model_dump(mode="json")
    return v11.Adapter.json_to_event({**sent, "post_type": "message_sent"})


async def _bare() -> int:
    """Return whether NoneBot's own permission lets an anonymous member with an admin's role pass."""
    from nonebot.adapters.onebot.v11 import GROUP_ADMIN  # noqa: PLC0415  # adapters after nonebot.init

    sender = {"user_id": 80_000_000, "nickname": "匿名", "card": "", "role": "admin"}
    anonymous = {"id": 1, "name": "匿名", "flag": "x"}
    event = theatre.a_message("清空", 80_000_000, 1, anonymous=anonymous, sub_type="anonymous", sender=sender)
    return int(await GROUP_ADMIN(theatre.a_stage().bot, event))


async def _turns(seed: str, *, joined: bool) -> int:
    """Return the turns until silence of two bots that get each other's answers, or of one that gets its call again."""
    group, bots = next(_groups), [(theatre.a_stage(), next(_people)) for _ in range(2)]
    said = seed
    for turn in range(MOST_TURNS):
        at = turn % 2 if joined else 0
        said = await theatre.heard(bots[at][0], theatre.a_message(said, bots[1 - at][1], group))
        if not said:
            return turn
        said = said if joined else seed
    return MOST_TURNS
