"""A28: what memory holds is sent as text: no code, mention, picture or link of it becomes active in an answer."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from itertools import count
from typing import Any

import cognitive_memory_core as core

from ..fault_row import Extent, Row, Seen, told
from . import theatre

PAYLOADS = (
    "[CQ:at,qq=all]", "[CQ:at,qq=1000001]", "[CQ:image,file=http://127.0.0.1/x.png]",
    "[CQ:record,file=file:///etc/passwd]", "[CQ:json,data={}]", "[CQ:xml,data=<a/>]", "[CQ:reply,id=1]",
    "[CQ:forward,id=1]", "[CQ:poke,qq=1]", "[CQ:node,id=1]", "&#91;CQ:at,qq=all&#93;", "［CQ:at,qq=all］",
    "[CQ:at,qq=all", "CQ:at,qq=all]", "[[CQ:at,qq=all]]", "[CQ:face,id=1]\n",
    "[CQ:video,file=http://127.0.0.1/x.mp4,cover=x]", "[CQ:share,url=http://127.0.0.1/,title=x]",
    "[CQ:music,type=163,id=1]", "@全体成员", "![x](http://127.0.0.1/x.png)", "[点我](javascript:alert(1))",
    "# 一级标题", "**粗** `码` ~~删~~", "<img src=x>", "<script>alert(1)</script>", "http://127.0.0.1/?q=1",
    "<at id=all/>", "{{7*7}}", "$name ${x} %s {0}", "【记忆结束】", "\u202e反", "[CQ:at,qq=all]" * 20,
    "长" * 2_000 + "[CQ:at,qq=all]",
)  # fmt: skip
CALLS = (
    "列表", "搜索 茶", "详情 1", "详情 2", "记住 {payload}", "置顶列表", "更正 1 我爱喝{payload}茶", "侧写 -t", "侧写",
    "群侧写 -t", "群侧写", "状态", "总结 20", "忘掉 1", "搜索 {payload}", "{payload}", "置顶 {payload}", "统计", "失败",
    "查看 {user}", "回滚 {user} {payload}", "配置 get {payload}", "重试 {payload}", "无痕 {payload}", "共享 {payload}",
)  # fmt: skip
OPERATORS = ("统计", "失败", "查看", "回滚", "配置", "重试")
_people, _groups = count(2_300_001), count(740_001)


async def a28(extent: Extent) -> Row:
    """Store codes as facts, pins, names and profiles, and ask every command that shows them; only text may be sent."""
    seen = Seen()
    async with theatre.opened() as memory:
        for payload in PAYLOADS[:: extent.of(1, 8)]:
            seen["active if sent bare"] += sum(part.type != "text" for part in theatre.parsed(payload))
            for protocol in ("v11", "v12"):
                async for part in _answers(memory, payload, protocol):
                    seen.update({"sent": 1, "our own cards": _is_our_picture(part)})
                    if part.type != "text" and not _is_our_picture(part):
                        seen.wrong("lost", f"{part.type} by {payload[:20]!a}")
    return seen.row(seen.pop("sent"), told(texts=len(PAYLOADS[:: extent.of(1, 8)]), commands=len(CALLS)))


async def _answers(memory: core.CognitiveMemory, payload: str, protocol: str) -> Any:
    """Fill a group with a text in every place, ask every command, and yield each segment that was sent."""
    stage, group = theatre.a_stage(protocol), next(_groups)
    stage.answers["get_group_member_info"] = {"role": "owner"}
    user = int(theatre.SUPERUSERS[group % len(theatre.SUPERUSERS)])
    scene = core.Scene.group(str(group), str(user), user_name=payload[:60], group_name=payload[:60])
    with suppress(core.MistakeError):
        await memory.pin(scene, f"爱喝茶{payload}")
    for number in range(2):
        await theatre.told(scene, f"阿棠({user}) 爱喝茶{payload}", memo=payload[:400])
        said = f"我爱喝第 {number} 号茶{payload}"
        await memory.consider(scene, [core.Message(f"{group}-{number}", scene, said, datetime.now(timezone.utc))])
    while not await memory.drain(theatre.PATIENCE):
        pass
    for call in CALLS:
        caller = theatre.a_superuser() if call.startswith(OPERATORS) else user
        text = f"/记忆 {call.format(payload=payload, user=user)}"
        fields = {"sender": {"user_id": caller, "nickname": payload, "card": payload, "role": "owner"}}
        before = len(stage.calls)
        theatre.unhurried()
        await stage.bot.handle_event(_event(protocol, text, caller, group, fields))
        for api, data in stage.calls[before:]:
            for part in theatre.segments(api, data):
                yield part
    for api, data in await _long(stage, protocol, scene, payload):
        for part in theatre.segments(api, data):
            yield part


async def _long(stage: Any, protocol: str, scene: core.Scene, payload: str) -> list[Any]:
    """Send a long answer as a merged forward, and again where forwards are refused; return the calls."""
    from nonebot.adapters.onebot import v11  # noqa: PLC0415  # adapters after nonebot.init

    from nonebot_plugin_cognitive_memory.commands.answering import say  # noqa: PLC0415  # after NoneBot's start

    before = len(stage.calls)
    event = _event(protocol, "x", int(scene.user_id), int(scene.group_id), {})
    for answers in ({}, {"send_group_forward_msg": v11.ActionFailed()}):
        stage.answers |= answers
        await say(stage.bot, event, "\n".join(f"第 {number} 行 {payload}" for number in range(60)))
    return stage.calls[before:]


def _event(protocol: str, text: str, user: int, group: int, fields: dict[str, Any]) -> Any:
    from tests.plugin.stage import twelve_message  # noqa: PLC0415  # imports adapters

    if protocol == "v12":
        return twelve_message(text, str(user), str(group))
    return theatre.a_message(text, user, group, **fields)


def _is_our_picture(part: Any) -> bool:
    """Return whether a segment is a picture that we painted: its bytes, not an address."""
    file = str(part.data.get("file", ""))
    return part.type == "image" and (file.startswith("base64://") or isinstance(part.data.get("file"), bytes))
