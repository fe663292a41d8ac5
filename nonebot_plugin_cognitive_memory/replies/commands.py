"""Replies to commands, for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

import cognitive_memory_core as core

from .tools import NOT_ENABLED, speaker

LINE_LENGTH = 80
HELP = """\
认知记忆 · /memory 或 /记忆
帮助 help：看这份说明
状态 status：记忆是否在工作
列表 list [页]：这里记住了什么，新的在前
搜索 search 内容 [-n 条数]：找一件事
记住 add 内容：置顶一件事，和你说话时总会想起
忘掉 forget 序号：忘掉列表或搜索里的一条
侧写 profile：这里记下的你是什么样的人；群侧写 group：这个群
共享 share on|off：你在私聊里的侧写，别处能不能用
回滚 rollback @某人 [版本]：侧写写坏了，换回上一版（机器人管理员）"""
UNKNOWN_SUBCOMMAND = "没有这个子命令，发送 /记忆 帮助 看看能做什么"
NOBODY = "匿名发言或频道里分不清是谁，用不了这个命令"
TOO_OFTEN = "命令用得太快了，请过一会儿再试"
TROUBLE = "记忆暂时读写不了，请稍后再试；机器人管理员可以看日志"
PINNED = "记住了，以后和你说话时会想起"
FORGOTTEN = "忘掉了；30 天内机器人管理员还能恢复"
NUMBER_UNKNOWN = "没有这个序号：请先发送 /记忆 列表 或 /记忆 搜索，序号只对最近那一次有效"
NOT_YOURS = "这条不是你说的，只有群主、管理员或机器人管理员能让机器人忘掉"
UNPROVEN = "没能向平台核实这条消息，所以没有动别人说过的话；请稍后再试，或请机器人管理员操作"
ON_OFF = {"on": True, "开": True, "off": False, "关": False}
ONLY_IN_GROUPS = "这个命令要在群里用"
NO_PROFILE = "还没有侧写：聊得多一些，就会慢慢写出来"
SUPERUSERS_ONLY = "只有机器人管理员能用这个命令"
NO_REVISIONS = "没有更早的版本可以换回"
_USAGE = {
    "help": "/记忆 帮助",
    "status": "/记忆 状态",
    "list": "/记忆 列表 [页]，例如 /记忆 列表 2",
    "search": "/记忆 搜索 内容 [-n 条数]，例如 /记忆 搜索 花生 -n 5",
    "add": "/记忆 记住 内容，例如 /记忆 记住 我对花生过敏",
    "forget": "/记忆 忘掉 序号，例如 /记忆 忘掉 3；序号看最近一次列表或搜索",
    "profile": "/记忆 侧写",
    "group": "/记忆 群侧写",
    "share": "/记忆 共享 on 或 /记忆 共享 off",
    "rollback": "/记忆 回滚 @某人（或 QQ 号，或 群）[版本]，不写版本就是上一版",
}


def announcement(capture: core.CaptureSettings) -> str:
    """Return the notice that a group gets once: that the bot remembers, and what is recorded."""
    considered = {
        "off": "",
        "mentions": "，对我说的话里有用的整理成长期记忆",
        "all": "，大家说的话里有用的整理成长期记忆",
    }[capture.auto_consider]
    return (
        f"提示：我会记住群里的聊天（原话最多留 {capture.log_days} 天{considered}），方便以后想起；"
        "想知道记住了什么、想让我忘掉，发送 /记忆 帮助"
    )


def usage(subcommand: str) -> str:
    """Return the usage of a subcommand."""
    return f"写法：{_USAGE[subcommand]}"


def off(reason: str) -> str:
    """Return the reply that the memory is off, with the reason."""
    return "记忆未启用" if reason in ("", NOT_ENABLED) else f"记忆未启用：{reason}"


def status(now: core.Status) -> str:
    """Return the state of the memory for anybody, without paths and error texts."""
    lines = [
        f"记忆正在工作；记住 {now.totals.events} 件事，置顶 {now.totals.pins} 条",
        f"待整理 {now.jobs.pending + now.jobs.processing} 条，失败 {now.jobs.failed} 条",
    ]
    if now.refused:
        lines.append(f"来得太多、没有收下的有 {now.refused} 次")
    if "historian" in now.without_model:
        lines.append("没有配置模型：由规则史官整理")
    if now.is_over_daily_calls:
        lines.append("今天的模型调用已用完：先由规则史官整理，明天恢复")
    lines += _merge_lines(now)
    if now.paused:
        lines.append("整理已暂停")
    lines += _index_lines(now)
    away = [_PARTS.get(name, name) for name, state in now.breakers if state == "failed"]
    if away:
        lines.append(f"暂时用不了：{'、'.join(away)}；恢复后会自己接上")
    return "\n".join(lines)


_PARTS = {
    "embedding": "向量模型",
    "vectors": "向量库",
    "ledger": "账本",
    "historian": "史官的模型",
    "triage": "判断用的模型",
    "merge": "写侧写的模型",
    "rerank": "重排模型",
}


_ACTIVITIES = {"off": "未启用", "asleep": "休眠中", "waking": "正在启动", "awake": "正在运行"}


def _merge_lines(now: core.Status) -> list[str]:
    merges = now.merges
    lines = [f"{merges.facts} 件事等着写进 {merges.profiles} 份侧写"] if merges.facts else []
    if merges.failing:
        lines.append(f"{merges.failing} 份侧写没写成，过一会儿再试；要写的事都还在")
    return lines


def _index_lines(now: core.Status) -> list[str]:
    lines = [f"还有 {now.index_lag} 条没有算好向量"] if now.index_lag else []
    if now.index.to_build:
        lines.append(f"正在建向量索引：{now.index.built}/{now.index.to_build}，期间用精确检索")
    elif now.index.behind:
        lines.append(f"向量库{_ACTIVITIES[now.index.activity]}，还差 {now.index.behind} 条，期间用精确检索")
    return lines


def event_list(events: Sequence[core.Event], first: int, zone: tzinfo, *, page: int, is_more: bool) -> str:
    """Return a list of events, numbered from ``first``."""
    lines = [_numbered(number, event, zone) for number, event in enumerate(events, first)]
    if is_more:
        lines.append(f"下一页：/记忆 列表 {page + 1}")
    return "\n".join((f"这里记住的事（第 {page} 页，忘掉：/记忆 忘掉 序号）", *lines))


def found(events: Sequence[core.Event], messages: Sequence[core.Event], zone: tzinfo) -> str:
    """Return the found events, numbered from 1, followed by found messages."""
    numbered = [_numbered(number, event, zone) for number, event in enumerate(events, 1)]
    said = [f"{_dated(message, zone)} {speaker(message)}：{_shown(message)}" for message in messages]
    parts = [("找到这些（忘掉：/记忆 忘掉 序号）", numbered), ("有人说过", said)]
    return "\n".join(line for title, lines in parts if lines for line in (title, *lines)) or "没有找到相关的记忆"


def _numbered(number: int, event: core.Event, zone: tzinfo) -> str:
    return f"{number}. {_dated(event, zone)} {_shown(event)}"


def _dated(event: core.Event, zone: tzinfo) -> str:
    return f"[{event.happened_at.astimezone(zone):%Y-%m-%d %H:%M}]"


def _shown(event: core.Event) -> str:
    text = " ".join(event.text.split())
    return text if len(text) <= LINE_LENGTH else text[: LINE_LENGTH - 1] + "…"


def nothing_listed(page: int) -> str:
    """Return the reply that a page is empty."""
    return "这里还没有记住什么" if page == 1 else f"没有第 {page} 页"


def profile(profile: core.Profile, zone: tzinfo) -> str:
    """Return a profile as text."""
    updated = profile.updated_at.astimezone(zone).replace(tzinfo=None).isoformat(" ", "minutes")
    tags = [f"标签：{'、'.join(profile.tags)}"] if profile.tags else []
    return "\n".join((f"{profile.name or '侧写'}（更新于 {updated}）", *tags, profile.summary))


def sharing(*, is_on: bool) -> str:
    """Return the confirmation that a person shares their profile, or stopped sharing it."""
    return "好，别的群里也能用上你的侧写了" if is_on else "好，你私聊里的侧写只在和你的私聊里用"


def rolled_back(profile: core.Profile, revision_id: str) -> str:
    """Return the confirmation that an earlier profile was restored."""
    return f"{profile.name or '这份侧写'}换回了版本 {revision_id}；换下来的也留着，可以再换回来"
