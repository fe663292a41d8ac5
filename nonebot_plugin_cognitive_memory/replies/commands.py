"""Replies to commands, for people: refusals, confirmations, profiles, settings, and how each subcommand is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

import cognitive_memory_core as core

from ..command_table import AS_TEXT, Command
from .chat_plugins import NOT_ENABLED

ACTIONS: Mapping[str, str] = {
    **dict.fromkeys(("get", "看", "查看"), "get"),
    **dict.fromkeys(("set", "设", "设置", "改"), "set"),
    **dict.fromkeys(("reset", "恢复", "重置"), "reset"),
    **dict.fromkeys(("reload", "重读", "重载"), "reload"),
}
USAGE = (
    "/记忆 配置 [get 键 | set 键 值 | reset [键] | reload]，例如 /记忆 配置 set query.auto_top_k 5；"
    "get 也可以写「看」，set「设」，reset「恢复」，reload「重读」"
)
KEY_WANTED = "要改哪一个？例如 /记忆 配置 set query.auto_top_k 5"
NOTHING_CHANGED = (
    "还没在聊天里改过设置，都按 .env。能改的（马上生效）：query 想起什么、historian 怎么整理、capture 记哪些、"
    "evolution 群记忆、profile.merge_ 多久写侧写；看一组和现在的值：/记忆 配置 get query"
)
NO_CONFIGURATION = "设置没有读成，现在改不了：请看启动时的日志，改正 .env 后重启"
ENV_UNREADABLE = ".env 读不了（{reason}），设置先照旧"
ENV_CUT = ".env 没有了，或只剩一部分（我们的设置一行也没有，或断在一行中间），设置先照旧；请写完整，或重启"
SAME_VALUE = "{key} 本来就是 {value}"
RELOADED = "重新读过 .env 和 overrides.json，设置没有变"


def changed_settings(overridden: Mapping[str, str], problems: Sequence[str]) -> str:
    """List the settings changed at run time, and what in overrides.json has no effect."""
    lines = [f"{key} = {value or '（空）'}" for key, value in overridden.items()]
    heading = ["运行时改过（overrides.json，比 .env 优先；用回 .env：/记忆 配置 reset 键）："] if lines else []
    return "\n".join([*heading, *lines, *problems]) or NOTHING_CHANGED


def setting(state: core.SettingState) -> str:
    """Show one setting: its value, where it comes from, and when a change takes effect."""
    shown = f"{state.key} = {state.value or '（空）'}"
    origin = f"运行时改的，.env 里是 {state.env_value or '（空）'}" if state.is_overridden else ""
    default = "" if state.value == state.default else f"默认 {state.default or '（空）'}"
    when = "改了立即生效" if state.is_hot else "写在 .env 里，重启后生效"
    return f"{shown}（{'；'.join(part for part in (origin, default, when) if part)}）"


def moved(result: core.SettingsMoved, values: Mapping[str, str]) -> str:
    """Return what a change did: what has effect now or after a restart, what overrides.json hides, what is unused."""
    parts = [f"{key} 现在是 {values[key] or '（空）'}" for key in result.changed]
    parts += [f"{key} 重启后生效" for key in result.waiting]
    parts += [
        f"{key} 在 .env 里改了，但运行时改过它，仍是 {values[key] or '（空）'}；用 .env 的：/记忆 配置 reset {key}"
        for key in result.shadowed
    ]
    return "\n".join((*parts, *result.problems))


LINE_LENGTH = 80
UNKNOWN_SUBCOMMAND = "没有这个子命令，发送 /记忆 帮助 看看能做什么"
NOBODY = "匿名发言或频道里分不清是谁，用不了这个命令"
TOO_OFTEN = "命令用得太快了，请 {seconds} 秒后再试"
TROUBLE = "记忆暂时读写不了，请稍后再试；机器人管理员可以看日志"
OPENING = "记忆正在打开，请稍等一会儿再试"
CUT = "……后面还有，太长了没有发完"
NOTHING_FORGOTTEN = "最近 30 天你没有忘掉过这里的什么"
UNPINNED = "这条置顶去掉了"
NUMBER_UNKNOWN = "没有这个序号：请先发送 {command}，序号只对你在这里最近看到的那一次有效（10 分钟）"
LISTED_BY: Mapping[str, str] = {  # the commands that show each kind of list
    "items": "/记忆 列表 或 /记忆 搜索",
    "forgotten": "/记忆 列表 已忘",
    "beliefs": "/记忆 群记忆",
    "suggestions": "/记忆 建议",
}
NO_PAGE = "没有第 {page} 页；从头看：/记忆 列表"
NOT_YOURS = "这条不是你说的，只有群主、管理员或机器人管理员能让机器人忘掉"
ADMINS_ONLY = "只有群主、管理员或机器人管理员能用这个命令"
ADMIN_UNKNOWN = (
    "平台没有告诉我你是不是管理员（get_group_member_info 没有回答），所以没有执行；请检查协议端，或请机器人管理员操作"
)
UNPROVEN = "没能向平台核实这条消息，所以没有执行；请稍后再试，或请机器人管理员操作"
ALL = frozenset({"", "all", "全部"})
VERSION = r"(?:^|\s)第?\s*([0-9]{1,3})\s*版?(?=\s|$)"
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
CONFIRM_CLEAR = "会删掉这里的全部记忆：原话、整理出的事、侧写和置顶，不能恢复。确定的话，60 秒内再发一次同样的命令"
EXPORTED = "发给你了，共 {rows} 条（一行一条的 JSON，用文本编辑器就能看）"
EXPORTED_AS_TEXT = "平台不让发文件，内容在下面：\n{text}"
ON_HAS_NO_END = "「开」没有期限，所以没有改：直接发 /记忆 开；要停一段时间，发 /记忆 关 2小时"
_SWITCHED_ON = "好，这里说的会记，记住的也会用"
_SWITCHED = {
    "off": "这里不再记，也不再用；以前的留着",
    "record_only": "这里只记不用：继续记，但机器人回答时不会想起来",
    "recall_only": "这里只用不记：机器人还会想起以前的，新说的不记",
}
CORRECTED = "改好了：{text}"
INCOGNITO = "好，到{until}为止，你在这里说的不记，以后也不会补记；提前结束发送 /记忆 无痕 0"
NO_TIME = (
    "没看懂「{said}」是多久，所以没有改。"
    "可以写：30分钟、2小时、3天、半天、一周，或到18:00、到明天早上8点；不写就一直有效"
)
OVER = "{until} 已经过了，所以没有改；请写一个还没到的时间"
SHARED = "好，你私聊里的侧写，在你说话的每个群里也会用来回答，别人问起你时也可能说到；不想要了，发送 /记忆 共享 off"
NOT_SHARED = "好，你私聊里的侧写只在和你的私聊里用"
ROLLED_BACK = "{name}换回了 {at} 的那一版；换下来的也留着，可以再换回来"
INCOGNITO_ENDED = "无痕结束了，接下来说的会记"
CONSIDERED = "好，开始整理刚才的话了；过一会儿发送 /记忆 列表 看看"
CONSIDER_REFUSED = "现在收不下（排队的太多，或磁盘写不进）；说过的话都留着，过几分钟再发一次 /记忆 整理"
NOTHING_TO_CONSIDER = "没有新的话要整理：说过的都整理过了，或者这里没有记"
NOTHING_SAID = "这里最近没有记下什么话"
SUMMARY = "最近 {count} 句的总结：\n{text}"
UNKNOWN_JOB = "没有找到这一个任务：任务号看 /记忆 失败，写前几位就行，要能认出是哪一个"
REVIVED = "重新排队 {count} 个任务"
TRIED_NOW = "重新排队 {count} 个任务；等着的 {waiting} 段马上再试"
BY_RULES = frozenset({"规则", "rules"})
TAKEN_BY_RULES = "重新排队 {count} 个任务；模型不肯回答的由规则整理"
REINDEXED = "向量索引重建好了，共 {count} 条"
PAUSED = "整理停下了；说过的话照样收着，发送 /记忆 启 继续"
RESUMED = "继续整理了；还排着多少，看 /记忆 队列"


def pinned(text: str, *, is_cut: bool, for_group: bool, is_hidden: bool) -> str:
    """Confirm a pin; ``is_hidden``: its owner opted out."""
    whose = "和这个群里的人说话时都会想起" if for_group else "以后和你说话时会想起"
    whose = "但你发过 /记忆 别记我，发送 /记忆 可以记我 以后才会想起" if is_hidden else whose
    cut = f"（太长了，只留下前 {len(text)} 个字）" if is_cut else ""
    return f"记住了{cut}，{whose}：{short(text)}"


def switched(switch: str, until: datetime | None, zone: tzinfo) -> str:
    """Confirm the switch of a place, with the instant at which it ends by itself."""
    if switch == "on":
        return _SWITCHED_ON
    if until is None:
        return f"好，{_SWITCHED[switch]}；恢复发送 /记忆 开"
    return f"好，到{instant(until, zone)}为止，{_SWITCHED[switch]}。到时候自动恢复成又记又用；提前恢复发送 /记忆 开"


def instant(at: datetime, zone: tzinfo) -> str:
    """Return an instant to the minute for the middle of a Chinese sentence: with a space beside each digit."""
    local, today = at.astimezone(zone), datetime.now(zone).date()
    days = {-1: "昨天", 0: "今天", 1: "明天"}.get((local.date() - today).days)
    day = days or (f" {local:%m-%d}" if local.year == today.year else f" {local:%Y-%m-%d}")
    return f"{day} {local:%H:%M} "


def erased(erasure: core.Erasure, *, is_recorded: bool = False) -> str:
    """Report what an erasure removed, how many copies the operator must delete, and if the asker is still recorded."""
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


def announcement(capture: core.CaptureSettings, *, asks_provider: bool = False) -> str:
    """Return the notice that a group gets once: that the bot remembers, what is recorded, and whether it is sent."""
    sent = "，整理时发给机器人所用的大模型的服务商" if asks_provider else ""
    considered = {
        "off": "",
        "mentions": "，对我说的话里有用的整理成长期记忆",
        "all": "，大家说的话里有用的整理成长期记忆",
    }[capture.auto_consider]
    return (
        f"提示：我会记住群里的聊天（原话最多留 {capture.log_days} 天，被记下的事里引用的原话会留着{considered}{sent}"
        "），方便以后想起；"
        "想知道记住了什么、想让我忘掉，发送 /记忆 帮助"
    )


def off(reason: str) -> str:
    """Return the reply that the memory is off, with the reason."""
    return "记忆未启用" if reason in ("", NOT_ENABLED) else f"记忆未启用：{reason}"


def short(text: str) -> str:
    """Return a text on one line, cut to :data:`LINE_LENGTH` characters."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 1] + "…"


