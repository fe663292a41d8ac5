"""The report as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any, cast

from ..domain.quality import QualityReport
from ..domain.scope import Scope


def report_figures(report: QualityReport) -> dict[str, Any]:
    """Return all fields and totals of a report for JSON; a place is agent, place and place_id, an instant ISO 8601."""
    latencies = [
        {**_plain(one), "count": one.count, "median_ms": one.quantile(0.5), "p95_ms": one.quantile(0.95)}
        for one in report.latencies
    ]
    totals = {
        "events": report.events,
        "not_absolute": report.vague,
        "never_recalled": report.never_recalled,
        "price": report.price,
        "merges_a_triage": report.merges_a_triage,
    }
    return {**_plain(report), "latencies": latencies, "dominant": _plain(report.dominant), "totals": totals}


def _plain(value: object) -> Any:
    if isinstance(value, Scope):
        return {"agent": value.agent, "place": value.kind, "place_id": value.place_id}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("tuple[object, ...]", value)]
    return value.isoformat() if isinstance(value, date) else value
