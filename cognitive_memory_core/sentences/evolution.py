"""Sentences on the evolution of a group's beliefs, and on suggestions of what could become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ALREADY_RUNNING = "这个群的记忆正在演化，等它完成再试"
ONLY_GROUPS = "群记忆只在群里有，请到群里来看"
NO_MODEL = "机器人还没接大模型，群记忆没有变化；机器人管理员照 docs/settings.md「接上模型」设好后再试"
NOT_RECORDED = "这个群没有开启记录，群记忆没有变化"
NOTHING_NEW = "无新消息，群记忆没有变化"
OVERTAKEN = "演化期间有人要求忘记或不再记录，这次的结果作废，群记忆没有变化；请再来一次"
FAILED = "模型这次没有答好，群记忆没有变化（{reason}）"
SAME_ALREADY_ACTIVE = "已经有一条同样的群记忆"
UNKNOWN_BELIEF = "这里没有这条群记忆"
NOT_RETIRED = "这条群记忆没有被淘汰，不用恢复"
RETIRED_ALREADY = "这条群记忆已经淘汰了"
CHANGED_MEANWHILE = "这条群记忆刚刚被改过，请重新看一遍再决定"
RETIRED_BY_HAND = "管理员淘汰"
RESTORED_BY_HAND = "管理员恢复"
REWORDED_BY_HAND = "管理员改写"
BAD_LENGTH = "一条群记忆要有 1 到 {most} 字，请改一改再来"
REASONS: Mapping[str, str] = {
    "unreadable": "读不懂",
    "unknown": "没有这条",
    "empty": "没有内容",
    "too_long": "太长",
    "unclear": "离开聊天看不懂",
    "duplicate": "重复",
    "barred": "管理员淘汰过",
    "drift": "编号来历不明",
    "alone": "只有一个人说",
    "unfounded": "聊天里没有依据",
    "contrary": "与依据相反",
    "too_many": "条数已满",
    "too_many_deletions": "一次淘汰太多",
    "changed_meanwhile": "期间被改过",
}
SUGGESTION_KINDS: Mapping[str, str] = {"faq": "常见问题", "workflow": "流程", "skill": "技能"}
UNKNOWN_SUGGESTION = "没有这条建议：它已经处理过，或依据变了；请重新看一遍建议再决定"
SUGGESTION_ACCEPTED = "管理员采纳了一条建议"


def summary(kept: int, done: Mapping[str, int], rejected: Mapping[str, int], unread: int) -> str:
    """Return one sentence with what a run did, what it rejected, and how many older lines it did not read."""
    said = f"保留 {kept} 条，更新 {done['update']} 条，新增 {done['create']} 条，淘汰 {done['delete']} 条"
    reasons = "，".join(f"{REASONS[reason]} {count}" for reason, count in rejected.items())
    refused = f"；没有采用 {sum(rejected.values())} 条（{reasons}）" if reasons else ""
    return f"{said}{refused}" + (f"；更早的 {unread} 条消息没有读" if unread else "")


STRENGTH_SET = "强度改为 {strength:g}"


def draft(kind: str, problem: str, steps: Sequence[str], outcome: str) -> str:
    """Return one line for a group to keep: the problem, what to do, and the outcome."""
    said = problem.rstrip("。.！!？?，,；; ")
    did = "；".join(f"{at}. {step}" for at, step in enumerate(steps, 1)) if len(steps) > 1 else "".join(steps)
    came = f"（{outcome.rstrip('。. ')}）" if outcome else ""
    match kind:
        case "faq":
            return f"遇到“{said}”：{did}{came}"
        case "workflow":
            return f"“{said}”的流程：{did}{came}"
        case _:
            return f"会处理“{said}”：{did}{came}"
