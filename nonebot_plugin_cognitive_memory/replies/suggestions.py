"""Replies to the command on suggestions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

import cognitive_memory_core as core

NONE_YET = "现在没有建议：同一个问题有几个人、或在几天里遇到过，才会出现在这里"
NUMBER_UNKNOWN = "没有这个序号：请先发送 /记忆 建议，序号只对你在这里最近看到的那一次有效（10 分钟）"
ACCEPTED = "采纳了：这条成了群记忆，说到它时会用上；看 /记忆 群记忆，不要了就 /记忆 淘汰 序号"
DISMISSED = "好，这个问题不再建议"
DECISIONS: Mapping[str, bool] = {
    **dict.fromkeys(("accept", "采纳", "接受", "要"), True),
    **dict.fromkeys(("dismiss", "不要", "忽略", "驳回"), False),
}
_KINDS = {"faq": "常见问题", "workflow": "流程", "skill": "技能"}


def listed(suggestions: Sequence[core.Suggestion], zone: tzinfo) -> str:
    """List suggestions with their drafts, who met the problem on how many days, and when it was met last."""
    if not suggestions:
        return NONE_YET
    lines = [f"建议 {len(suggestions)} 条（采纳 /记忆 建议 采纳 序号，不要 /记忆 建议 不要 序号）"]
    for at, one in enumerate(suggestions, 1):
        met = f"{len(one.people)} 个人、{one.days} 天里遇到过，最近 {one.last_at.astimezone(zone):%m-%d}"
        lines.append(f"{at}. [{_KINDS[one.kind]}] {one.draft}\n   依据 {len(one.event_ids)} 条：{met}")
    return "\n".join(lines)
