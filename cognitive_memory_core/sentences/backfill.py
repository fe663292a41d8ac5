"""Sentences on lines that were said before: what became of them, and what is wrong with a file of them."""

from __future__ import annotations

from collections.abc import Mapping

REASONS = {
    "own": "机器人自己说的",
    "ignored": "设置里不记的人或群",
    "opted_out": "发过「别记我」的人说的",
    "switched_off": "这里现在不记",
    "erased": "说话的人或这里清空以前的",
    "incognito": "无痕时说的",
    "unknown": "当时该不该记已经不知道了（那以后开关或「别记我」改过，或者账本升级过）",
    "withdrawn": "撤回或忘掉了的",
    "too_old": "比原话保留的天数（capture.log_days）更早的",
    "future": "时间在将来的",
    "blank": "没有文字的",
}


def outcome(taken: int, known: int, left_out: Mapping[str, int]) -> str:
    """Return how many lines were taken, were known already, and were left out for which reason."""
    reasons = "；".join(f"{REASONS[reason]} {count} 句" for reason, count in left_out.items() if count)
    return f"新记下 {taken} 句，原来就有 {known} 句" + (f"，没有记：{reasons}" if reasons else "")
