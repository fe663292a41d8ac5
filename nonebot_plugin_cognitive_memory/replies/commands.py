"""Replies to commands, for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Literal

import cognitive_memory_core as core

from . import settings
from .markdown import plain_lines
from .tools import NOT_ENABLED

LINE_LENGTH = 80
Tone = Literal["good", "busy", "bad", "plain"]
Remark = tuple[Tone, str]
PLACES = 5  # switched places that the figures name
LATEST = 20  # lines shown instead of a summary
SOURCES = 8  # lines that an item's details quote
_HELP = """\
认知记忆 · 发 /记忆（或 /memory）加子命令，中文英文写一个就行，例如 /记忆 详情 1
列表 list [页]：这里记住了什么，新的在前；列表 已忘：你忘掉的，30 天内能恢复
详情 show 序号：一条的全文、谁说的、出自哪几句
搜索 search 内容 [-n 条数]：找一件事
记住 add 内容：置顶一件事，和你说话时总会想起；回复一条消息只发「/记忆 记住」就记那条
置顶列表 pins：你的置顶和全群的置顶
忘掉 forget 序号：忘掉一条；更正 correct 序号 内容：改一条你自己说的
侧写 profile：这里记下的你是什么样的人；群侧写 group：这个群（加 -t 只要文字）
共享 share on|off：你在私聊里的侧写，群里能不能用
整理 consider：现在就把刚才的话整理成记忆
无痕 incognito [多久]：接下来你说的不记（默认 30 分钟，0 结束）
别记我 optout：从此不记我、不提我；可以记我 optin：恢复
忘记我 forget me：删掉关于我的全部；导出 export：把我的记忆发给我（私聊）
状态 status：记忆是否在工作；帮助 help：看这份说明"""
_HELP_GROUP = """\
—— 群主和管理员 ——
开 on、关 off、只记 record、只忆 recall：这个群记不记、用不用；后三个能写期限，如「关 2小时」
群记忆 beliefs [页]：这个群的规矩、习惯和看法；演进 history 序号：一条的来历
变更 changes [天数]：最近改了什么；演化 evolve [天数]：现在就从聊天里长出群记忆
淘汰 retire 序号、恢复 restore 序号：去掉或换回一条
建议 suggestions [采纳|不要 序号]：反复遇到的问题，可以记成常见问题、流程或技能
置顶 pin 内容：全群的置顶
总结 summarize [句数]：总结最近的聊天
清空 clear：删掉这个群的全部记忆"""
_HELP_PRIVATE = """\
—— 这个私聊 ——
开 on、关 off、只记 record、只忆 recall：这里记不记、用不用；后三个能写期限，如「关 2小时」
总结 summarize [句数]：总结最近的聊天
清空 clear：删掉这个私聊的全部记忆"""
_HELP_SUPERUSER = """\
—— 机器人管理员 ——
统计 stats、队列 queue、失败 failed、重试 retry [任务号]
重建索引 reindex、停 pause、启 resume
配置 config [get|set|reset|reload]：看和改设置
控制台 console：网页控制台的一次性登录码（私聊）
查看 view @某人：侧写和它的版本；回滚 rollback @某人 [第几版]：换回旧版"""
UNKNOWN_SUBCOMMAND = "没有这个子命令，发送 /记忆 帮助 看看能做什么"
NOBODY = "匿名发言或频道里分不清是谁，用不了这个命令"
TOO_OFTEN = "命令用得太快了，请过一会儿再试"
TROUBLE = "记忆暂时读写不了，请稍后再试；机器人管理员可以看日志"
OPENING = "记忆正在打开，请稍等一会儿再试"
CUT = "……后面还有，太长了没有发完"
FORGOTTEN_WORDS = frozenset({"已忘", "忘掉的", "forgotten"})
NOTHING_FORGOTTEN = "最近 30 天你没有忘掉过这里的什么"
FORGOTTEN_NUMBER_UNKNOWN = "没有这个序号：请先发送 /记忆 列表 已忘，序号只对你在这里最近看到的那一次有效（10 分钟）"
UNPINNED = "这条置顶去掉了"
NUMBER_UNKNOWN = "没有这个序号：请先发送 /记忆 列表 或 /记忆 搜索，序号只对你在这里最近看到的那一次有效（10 分钟）"
NO_PAGE = "没有第 {page} 页；从头看：/记忆 列表"
NOT_YOURS = "这条不是你说的，只有群主、管理员或机器人管理员能让机器人忘掉"
ADMINS_ONLY = "只有群主、管理员或机器人管理员能用这个命令"
ADMIN_UNKNOWN = (
    "平台没有告诉我你是不是管理员（get_group_member_info 没有回答），所以没有执行；请检查协议端，或请机器人管理员操作"
)
UNPROVEN = "没能向平台核实这条消息，所以没有执行；请稍后再试，或请机器人管理员操作"
ALL = frozenset({"", "all", "全部"})
ME = frozenset({"me", "我"})
VERSION = r"(?:^|\s)第?\s*([0-9]{1,3})\s*版?(?=\s|$)"
AS_TEXT = frozenset({"-t", "--text", "text", "文字"})
ON_OFF = {"on": True, "开": True, "off": False, "关": False}
ONLY_IN_GROUPS = "这个命令要在群里用"
ONLY_IN_PRIVATE = "这个命令只能在私聊里用，免得别人看到"
NO_PROFILE = "还没有侧写：聊得多一些，就会慢慢写出来"
SUPERUSERS_ONLY = "只有机器人管理员能用这个命令"
NO_REVISIONS = "没有更早的版本可以换回"
OPTED_OUT = (
    "好，从现在起不记你说的话，也不再想起你；别人提到你时写作「某位成员」。"
    "想连以前的也删掉，发送 /记忆 忘记我（删了找不回来）；以后又愿意让我记了，发送 /记忆 可以记我"
)
OPTED_IN = "好，从现在起又可以记你了；停掉的那段时间说的话没有记"
CONFIRM_FORGET_ME = (
    "会删掉我记住的关于你的一切：你在所有群和私聊里说过的话、你的侧写、你让我记住的事；别人话里的你改成「某位成员」。"
    "删了找不回来。确定的话，60 秒内再发一次：/记忆 忘记我"
)
CONFIRM_CLEAR_GROUP = (
    "会删掉这个群的全部记忆：原话、整理出的事、侧写和置顶，不能恢复。确定的话，60 秒内再发一次同样的命令"
)
CONFIRM_CLEAR_PRIVATE = (
    "会删掉这个私聊的全部记忆：原话、整理出的事、侧写和置顶，不能恢复。确定的话，60 秒内再发一次同样的命令"
)
EXPORTED = "发给你了，共 {rows} 条（一行一条的 JSON，用文本编辑器就能看）"
EXPORTED_AS_TEXT = "平台不让发文件，内容在下面：\n{text}"
ON_HAS_NO_END = "「开」没有期限，所以没有改：直接发 /记忆 开；要停一段时间，发 /记忆 关 2小时"
_SWITCHED_ON = "好，这里说的会记，记住的也会用"
_SWITCHED = {
    "off": "这里不再记，也不再用；以前的留着",
    "record_only": "这里只记不用：继续记，但机器人回答时不会想起来",
    "recall_only": "这里只用不记：机器人还会想起以前的，新说的不记",
}
_SWITCH = {
    "off": "这里关着：不记，也不用",
    "record_only": "这里只记不用：新说的会记，但机器人回答时不会想起来",
    "recall_only": "这里只用不记：机器人会想起以前的，新说的不记",
}
_SWITCHED_SHORT = {"off": "不记也不用", "record_only": "只记不用", "recall_only": "只用不记"}
INCOGNITO_ENDED = "无痕结束了，接下来说的会记"
CONSIDERED = "好，开始整理刚才的话了；过一会儿发送 /记忆 列表 看看"
CONSIDER_REFUSED = "现在收不下（排队的太多，或磁盘写不进）；说过的话都留着，过几分钟再发一次 /记忆 整理"
NOTHING_TO_CONSIDER = "没有新的话要整理：说过的都整理过了，或者这里没有记"
NOTHING_SAID = "这里最近没有记下什么话"
SUMMARY = "最近 {count} 句的总结：\n{text}"
UNKNOWN_JOB = "没有找到这一个任务：任务号看 /记忆 失败，写前几位就行，要能认出是哪一个"
REVIVED = "重新排队 {count} 个任务"
REINDEXED = "向量索引重建好了，共 {count} 条"
PAUSED = "整理停下了；说过的话照样收着，发送 /记忆 启 继续"
RESUMED = "继续整理了；还排着多少，看 /记忆 队列"
_USAGE = {
    "help": "/记忆 帮助",
    "status": "/记忆 状态；只要文字：/记忆 状态 -t",
    "list": "/记忆 列表 [页]，例如 /记忆 列表 2；你忘掉的：/记忆 列表 已忘 [页]",
    "show": "/记忆 详情 序号，例如 /记忆 详情 3；序号看最近一次列表或搜索",
    "search": "/记忆 搜索 内容 [-n 条数]，例如 /记忆 搜索 花生 -n 5",
    "add": "/记忆 记住 内容，例如 /记忆 记住 我对花生过敏；也可以回复一条消息发 /记忆 记住",
    "pins": "/记忆 置顶列表",
    "forget": "/记忆 忘掉 序号，例如 /记忆 忘掉 3；序号看最近一次列表或搜索",
    "forget_me": "/记忆 忘记我",
    "correct": "/记忆 更正 序号 内容，例如 /记忆 更正 3 我对芒果过敏；序号看最近一次列表或搜索",
    "profile": "/记忆 侧写；只要文字：/记忆 侧写 -t",
    "group": "/记忆 群侧写；只要文字：/记忆 群侧写 -t",
    "share": "/记忆 共享 on 或 /记忆 共享 off",
    "consider": "/记忆 整理",
    "export": "/记忆 导出",
    "optout": "/记忆 别记我",
    "optin": "/记忆 可以记我",
    "incognito": "/记忆 无痕 [多久]，例如 /记忆 无痕 60（分钟）或 /记忆 无痕 到今晚8点，最长 7 天；/记忆 无痕 0 结束",
    "on": "/记忆 开",
    "off": "/记忆 关 [多久或到什么时候]，例如 /记忆 关 2小时",
    "record": "/记忆 只记 [多久或到什么时候]，例如 /记忆 只记 3天",
    "recall": "/记忆 只忆 [多久或到什么时候]，例如 /记忆 只忆 到明天早上8点",
    "beliefs": "/记忆 群记忆 [页]，例如 /记忆 群记忆 2",
    "history": "/记忆 演进 序号，例如 /记忆 演进 3；序号看 /记忆 群记忆",
    "changes": "/记忆 变更 [天数]，例如 /记忆 变更 7",
    "evolve": "/记忆 演化 [天数]，例如 /记忆 演化 7",
    "retire": "/记忆 淘汰 序号，例如 /记忆 淘汰 3；序号看 /记忆 群记忆",
    "restore": "/记忆 恢复 序号，例如 /记忆 恢复 3；序号看 /记忆 群记忆、/记忆 演进 或 /记忆 列表 已忘",
    "suggestions": "/记忆 建议，再发 /记忆 建议 采纳 序号 或 /记忆 建议 不要 序号，例如 /记忆 建议 采纳 1",
    "summarize": "/记忆 总结 [句数]，例如 /记忆 总结 100",
    "pin": "/记忆 置顶 内容，例如 /记忆 置顶 周五晚上不讨论工作",
    "clear": "/记忆 清空",
    "stats": "/记忆 统计；只要文字：/记忆 统计 -t",
    "queue": "/记忆 队列",
    "failed": "/记忆 失败",
    "retry": "/记忆 重试 [任务号]，不写任务号就是全部",
    "reindex": "/记忆 重建索引",
    "view": "/记忆 查看 @某人（或 QQ 号）",
    "rollback": "/记忆 回滚 @某人（或 QQ 号，或 群）[第几版]，不写就是上一版；版本看 /记忆 查看",
    "config": settings.USAGE,
    "pause": "/记忆 停",
    "resume": "/记忆 启",
    "console": "/记忆 控制台，只能在私聊里用",
}


def help_text(scene: core.Scene, *, decides: bool, is_superuser: bool) -> str:
    """Return the commands that somebody may use here; ``decides``: they are an admin, or it is their private chat."""
    parts = [_HELP]
    if decides:
        parts.append(_HELP_GROUP if scene.kind == "group" else _HELP_PRIVATE)
    if is_superuser:
        parts.append(_HELP_SUPERUSER)
    return "\n".join(parts)


def nothing_yet(lines: int, seconds: float) -> str:
    """Say that no event is stored here, and when that changes."""
    return f"这里还没有整理出记忆。{waiting_lines_text(lines, seconds)}" if lines else "这里还没有记住什么"


def waiting_lines_text(lines: int, seconds: float) -> str:
    """Say how many lines wait to be considered, and when they will be."""
    minutes = max(round(seconds / 60), 1)
    return f"攒了 {lines} 句，大约 {minutes} 分钟后整理；现在就要：/记忆 整理"


def pinned(text: str, *, is_cut: bool, for_group: bool) -> str:
    """Confirm a pin."""
    whose = "和这个群里的人说话时都会想起" if for_group else "以后和你说话时会想起"
    cut = f"（太长了，只留下前 {len(text)} 个字）" if is_cut else ""
    return f"记住了{cut}，{whose}：{_short(text)}"


def corrected(text: str) -> str:
    """Confirm a correction, with the new text."""
    return f"改好了：{_short(text)}"


def incognito(until: datetime, zone: tzinfo) -> str:
    """Return the reply that nothing of the asker is recorded until an instant."""
    return f"好，到{instant(until, zone)}为止，你在这里说的不记，以后也不会补记；提前结束发送 /记忆 无痕 0"


def switched(switch: str, until: datetime | None, zone: tzinfo) -> str:
    """Confirm the switch of a place, with the instant at which it ends by itself."""
    if switch == "on":
        return _SWITCHED_ON
    if until is None:
        return f"好，{_SWITCHED[switch]}；恢复发送 /记忆 开"
    return f"好，到{instant(until, zone)}为止，{_SWITCHED[switch]}。到时候自动恢复成又记又用；提前恢复发送 /记忆 开"


def no_time(said: str) -> str:
    """Return the reply that a time limit was not understood, with examples."""
    return (
        f"没看懂「{_short(said)}」是多久，所以没有改。可以写：30分钟、2小时、3天、半天、一周，"
        "或到18:00、到明天早上8点；不写就一直有效"
    )


def over(until: datetime, zone: tzinfo) -> str:
    """Return the reply that the instant of a time limit has already passed."""
    return f"{instant(until, zone).strip()} 已经过了，所以没有改；请写一个还没到的时间"


def instant(at: datetime, zone: tzinfo) -> str:
    """Return an instant to the minute for the middle of a Chinese sentence: with a space beside each digit."""
    local, today = at.astimezone(zone), datetime.now(zone).date()
    days = {0: "今天", 1: "明天"}.get((local.date() - today).days)
    day = days or (f" {local:%m-%d}" if local.year == today.year else f" {local:%Y-%m-%d}")
    return f"{day} {local:%H:%M} "


def erased(erasure: core.Erasure, *, is_recorded: bool = False) -> str:
    """Report what an erasure removed, what only people can delete, and whether the asker is recorded from now on."""
    counts = (
        ("整理出的事", erasure.events),
        ("原话", erasure.messages),
        ("备忘", erasure.memos),
        ("置顶", erasure.pins),
        ("群记忆", erasure.beliefs),
        ("侧写", erasure.profiles),
        ("还没整理的任务", erasure.jobs),
        ("别人话里的改写", erasure.reworded),
    )
    gone = "、".join(f"{what} {count}" for what, count in counts if count)
    lines = [f"删掉了：{gone}" if gone else "没有什么可删的"]
    lines.append("磁盘上的痕迹也清掉了" if erasure.purged else "从现在起查不到了，磁盘上的痕迹一小时内清掉")
    if erasure.copies:
        lines.append(f"以前导出或备份过 {len(erasure.copies)} 份，里面的要机器人管理员自己删")
    if is_recorded:
        lines.append("以后你再说话还会记；不想再被记，发送 /记忆 别记我")
    return "\n".join(lines)


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


def status(now: core.Status, here: core.Activity, pins: int, remarks: Iterable[Remark]) -> str:
    """Return the state of the memory for anybody, without paths and error texts."""
    told = f"{status_title(now)}：这里记住了 {here.events} 件事，原话 {here.messages} 句，置顶 {pins} 条"
    return "\n".join((told, *(line for _, line in remarks)))


def switch_remarks(switch: core.PlaceSwitch, zone: tzinfo) -> list[Remark]:
    """Return a remark on the switch of this place, with its end; none if it is "on"."""
    if switch.switch == "on":
        return []
    return [("busy", f"{_SWITCH[switch.switch]}{_until(switch.until, zone)}（恢复：/记忆 开）")]


def switches_remarks(switches: Sequence[core.PlaceSwitch], zone: tzinfo) -> list[Remark]:
    """Return a remark on each of the first places whose switch is not "on", with its end."""
    lines = [f"{_place(one.scope)}{_SWITCHED_SHORT[one.switch]}{_until(one.until, zone)}" for one in switches]
    rest = [f"还有 {len(lines) - PLACES} 个地方不是又记又用（cognitive-memory status）"] if lines[PLACES:] else []
    return toned("plain", [*lines[:PLACES], *rest])


def _place(scope: core.Scope) -> str:
    return f"{'群' if scope.kind == 'group' else '私聊'} {scope.place_id} "


def _until(until: datetime | None, zone: tzinfo) -> str:
    return f"，到{instant(until, zone)}为止" if until else ""


def status_title(now: core.Status) -> str:
    """Return in a few words whether the memory works."""
    return "整理已暂停" if now.paused else "记忆正在工作"


def toned(tone: Tone, lines: Iterable[str]) -> list[Remark]:
    """Return a remark for each line, all of the same tone."""
    return [(tone, line) for line in lines]


def status_remarks(now: core.Status, waiting: tuple[int, float]) -> list[Remark]:
    """Return remarks on the memory's state; ``waiting``: lines to be considered here, and the seconds until then."""
    remarks: list[Remark] = [("busy", waiting_lines_text(*waiting))] if waiting[0] else []
    remarks.append(("plain", f"整个机器人一共记住 {now.totals.events} 件事"))
    if "historian" in now.without_model:
        remarks.append(("plain", "没有接大模型：常见的说法会整理成记忆，别的只留原话"))
    if now.is_over_daily_calls:
        remarks.append(("busy", "今天的模型调用已用完：先按规则整理，明天恢复"))
    in_hand = now.jobs.pending + now.jobs.processing
    if in_hand:
        remarks.append(("busy", f"还有 {in_hand} 段对话正在整理或等着"))
    remarks += toned("busy", _merge_lines(now))
    if now.paused:
        remarks.append(("busy", "机器人管理员暂停了整理，说过的话都还收着"))
    if now.jobs.failed:
        remarks.append(("bad", f"有 {now.jobs.failed} 段没整理成，原话没丢；机器人管理员可以看 /记忆 失败"))
    if now.refused:
        remarks.append(("bad", f"来得太多、没有收下的有 {now.refused} 次"))
    return [*remarks, *toned("bad", _store_lines(now))]


