"""Sentences on suggestions: their drafts, and messages about decisions on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

KINDS: Mapping[str, str] = {"faq": "常见问题", "workflow": "流程", "skill": "技能"}
UNKNOWN_SUGGESTION = "没有这条建议：它已经处理过，或依据变了；请重新看一遍建议再决定"
ACCEPTED = "管理员采纳了一条建议"


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
