"""Replies on the state of the memory: what waits, what is unavailable, figures and jobs; and words on picture cards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Literal

import cognitive_memory_core as core

from .commands import instant
from .log import place

NAME = "认知记忆"
WORKING, PAUSED = "记忆正在工作", "整理已暂停"
YOU_HERE, YOU_IN_PRIVATE, GROUP = "{group}里的你", "私聊里的你", "这个群的侧写"
THIS_GROUP, SOMEBODY = "这个群", "你"
UPDATED = "{whose} · 更新于 {at}"
PROFILE_FOOTER = "不想被记：/记忆 别记我 · 文字版：/记忆 侧写 -t"
SELF_TOLD = "自己说的，未经核实"
GROUP_FOOTER = "文字版：/记忆 群侧写 -t"
STATUS_SIGN, STATUS_FOOTER = "忆", "记住了什么：/记忆 列表 · 能做什么：/记忆 帮助"
STATS_SIGN, STATS_TITLE, STATS_SUBTITLE = "数", "统计", "整个机器人 · {at}"
STATS_FOOTER = "队列：/记忆 队列 · 失败的任务：/记忆 失败 · 文字版：/记忆 统计 -t"
DAILY_SIGN, DAILY_TITLE, DAILY_SUBTITLE = "报", "日报", "{since} 到 {at}"
COSTS_AT = "三十天一共花了多少：网页 {path}/running#costs"
DAILY_FOOTER = "全部数字：/记忆 统计 · 网页：/记忆 控制台 · 文字版：/记忆 日报 -t"
LEARNED, SAID, FORGOTTEN, SPENT, WAITING = "新记住的", "句原话", "忘掉的", "次模型调用", "失败的任务"
NEWEST = "刚记住的"
EVENTS_HERE, LINES_HERE, PINS_HERE = "这里记住的事", "这里的原话", "置顶"
EVENTS, LINES, MEMOS, PINS, CALLS, TOKENS = "记住的事", "原话", "备忘", "置顶", "今天调用模型", "今天的 token"
LINES_BY_DAY, EVENTS_BY_DAY = "每天的原话", "记住的事，按发生的日子"
LINES_IN_DAYS, EVENTS_IN_DAYS = "{days} 天共 {count} 句", "{days} 天共 {count} 件"
HALTED = "整理停着，发送 /记忆 启 继续"
NO_DAYS = "最近 {days} 天没有人说话，也没有记下什么"


Tone = Literal["good", "busy", "bad", "plain"]
Remark = tuple[Tone, str]
PLACES = 5  # switched places that the figures name
_SWITCH = {
    "off": "这里关着：不记，也不用",
    "record_only": "这里只记不用：新说的会记，但机器人回答时不会想起来",
    "recall_only": "这里只用不记：机器人会想起以前的，新说的不记",
}
_SWITCHED_SHORT = {"off": "不记也不用", "record_only": "只记不用", "recall_only": "只用不记"}


def nothing_yet(lines: int, seconds: float) -> str:
    """Return that no event is stored here, and when the waiting lines will be handed to the historian."""
    return f"这里还没有整理出记忆。{waiting_lines_text(lines, seconds)}" if lines else "这里还没有记住什么"


def waiting_lines_text(lines: int, seconds: float) -> str:
    """Return how many lines wait for the historian, and in how many seconds it gets them."""
    minutes = max(round(seconds / 60), 1)
    return f"攒了 {lines} 句，大约 {minutes} 分钟后整理；现在就要：/记忆 整理"


def switch_remarks(switch: core.PlaceSwitch, zone: tzinfo) -> list[Remark]:
    """Return a remark on the switch of this place, with its end; none if it is "on"."""
    if switch.switch == "on":
        return []
    return [("busy", f"{_SWITCH[switch.switch]}{_until(switch.until, zone)}（恢复：/记忆 开）")]


def switches_remarks(switches: Sequence[core.PlaceSwitch], zone: tzinfo) -> list[Remark]:
    """Return a remark on each of the first places whose switch is not "on", with its end."""
    told: list[Remark] = [
        ("plain", f"{place(one.scope)} {_SWITCHED_SHORT[one.switch]}{_until(one.until, zone)}")
        for one in switches[:PLACES]
    ]
    more = len(switches) - PLACES
    return told + _remarks((more > 0, "plain", f"还有 {more} 个地方不是又记又用（cognitive-memory status）"))


def _until(until: datetime | None, zone: tzinfo) -> str:
    return f"，到{instant(until, zone)}为止" if until else ""


def _remarks(*rows: tuple[object, Tone, str]) -> list[Remark]:
    """Return the remarks that apply: those of the rows whose first value is true."""
    return [(tone, line) for applies, tone, line in rows if applies]


def status_remarks(now: core.Status, waiting: tuple[int, float]) -> list[Remark]:
    """Return remarks on the state; ``waiting`` is how many lines wait for the historian here, and how many seconds."""
    in_hand = now.jobs.pending + now.jobs.processing
    away = [_PARTS.get(name, name) for name, state in now.breakers if state == "failed"]
    return _remarks(
        (waiting[0], "busy", waiting_lines_text(*waiting)),
        (True, "plain", f"整个机器人一共记住 {now.totals.events} 件事"),
        ("historian" in now.without_model, "plain", "没有接大模型：常见的说法会整理成记忆，别的只留原话"),
        (now.lender, "plain", f"整理用 {now.lender} 的模型 {now.model}"),
        (now.is_over_daily_calls, "busy", "今天的模型调用已用完：先按规则整理，明天恢复"),
        (in_hand, "busy", f"还有 {in_hand} 段对话正在整理或等着"),
        *((True, *remark) for remark in _merge_remarks(now)),
        (now.paused, "busy", "机器人管理员暂停了整理，说过的话都还收着"),
        (now.refusal, "bad", "模型服务不肯回答，说过的话都等着；机器人管理员请看 /记忆 失败"),
        (now.jobs.failed, "bad", f"有 {now.jobs.failed} 段没整理成，原话没丢；机器人管理员可以看 /记忆 失败"),
        (now.refused, "bad", f"来得太多、没有收下的有 {now.refused} 次"),
        (now.damage, "bad", "账本有几处坏了，其余照常；机器人管理员请运行 cognitive-memory doctor，从备份恢复"),
        (away, "bad", f"暂时用不了：{'、'.join(away)}；恢复后会自己接上"),
    )


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


def _merge_remarks(now: core.Status) -> list[Remark]:
    facts, profiles, failing = now.merges.facts, now.merges.profiles, now.merges.failing
    return _remarks(
        (facts, "busy", f"有 {facts} 件事会自己写进 {profiles} 份侧写，不用管（看侧写：/记忆 侧写）"),
        (failing, "busy", f"{failing} 份侧写没写成，过一会儿再试；要写的事都还在"),
    )


def _index_remarks(now: core.Status) -> list[Remark]:
    index, activity = now.index, _ACTIVITIES[now.index.activity]
    is_behind = index.behind and not index.to_build
    return _remarks(
        (now.index_lag, "busy", f"还有 {now.index_lag} 条没有算好向量"),
        (index.to_build, "busy", f"正在建向量索引：{index.built}/{index.to_build}，期间用精确检索"),
        (is_behind, "busy", f"向量库{activity}，还差 {index.behind} 条，期间用精确检索"),
    )


def daily_remarks(now: core.Status) -> list[Remark]:
    """Return what the operator has to do, and how; if there is nothing to do, one remark that says so."""
    failed = now.jobs.failed
    told = _remarks(
        (failed, "bad", f"{failed} 个任务失败了：/记忆 失败 看原因，/记忆 重试 再做"),
        (now.refusal, "bad", refused(now)),
        (now.paused, "busy", HALTED),
    )
    told += [one for one in stats_remarks(now) if one[0] in ("busy", "bad")]
    return told or [("good", "一切正常，没有要动手的")]


def stats_remarks(now: core.Status) -> list[Remark]:
    """Return remarks on the figures: model calls by purpose, what was lost, the latest error."""
    spent: list[Remark] = [
        ("plain", f"{_PURPOSES.get(one.purpose, one.purpose)}：今天调用模型 {one.calls} 次") for one in now.spent_today
    ]
    restarts = sum(count for _, count in now.restarts)
    return [
        *_remarks((now.lender, "plain", f"整理用 {now.lender} 的 {now.model}，算在它的密钥上")),
        *spent,
        *_index_remarks(now),
        *_remarks(
            (now.refused, "bad", f"启动以来没收下的轮次 {now.refused}"),
            (now.dropped_messages, "bad", f"启动以来没记下的消息 {now.dropped_messages}"),
            (now.removed_messages, "bad", f"启动以来按大小删掉的消息 {now.removed_messages}"),
            (restarts, "bad", f"启动以来被取消后重新开始的后台循环 {restarts}"),
            (now.last_error, "bad", f"最近的错误：{now.last_error[:200]}"),
        ),
    ]


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
    halted = _remarks((now.paused, "busy", HALTED))
    return "\n".join([*lines, *(line for _, line in (*_merge_remarks(now), *halted, *_index_remarks(now)))])


def refused(now: core.Status) -> str:
    """Return why a provider refuses, what waits, and what a superuser can do; "" if no provider does."""
    if not now.refusal:
        return ""
    waiting = now.jobs.pending + now.jobs.processing
    return (
        f"{now.refusal}。{waiting} 段对话等着，没有丢：改好后发 /记忆 重试，马上再试；"
        "发 /记忆 重试 规则，就先由规则整理（满一小时也会这样），以后再说到时模型会改写"
    )


def failed_list(jobs: Sequence[core.FailedJob], total: int, zone: tzinfo, id_length: int) -> str:
    """List failed jobs: id, time, place, error, and what to do."""
    if not jobs:
        return "没有失败的任务"
    lines = [f"失败的任务 {total} 个（重试一个：/记忆 重试 任务号；全部重来：/记忆 重试）"]
    for failed in jobs:
        where = place(failed.job.work.scene.scope) if failed.job else "任务文件坏了"
        at = failed.failed_at.astimezone(zone)
        told = f"试了 {failed.attempts} 次：{failed.error[:80]}；" if failed.job else ""
        lines.append(f"{failed.id[:id_length]} [{at:%m-%d %H:%M}] {where}，{told}{failed.advice}")
    return "\n".join(lines)