def _store_lines(now: core.Status) -> Iterator[str]:
    if now.damage:
        yield "账本有几处坏了，其余照常；机器人管理员请运行 cognitive-memory doctor，从备份恢复"
    away = [_PARTS.get(name, name) for name, state in now.breakers if state == "failed"]
    if away:
        yield f"暂时用不了：{'、'.join(away)}；恢复后会自己接上"


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
    lines = (
        [f"有 {merges.facts} 件事会自己写进 {merges.profiles} 份侧写，不用管（看侧写：/记忆 侧写）"]
        if merges.facts
        else []
    )
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


def stats(now: core.Status, activity: core.Activity) -> str:
    """Show the figures of the whole memory, to a superuser."""
    totals, days = now.totals, activity.days
    lines = [
        f"事 {totals.events}（忘掉 {totals.retired}），原话 {totals.messages}，备忘 {totals.memos}，置顶 {totals.pins}",
        f"今天调用模型 {now.calls_today} 次，{now.tokens_today} 个 token",
    ]
    if days:
        said, happened = sum(day.messages for day in days), sum(day.events for day in days)
        lines.append(f"最近 {len(days)} 天：原话 {said} 句，发生的事 {happened} 件")
    return "\n".join((*lines, *(line for _, line in stats_remarks(now))))


