"""A13: who may use which command where; every cell of role, place, command and language."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from itertools import count
from typing import Any

import cognitive_memory_core as core

from ..fault_row import Extent, Row, Seen, told
from . import theatre

MEMBERS = frozenset({
    "help", "status", "list", "show", "search", "add", "pins", "forget", "forget_me", "correct", "profile", "group",
    "share", "consider", "export", "optout", "optin", "incognito", "catchup", "why",
})  # fmt: skip
ADMINS = frozenset({
    "on", "off", "record", "recall", "summarize", "pin", "clear", "beliefs", "history", "changes", "evolve", "retire",
    "restore", "suggestions",
})  # fmt: skip
OPERATORS = frozenset({
    "backfill", "daily", "stats", "queue", "failed", "retry", "reindex", "view", "rollback", "config", "pause",
    "resume", "console",
})  # fmt: skip
LIMITS = {"off": "2h", "record": "2小时", "recall": "到明天早上8点"}  # these are called with and without a time limit
WORDS = {
    **dict.fromkeys(("show", "forget", "history", "retire", "restore"), "1"),
    **dict.fromkeys(("search", "add", "pin"), "乌龙茶"),
    **dict.fromkeys(("view", "rollback"), "2000001"),
    "correct": "1 阿棠喜欢红茶",
    "share": "off",
    "incognito": "0",
}
ROLES: Mapping[str, frozenset[str]] = {  # in a group: the role, and what it may use
    "member": MEMBERS,
    "member whose event claims owner": MEMBERS,
    "admin of another group": MEMBERS,
    "admin": MEMBERS | ADMINS,
    "owner": MEMBERS | ADMINS,
    "superuser": MEMBERS | ADMINS | OPERATORS,
    "anonymous admin": frozenset(),
    "member where the platform is silent": MEMBERS,
}
PAIRS = 20
_people, _groups = count(2_100_001), count(700_001)


async def a13(extent: Extent) -> Row:
    """Ask every command in every role; none may do more than its role, and none that may is refused."""
    seen = Seen()
    async with theatre.opened() as memory:
        for role in ROLES:
            await _in_a_group(memory, role, seen, extent.of(1, 4))
        await _in_private(seen, extent.of(1, 4))
        await _quoted(seen, extent.of(1, 4))
        await _confirmed(seen)
        await _two_lists(seen, extent.of(PAIRS, 2))
    is_bad = seen["changed without permission"] or seen["not in the table"]
    return seen.row(seen.pop("cells"), told(roles=len(ROLES) + 2), failed=is_bad)


def _judge(seen: Seen, cell: str, *, is_right: bool) -> None:
    """Count a cell."""
    seen["cells"] += 1
    if not is_right:
        seen.wrong("lost", cell)


def _calls(seen: Seen, step: int) -> Iterator[tuple[str, str]]:
    """Yield each command's name with its calls in both languages."""
    from nonebot_plugin_cognitive_memory.command_table import COMMANDS  # noqa: PLC0415  # after NoneBot's start

    for name, command in list(COMMANDS.items())[::step]:
        if name not in MEMBERS | ADMINS | OPERATORS:
            seen["not in the table"] += 1
            continue
        for call in (f"/memory {name}", f"/记忆 {command.words[0]}"):
            yield name, f"{call} {WORDS.get(name, '')}".strip()
            if name in LIMITS:
                yield name, f"{call} {LIMITS[name]}"


def _is_refused(answer: str) -> bool:
    from nonebot_plugin_cognitive_memory.replies import commands  # noqa: PLC0415  # after NoneBot's start

    refusals = (commands.ADMINS_ONLY, commands.ADMIN_UNKNOWN, commands.SUPERUSERS_ONLY, commands.NOBODY)
    refusals = (*refusals, commands.OPERATOR_ONLY)
    return not answer or any(refusal in answer for refusal in (*refusals, commands.UNPROVEN, commands.NOT_YOURS))


async def _in_a_group(memory: core.CognitiveMemory, role: str, seen: Seen, step: int) -> None:
    """Ask each command as one role; who is refused must have changed nothing."""
    from nonebot.adapters.onebot import v11  # noqa: PLC0415  # adapters after nonebot.init

    stage, group = theatre.a_stage(), next(_groups)
    author = core.Scene.group(str(group), "2000001")
    at_home = group + 500_000 if role == "admin of another group" else group
    platform_role = role if role in {"admin", "owner"} else "admin" if "admin" in role else "member"
    for name, call in _calls(seen, step):
        fields = _fields(role)
        user = theatre.a_superuser() if role == "superuser" else next(_people)
        here = "member" if at_home != group else platform_role
        silent = role == "member where the platform is silent"
        stage.answers["get_group_member_info"] = v11.ActionFailed() if silent else {"role": here}
        await theatre.told(author, f"阿棠(2000001) 喜欢乌龙茶{name}")
        if name in {"show", "forget", "correct"}:  # their number belongs to a list that was shown
            await theatre.heard(stage, theatre.a_message("/记忆 列表", user, group, **fields))
        before = await _state(memory, author)
        answer = await theatre.heard(stage, theatre.a_message(call, user, group, **fields))
        may = name in ROLES[role] and not (name in {"forget", "correct"} and "admin" != role != "owner")
        may |= role == "superuser" and name != "correct"
        is_own_only = name in {"forget", "correct"} and not may
        _judge(seen, f"{role}: {call}", is_right=_is_right(name, answer, may=may, is_own_only=is_own_only))
        if not may:
            seen["changed without permission"] += await _state(memory, author) != before
        await memory.resume()
        await memory.set_switch(author, "on")


