"""Replies to commands on a group's beliefs, and on suggestions of more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

import cognitive_memory_core as core

NOTHING_YET = "还没有群记忆：群里聊得多了会按时长出来，也可以发送 /记忆 演化 7"
NUMBER_UNKNOWN = "没有这个序号：请先发送 /记忆 群记忆，序号只对你在这里最近看到的那一次有效（10 分钟）"
RETIRED = "不再用这条了：{statement}\n以后也不会自动记回来；想找回：先发 /记忆 群记忆，再发 /记忆 恢复 加它的序号"
RESTORED = "恢复了：{statement}"
RESTORE_REFUSED = "恢复群记忆：{refusal}；恢复自己忘掉的：先发送 /记忆 列表 已忘"
_CHANGES_UNDONE = (
    "注“演化”的，是机器人读了聊天自己改的。觉得不对，先发 /记忆 群记忆 看序号（比如 3）：\n"
    "不要这一条：/记忆 淘汰 3；又想要了：/记忆 恢复 3\n"
    "想换回以前的说法：/记忆 演进 3，挑一版恢复"
)
NO_SUGGESTIONS = "现在没有建议：同一个问题有几个人、或在几天里遇到过，才会出现在这里"
SUGGESTION_UNKNOWN = "没有这个序号：请先发送 /记忆 建议，序号只对你在这里最近看到的那一次有效（10 分钟）"
ACCEPTED = "采纳了：这条成了群记忆，说到它时会用上；看 /记忆 群记忆，不要了就 /记忆 淘汰 序号"
DISMISSED = "好，这个问题不再建议"
DECISIONS: Mapping[str, bool] = {
    **dict.fromkeys(("accept", "采纳", "接受", "要"), True),
    **dict.fromkeys(("dismiss", "不要", "忽略", "驳回"), False),
}
_KINDS = {"faq": "常见问题", "workflow": "流程", "skill": "技能"}
_ACTIONS = {"create": "新增", "update": "更新", "delete": "淘汰", "restore": "恢复", "strength": "强度"}
_BY_EVOLUTION, _BY_OPERATOR = "演化", "机器人管理员"


def listed(page: core.BeliefPage, first: int, number: int, *, is_more: bool) -> str:
    """List beliefs, numbered from ``first``, with version and strength; retired and sleeping ones are marked."""
    calls = f"怎么来的：/记忆 演进 {first}；不要了：/记忆 淘汰 {first}；找回淘汰的：/记忆 恢复 加序号"
    lines = [f"群记忆 {page.total} 条（{calls}）"]
    for at, one in enumerate(page.beliefs, first):
        mark = "（已淘汰）" if one.status != "active" else "（很久没人提，先不用）" if one.is_asleep else ""
        lines.append(f"{at}. {mark}{one.statement}（第 {one.version} 版）")
    return "\n".join((*lines, *([f"下一页：/记忆 群记忆 {number + 1}"] if is_more else [])))


def history(versions: Sequence[core.Belief], zone: tzinfo) -> str:
    """Show the versions of a belief, oldest first, each with its day, its reason and how many people said it."""
    if not versions:
        return NOTHING_YET
    lines = ["这条的来历，从旧到新（想换回旧的说法，发 /记忆 恢复 加它的序号）"]
    for at, one in enumerate(versions, 1):
        people = f"{len(one.supporters)} 个人说过" if one.supporters else ""
        told = "，".join(part for part in (one.change_summary, people) if part)
        day = one.updated_at.astimezone(zone)
        lines.append(f"{at}. [{day:%Y-%m-%d}] 第 {one.version} 版：{one.statement}{f'（{told}）' if told else ''}")
    lines[-1] += " ← 现在用这一版" if versions[-1].status == "active" else " ← 已淘汰"
    return "\n".join(lines)


def changes(log: Sequence[core.Change], days: int, zone: tzinfo) -> str:
    """Show the change log by day, oldest first, and say how to undo a change."""
    if not log:
        return f"最近 {days} 天群记忆没有变化"
    lines = [f"最近 {days} 天的变更 {len(log)} 条"]
    day = ""
    for one in log:
        at = one.changed_at.astimezone(zone)
        if f"{at:%Y-%m-%d}" != day:
            day = f"{at:%Y-%m-%d}"
            lines.append(f"—— {day} ——")
        lines.append(f"{at:%H:%M} {_ACTIONS[one.action]}：{_change_text(one)}")
    return "\n".join((*lines, _CHANGES_UNDONE))


def evolved(evolution: core.Evolution) -> str:
    """Report what a run did, with the new words of each change."""
    told = [f"{_ACTIONS[one.action]}：{_change_text(one)}" for one in evolution.changes]
    return "\n".join((evolution.message, *told))


def _change_text(change: core.Change) -> str:
    """Return the statements before and after a change, the reason, and who decided."""
    before, after = change.old_statement, change.new_statement
    words = f"{before} → {after}" if before and after and before != after else after or before
    by = {"": _BY_EVOLUTION, "operator": _BY_OPERATOR}.get(change.changed_by, f"QQ({change.changed_by})")
    reason = f"；{change.change_reason}" if change.change_reason else ""
    return f"{words}（{by}{reason}）"


def suggestions(found: Sequence[core.Suggestion], zone: tzinfo) -> str:
    """List suggestions with their drafts, who met the problem on how many days, and when it was met last."""
    if not found:
        return NO_SUGGESTIONS
    lines = [f"建议 {len(found)} 条（采纳 /记忆 建议 采纳 序号，不要 /记忆 建议 不要 序号）"]
    for at, one in enumerate(found, 1):
        met = f"{len(one.people)} 个人、{one.days} 天里遇到过，最近 {one.last_at.astimezone(zone):%m-%d}"
        lines.append(f"{at}. [{_KINDS[one.kind]}] {one.draft}\n   依据 {len(one.event_ids)} 条：{met}")
    return "\n".join(lines)