def stats_remarks(now: core.Status) -> list[Remark]:
    """Return what the figures do not show: what was spent on what, what was lost, the latest error."""
    spent = (f"{_PURPOSES.get(one.purpose, one.purpose)}：今天调用模型 {one.calls} 次" for one in now.spent_today)
    lost = (
        (now.refused, "没收下的轮次"),
        (now.dropped_messages, "没记下的消息"),
        (now.removed_messages, "按大小删掉的消息"),
    )
    remarks = [
        *toned("plain", spent),
        *toned("busy", _index_lines(now)),
        *toned("bad", (f"启动以来{what} {count}" for count, what in lost if count)),
    ]
    if now.last_error:
        remarks.append(("bad", f"最近的错误：{now.last_error[:200]}"))
    return remarks


_PURPOSES = {
    "triage": "判断",
    "rewrite": "整理",
    "merge": "写侧写",
    "embedding": "向量",
    "rerank": "重排",
    "compress": "总结",
    "evolution": "演化",
}


def queue(now: core.Status) -> str:
    """Show the jobs by state, to a superuser."""
    jobs = now.jobs
    lines = [f"等着 {jobs.pending}，正在做 {jobs.processing}，失败 {jobs.failed}（看 /记忆 失败）"]
    lines += [f"太旧或太多而删掉的失败任务 {jobs.removed} 个"] if jobs.removed else []
    lines += [*_merge_lines(now), *(["整理停着，发送 /记忆 启 继续"] if now.paused else []), *_index_lines(now)]
    return "\n".join(lines)


