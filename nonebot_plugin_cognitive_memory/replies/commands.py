"""Replies to commands, for people: refusals, confirmations and profiles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

import cognitive_memory_core as core

from .markdown import plain_lines
from .tools import NOT_ENABLED

LINE_LENGTH = 80
UNKNOWN_SUBCOMMAND = "没有这个子命令，发送 /记忆 帮助 看看能做什么"
NOBODY = "匿名发言或频道里分不清是谁，用不了这个命令"
TOO_OFTEN = "命令用得太快了，请 {seconds} 秒后再试"
TROUBLE = "记忆暂时读写不了，请稍后再试；机器人管理员可以看日志"
OPENING = "记忆正在打开，请稍等一会儿再试"
CUT = "……后面还有，太长了没有发完"
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
    days = {0: "今天", 1: "明天"}.get((local.date() - today).days)
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


def profile(shown: core.Profile, zone: tzinfo) -> str:
    """Show a profile without Markdown, which QQ does not render."""
    updated = shown.updated_at.astimezone(zone).replace(tzinfo=None).isoformat(" ", "minutes")
    tags = [f"标签：{'、'.join(shown.tags)}"] if shown.tags else []
    return "\n".join((f"{shown.name or '侧写'}（更新于 {updated}）", *tags, plain(shown.summary)))


def plain(markdown: str) -> str:
    """Return Markdown as plain text: headings in brackets, dots for list items, no emphasis."""
    forms = {"heading": "【{}】", "item": "· {}", "text": "{}"}
    return "\n".join(forms[kind].format(text) for kind, text in plain_lines(markdown))


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
