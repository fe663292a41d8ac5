"""The gist of the quality report, for a superuser."""

from __future__ import annotations

import cognitive_memory_core as core

from .status import Remark

_SHOWN = 3


def remarks(report: core.QualityReport) -> list[Remark]:
    """Return the report in short: people who said too large a share, events that were never recalled, and costs."""
    said: list[Remark] = [
        ("bad", f"群 {one.scope.place_id} 记住的事里，{one.share:.0%} 是 {one.name or '某位成员'} 一个人说的，请看看")
        for one in report.dominant[:_SHOWN]
    ]
    if report.events and report.counted_since is not None:
        said.append(("plain", f"{report.never_recalled} 件事还没有被想起过（从 {report.counted_since:%m-%d} 起计）"))
    if report.price is not None:
        said.append(("plain", f"最近 {report.days} 天模型花了 {report.price:.2f}"))
    return [*said, *([("plain", "重复、矛盾和全文：cognitive-memory report")] if report.events else [])]
