"""The body of the quality report."""

from __future__ import annotations

from pydantic import BaseModel

import cognitive_memory_core as core

from .body import Answer


class ReportTotals(BaseModel):
    """Sums over the report; ``price`` is null where no model has a price."""

    events: int
    not_absolute: int
    never_recalled: int
    price: float | None
    merges_a_triage: float | None


class ReportBody(Answer):
    """The report and its totals."""

    report: core.QualityReport
    totals: ReportTotals

    @classmethod
    def of(cls, report: core.QualityReport) -> ReportBody:
        """Build the body from a report."""
        totals = ReportTotals(
            events=report.events,
            not_absolute=report.vague,
            never_recalled=report.never_recalled,
            price=report.price,
            merges_a_triage=report.merges_a_triage,
        )
        return cls(report=report, totals=totals)