def failed_list(jobs: Sequence[core.FailedJob], total: int, zone: tzinfo, id_length: int) -> str:
    """List failed jobs: id, time, place, error, and what to do."""
    if not jobs:
        return "没有失败的任务"
    lines = [f"失败的任务 {total} 个（重试一个：/记忆 重试 任务号；全部重来：/记忆 重试）"]
    for failed in jobs:
        scene = failed.job.work.scene if failed.job else None
        place = (
            "任务文件坏了" if scene is None else f"群 {scene.group_id}" if scene.group_id else f"私聊 {scene.user_id}"
        )
        at = failed.failed_at.astimezone(zone)
        told = f"试了 {failed.attempts} 次：{failed.error[:80]}；" if failed.job else ""
        lines.append(f"{failed.id[:id_length]} [{at:%m-%d %H:%M}] {place}，{told}{failed.advice}")
    return "\n".join(lines)


def item_list(  # everything that a page shows
    pins: Sequence[core.Pin],
    events: Sequence[core.Event],
    shown: Showing,
    *,
    first: int,
    page: int,
    is_more: bool,
) -> str:
    """List pins and events under their own headings, numbered from ``first``."""
    lines: list[str] = []
    if pins:
        lines += ["置顶", *(_numbered_pin(number, pin) for number, pin in enumerate(pins, first))]
    if events:
        at = f"第 {page} 页；" if page > 1 or is_more else ""
        first_number = first + len(pins)
        lines.append(f"这里记住的事（{at}看全文发 /记忆 详情 {first_number}，忘掉发 /记忆 忘掉 {first_number}）")
        lines += [shown.numbered(number, event) for number, event in enumerate(events, first_number)]
    if is_more:
        lines.append(f"下一页：/记忆 列表 {page + 1}")
    return "\n".join(lines)