def viewed(shown: str, revisions: Sequence[core.Revision], zone: tzinfo) -> str:
    """Show somebody's profile and its past versions, numbered from the latest, to a superuser."""
    shown = shown or "还没有侧写"
    if not revisions:
        return f"{shown}\n没有更早的版本"
    lines = [
        f"{number}. {revision.profile.updated_at.astimezone(zone):%Y-%m-%d %H:%M}"
        for number, revision in enumerate(revisions, 1)
    ]
    return "\n".join((shown, "更早的版本（换回：/记忆 回滚 @某人 第几版）", *lines))


STOP = frozenset({"停", "取消", "stop"})
ALLOW, FORBID = frozenset({"允许", "allow"}), frozenset({"不许", "forbid"})
OPERATOR_ONLY = "补课要机器人管理员来做；他在这个群发一次 /记忆 补课 允许，群主也可以"
ALLOWED = "好，这个群的群主以后也可以补课；收回发送 /记忆 补课 不许"
FORBIDDEN = "好，这个群只有机器人管理员可以补课"
ALREADY = "这里正在补课，停下来发送 /记忆 补课 停"
NOTHING_TO_STOP = "这里没有在补课"
STOPPING = "好，读完手上这一页就停"
NOT_RECORDED = "这里现在不记（关着、只忆，或设置里不记），所以不补课"
NOT_TOLD = "群里还没有人知道我会记，而说明发不出去，所以不补课；请稍后再试"
ONLY_V11 = "OneBot v12 没有读历史消息的动作，补不了；可以导出聊天记录，用 cognitive-memory import-chat 导入"
STARTED = "开始补课：从最新的往前读 {wanted} 句，读到哪儿会说；停下来发送 /记忆 补课 停"
PROGRESS = "补课：读了 {seen} / {wanted} 句，新记下 {taken} 句"
ENDED = "补课完了，读了 {seen} 句：{summary}。从最早的开始整理，慢慢来"
STOPPED = "停下了，读了 {seen} 句：{summary}。再发一次 /记忆 补课 会接着补"
REFUSED = "协议端不给更早的了（{reason}），读了 {seen} 句：{summary}。再发一次 /记忆 补课 会接着补，已经记下的不会重复"