def _is_right(name: str, answer: str, *, may: bool, is_own_only: bool) -> bool:
    """Return whether an answer is one for somebody who may, or may not; somebody else's word is refused in its way."""
    if is_own_only:
        return _is_refused(answer) or "不是你说的" in answer
    return bool(answer) and _is_refused(answer) is not may


def _fields(role: str) -> dict[str, Any]:
    if role == "anonymous admin":
        anonymous = {"id": 1, "name": "匿名", "flag": "x"}
        return {"anonymous": anonymous, "sub_type": "anonymous", "sender": {"user_id": 80000000, "role": "admin"}}
    if "claims" in role:
        return {"sender": {"user_id": 1, "nickname": "群主", "card": "管理员(1000001)", "role": "owner"}}
    return {}


async def _state(memory: core.CognitiveMemory, author: core.Scene) -> object:
    """Return what commands of admins and superusers change: events, the group's pins, switch, its end, and pause."""
    pins = [pin.text for pin in await memory.pins(author) if not pin.owner_id]
    events = [(event.id, event.text) for event in await memory.events(author, limit=500)]
    may_record = await memory.may_record(author, datetime.now(timezone.utc))
    return events, pins, may_record, await memory.place_switch(author), (await memory.status()).paused


async def _in_private(seen: Seen, step: int) -> None:
    """In a private chat its person decides what admins decide in a group, but for pins of a group."""
    stage = theatre.a_stage()
    for is_superuser in (False, True):
        for name, call in _calls(seen, step):
            user = theatre.a_superuser() if is_superuser else next(_people)
            answer = await theatre.heard(stage, theatre.a_message(call, user))
            may = is_superuser or name not in OPERATORS
            is_right = bool(answer) and may != _is_refused(answer)
            _judge(seen, f"private, superuser {is_superuser}: {call}", is_right=is_right)
            if name == "pause" and is_superuser:
                await theatre.heard(stage, theatre.a_message("/记忆 启", theatre.a_superuser()))


async def _quoted(seen: Seen, step: int) -> None:
    """A command that is only quoted or forwarded is nobody's call."""
    stage, group = theatre.a_stage(), next(_groups)
    stage.answers["get_group_member_info"] = {"role": "owner"}
    for _, call in _calls(seen, step):
        quoted = {"time": 1, "message_type": "group", "message_id": 5, "real_id": 5, "message": call}
        sender = {"user_id": int(theatre.a_superuser()), "nickname": "主人", "card": "", "role": "owner"}
        forwarded = [{"type": "forward", "data": {"id": "1", "content": call}}]
        for event in (
            theatre.a_message("看看这个", next(_people), group, reply={**quoted, "sender": sender}),
            theatre.a_message(forwarded, next(_people), group),
            theatre.a_message([{"type": "json", "data": {"data": call}}], next(_people), group),
        ):
            _judge(seen, f"quoted: {call}", is_right=await theatre.heard(stage, event) == "")


async def _confirmed(seen: Seen) -> None:
    """A confirmation is the same person's, in the same place, for what was there, and not the same message again."""
    stage, group = theatre.a_stage(), next(_groups)
    stage.answers["get_group_member_info"] = {"role": "owner"}
    here = core.Scene.group(str(group), "2000001")

    async def answers(user: int, *, changes: bool = False, again: bool = False, place: int = group) -> str:
        await theatre.told(here, f"阿棠(2000001) 养了第 {next(_people)} 只猫")
        first = theatre.a_message("/记忆 清空", user, group)
        await theatre.heard(stage, first)
        if changes:
            await theatre.told(here, f"阿棠(2000001) 养了第 {next(_people)} 只狗")
        second = first if again else theatre.a_message("/记忆 清空", user, place)
        return await theatre.heard(stage, second)

    first, other = next(_people), next(_people)
    _judge(seen, "confirmed", is_right="删掉了" in await answers(first))
    _judge(seen, "content changed", is_right="删掉了" not in await answers(first, changes=True))
    _judge(seen, "delivered twice", is_right="删掉了" not in await answers(next(_people), again=True))
    _judge(seen, "another place", is_right="删掉了" not in await answers(next(_people), place=next(_groups)))
    await answers(next(_people), changes=True)
    answer = await theatre.heard(stage, theatre.a_message("/记忆 清空", other, group))
    _judge(seen, "somebody else", is_right="删掉了" not in answer)


async def _two_lists(seen: Seen, pairs: int) -> None:
    """Two groups list at the same time and delete number 2 each: each loses its own."""
    for _ in range(pairs):
        scenes = [core.Scene.group(str(next(_groups)), str(next(_people))) for _ in range(2)]
        for scene in scenes:
            for drink in ("乌龙茶", "红茶", "咖啡"):
                await theatre.told(scene, f"阿棠({scene.user_id}) 喜欢{drink}")
        left = await asyncio.gather(*map(_loses_second, scenes))
        _judge(seen, "two lists", is_right=all(left))


async def _loses_second(scene: core.Scene) -> bool:
    from nonebot_plugin_cognitive_memory import get_memory  # noqa: PLC0415  # after NoneBot's start

    stage, user, group = theatre.a_stage(), int(scene.user_id), int(scene.group_id)
    before = [event.id for event in await get_memory().events(scene)]
    await theatre.heard(stage, theatre.a_message("/记忆 列表", user, group))
    await theatre.heard(stage, theatre.a_message("/记忆 忘掉 2", user, group))
    return [event.id for event in await get_memory().events(scene)] == [before[0], *before[2:]]