def forgotten_list(events: Sequence[core.Event], shown: Showing, *, first: int, page: int, is_more: bool) -> str:
    """List the events that the asker forgot, numbered from ``first``."""
    if not events:
        return NOTHING_FORGOTTEN if page == 1 else NO_PAGE.format(page=page)
    lines = [f"你忘掉的事，30 天内能恢复（恢复发 /记忆 恢复 {first}）"]
    lines += [shown.numbered(number, event) for number, event in enumerate(events, first)]
    return "\n".join((*lines, *([f"下一页：/记忆 列表 已忘 {page + 1}"] if is_more else [])))


def forgotten(event: core.Event, *, is_own: bool) -> str:
    """Confirm that an event is forgotten; ``is_own``: the asker said it, and therefore may restore it."""
    until = "30 天内可以恢复：/记忆 列表 已忘，之后彻底删除" if is_own else "30 天后彻底删除"
    return f"忘掉了：{_short(_END_DATE.sub('', _named(event)))}\n以后不会再想起来；{until}"


def restored(event: core.Event) -> str:
    """Confirm that an event is remembered again."""
    return f"恢复了：{_short(_END_DATE.sub('', _named(event)))}"


def pin_list(pins: Sequence[core.Pin], zone: tzinfo) -> str:
    """List pins with their dates, numbered from 1."""
    if not pins:
        return "还没有置顶：发送 /记忆 记住 内容"
    lines = [
        f"{_numbered_pin(number, pin)}（{pin.pinned_at.astimezone(zone):%Y-%m-%d} 记下）"
        for number, pin in enumerate(pins, 1)
    ]
    return "\n".join(("置顶（序号看这里；去掉第 1 条发 /记忆 忘掉 1，改它发 /记忆 更正 1 新的内容）", *lines))