CONSOLE_MOUNTED = "控制台在 {path}：用 COGNITIVE_MEMORY__HTTP__TOKEN 登录，或者私聊发 /记忆 控制台 拿一次性登录码"
NEEDS_JINJA = (
    "控制台要 Jinja：pip install 'nonebot-plugin-cognitive-memory[console]'；"
    "不要控制台就写 COGNITIVE_MEMORY__HTTP__CONSOLE=false"
)
CODE = (
    "控制台登录码：{code}\n{minutes} 分钟内有效，只能用一次，不要转给别人。"
    "打开机器人地址后面的 {path}（在机器人这台机器上是 {address}）"
)
CLOSED = (
    "控制台没有开：要用 FastAPI 驱动，.env 里写 COGNITIVE_MEMORY__HTTP__TOKEN=一串随机字符，"
    "COGNITIVE_MEMORY__HTTP__CONSOLE 不能是 false，并装好 nonebot-plugin-cognitive-memory[console]；改完重启"
)


WRITTEN, NEAREST = "写法：{usage}", "没有这个子命令，最像的是 {usage}"
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
爬楼 catchup [多久]：你不在的时候这里说了什么；为什么 why：回复我的一句话，看它想起了什么
整理 consider：现在就把刚才的话整理成记忆
无痕 incognito [多久]：接下来你说的不记（默认 30 分钟，0 结束）
别记我 optout：从此不记我、不提我；可以记我 optin：恢复
忘记我 forget me：删掉关于我的全部；导出 export：把我的记忆发给我（私聊）
状态 status：记忆是否在工作；帮助 help：看这份说明"""
_HELP_GROUP = """\
—— 群主和管理员 ——
开 on、关 off [多久]、只记 record [多久]、只忆 recall [多久]：这个群记不记、用不用，例如 关 2小时
群记忆 beliefs [页]：这个群的规矩、习惯和看法；演进 history 序号：一条的来历
变更 changes [天数]：最近改了什么；演化 evolve [天数]：现在就从聊天里长出群记忆
淘汰 retire 序号、恢复 restore 序号：去掉或换回一条
建议 suggestions [采纳|不要 序号]：反复遇到的问题，可以记成常见问题、流程或技能
置顶 pin 内容：全群的置顶
总结 summarize [句数]：总结最近的聊天
清空 clear：删掉这个群的全部记忆"""
_HELP_PRIVATE = """\
—— 这个私聊 ——
开 on、关 off [多久]、只记 record [多久]、只忆 recall [多久]：这里记不记、用不用，例如 关 2小时
总结 summarize [句数]：总结最近的聊天
清空 clear：删掉这个私聊的全部记忆"""
_HELP_SUPERUSER = """\
—— 机器人管理员 ——
补课 backfill [句数|停|允许|不许]：把这里以前说过的也记下；允许 是让群主也能补
统计 stats、日报 daily（私聊）、队列 queue、失败 failed、重试 retry [任务号|规则]
重建索引 reindex、停 pause、启 resume
配置 config [get|set|reset|reload]：看和改设置
控制台 console：网页控制台的一次性登录码（私聊）
查看 view @某人|QQ号：侧写和它的版本；回滚 rollback @某人|QQ号 [第几版]：换回旧版"""
_HELPS = f"{_HELP}\n{_HELP_GROUP}\n{_HELP_SUPERUSER}"


def help_text(scene: core.Scene, *, decides: bool, is_superuser: bool) -> str:
    """Return the commands that somebody may use here; ``decides`` is True for an admin and in one's private chat."""
    parts = [_HELP]
    if decides:
        parts.append(_HELP_GROUP if scene.kind == "group" else _HELP_PRIVATE)
    if is_superuser:
        parts.append(_HELP_SUPERUSER)
    return "\n".join(parts)


def usage(command: Command, sentence: str = WRITTEN) -> str:
    """Return how a subcommand is written and what it does, by the help: the called one, or, as NEAREST, one like it."""
    word, name = command.words[0], command.name.replace("_", " ")
    said = re.search(rf"(?m)(?:^|[；、：]){word} {name}((?: [^\s：；、，（]+)*)[^：；\n]*(?:：([^；\n]+))?", _HELPS)
    arguments, does = said.groups() if said else ("", "")
    as_text = " [-t]" if command.takes == AS_TEXT else ""
    return sentence.format(usage=f"/记忆 {word}{arguments}{as_text}{f'：{does}' if does else ''}")