def found(
    pins: Sequence[core.Pin],
    events: Sequence[core.Event],
    messages: Sequence[core.Event],
    shown: Showing,
) -> str:
    """List the pins and events that a search found, numbered from 1, and lines of the log beside them."""
    numbered_pins = [_numbered_pin(number, pin) for number, pin in enumerate(pins, 1)]
    numbered = [shown.numbered(number, event) for number, event in enumerate(events, 1 + len(pins))]
    said = [shown.line(message) for message in messages]
    parts = [
        ("置顶", numbered_pins),
        ("找到这些（忘掉：/记忆 忘掉 序号）", numbered),
        ("相关的原话", said),
    ]
    return (
        "\n".join(line for title, lines in parts if lines for line in (title, *lines))
        or "没有找到相关的记忆；换个说法试试，或看 /记忆 列表"
    )


def event_details(number: int, event: core.Event, lines: Sequence[core.Message], shown: Showing) -> str:
    """Show one event in full: who said it, when and where, how often, its lines, and how to change it by number."""
    told = [shown.full(event), f"{shown.dated(event)} {shown.placed(event)}{shown.speaker(event)} 说的"]
    if event.count > 1:
        told.append(f"说过 {event.count} 次")
    told += [
        f"{name}：{text}"
        for name, text in (("问题", event.pain), ("办法", event.solution), ("结果", event.outcome))
        if text
    ]
    if not event.is_absolute:
        told.append("这条没能说清是谁或什么时候，只作参考")
    distinct = list({(line.scene.user_id, line.text): line for line in lines}.values())
    if distinct:
        told.append("出自（同样的话只列一次）：" if event.count > 1 else "出自：")
        told += [
            f"{line.sent_at.astimezone(shown.zone):%m-%d %H:%M} {_speaker_of(line)}：{_short(line.text)}"
            for line in distinct[:SOURCES]
        ]
    told.append(f"改它：/记忆 更正 {number} 新的说法；忘掉：/记忆 忘掉 {number}")
    return "\n".join(told)


def latest_lines(lines: Sequence[core.Message]) -> str:
    """Show the newest lines where no model can summarise them."""
    said = [f"{_speaker_of(line)}：{_short(line.text)}" for line in lines[-LATEST:]]
    return "\n".join(("没有接大模型，写不了总结；最近说的是：", *said))


def pin_details(pin: core.Pin, zone: tzinfo) -> str:
    """Show one pin in full."""
    whose = "你的置顶" if pin.owner_id else "全群的置顶"
    return f"{pin.text}\n{whose}，{pin.pinned_at.astimezone(zone):%Y-%m-%d %H:%M}"


def _speaker_of(line: core.Message) -> str:
    return "机器人" if line.is_bot else line.scene.user_name or f"QQ({line.scene.user_id})"


@dataclass(frozen=True)
class Showing:
    """How events are shown to the person of ``scene``: times in ``zone``, other groups by their names in ``groups``."""

    scene: core.Scene
    zone: tzinfo
    groups: Mapping[str, str]

    def numbered(self, number: int, event: core.Event) -> str:
        """Show an event under its number, people by their names alone."""
        return f"{number}. {self.dated(event)} {self.placed(event)}{_short(self._explained(event, _named(event)))}"

    def full(self, event: core.Event) -> str:
        """Return the whole text of an event; in a group, people by their names alone."""
        return self._explained(event, _named(event) if self.scene.group_id else event.text)

    def speaker(self, event: core.Event) -> str:
        """Return who said an event; in a group by name alone, if there is one."""
        return (event.sender_name if self.scene.group_id else "") or core.tools.speaker(event)

    def _explained(self, event: core.Event, text: str) -> str:
        """Mark the date at the end of a text as the date it is about; remove it if the text was said on that day."""
        said = event.happened_at.astimezone(self.zone)
        return _END_DATE.sub(lambda date: "" if date[1] == f"{said:%Y-%m-%d}" else f"（指 {date[1]}）", text)

    def line(self, message: core.Event) -> str:
        """Show a line of the log that a search found."""
        who = message.sender_name or core.tools.speaker(message)
        return f"{self.dated(message)} {self.placed(message)}{who}：{_short(_named(message))}"

    def dated(self, event: core.Event) -> str:
        """Return when an event was, in brackets: month, day and time in the current year, else the date."""
        at = event.happened_at.astimezone(self.zone)
        return f"[{at:%m-%d %H:%M}]" if at.year == datetime.now(self.zone).year else f"[{at:%Y-%m-%d}]"

    def placed(self, event: core.Event) -> str:
        """Return the group of an event in brackets, "" if it is shown in that group or has none."""
        if not event.group_id or event.group_id == self.scene.group_id:
            return ""
        name = self.groups.get(event.group_id, "")
        return f"（{name}）" if name else f"（群 {event.group_id}）"


_END_DATE = re.compile(r"（(\d{4}-\d{2}(?:-\d{2})?)）$")


def _numbered_pin(number: int, pin: core.Pin) -> str:
    return f"{number}. {'' if pin.owner_id else '（全群）'}{_short(pin.text)}"


def _named(event: core.Event) -> str:
    """Return an event's text without the ids after the names of its people and group, or a note of the group alone."""
    text = re.sub(rf"（[^（）]*\({re.escape(event.group_id)}\)）$", "", event.text) if event.group_id else event.text
    for some_id in {event.sender_id, event.user_id, event.group_id, *event.subjects} - {""}:
        text = re.sub(rf"(?<!QQ)(?<=[^\s(（])\({re.escape(some_id)}\)", "", text)
    return text


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 1] + "…"


def profile(shown: core.Profile, zone: tzinfo) -> str:
    """Show a profile without Markdown, which QQ does not render."""
    updated = shown.updated_at.astimezone(zone).replace(tzinfo=None).isoformat(" ", "minutes")
    tags = [f"标签：{'、'.join(shown.tags)}"] if shown.tags else []
    return "\n".join((f"{shown.name or '侧写'}（更新于 {updated}）", *tags, plain(shown.summary)))


def plain(markdown: str) -> str:
    """Return Markdown as plain text: headings in brackets, dots for list items, no emphasis."""
    forms = {"heading": "【{}】", "item": "· {}", "text": "{}"}
    return "\n".join(forms[line.kind].format(line.text) for line in plain_lines(markdown))


def viewed(found: core.Profile | None, revisions: Sequence[core.Revision], zone: tzinfo) -> str:
    """Show somebody's profile and its past versions, numbered from the latest, to a superuser."""
    shown = "还没有侧写" if found is None else profile(found, zone)
    if not revisions:
        return f"{shown}\n没有更早的版本"
    lines = [
        f"{number}. {revision.profile.updated_at.astimezone(zone):%Y-%m-%d %H:%M}"
        for number, revision in enumerate(revisions, 1)
    ]
    return "\n".join((shown, "更早的版本（换回：/记忆 回滚 @某人 第几版）", *lines))


def sharing(*, is_on: bool) -> str:
    """Confirm a person's choice about their profile."""
    return (
        "好，你私聊里的侧写，在你说话的每个群里也会用来回答，别人问起你时也可能说到；不想要了，发送 /记忆 共享 off"
        if is_on
        else "好，你私聊里的侧写只在和你的私聊里用"
    )


def rolled_back(profile: core.Profile, revision: core.Revision, zone: tzinfo) -> str:
    """Return the confirmation that an earlier profile was restored."""
    at = f"{revision.profile.updated_at.astimezone(zone):%Y-%m-%d %H:%M}"
    return f"{profile.name or '这份侧写'}换回了 {at} 的那一版；换下来的也留着，可以再换回来"
