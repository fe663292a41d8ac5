"""The page of the quality report."""

from __future__ import annotations

from starlette.responses import Response

from .visit import Found, Visit

DAYS = 30
MOST_ROWS = 30


async def report(visit: Visit) -> Response:
    """Show the quality report; texts are compared, which takes seconds, only on request."""
    days = min(max(visit.number("days", DAYS), 1), 366)
    examine = visit.asked("examine") == "yes"
    finding = _report_values(visit, days, examine=examine)
    return await visit.show_found("report.html", finding, days=days, examine=examine, most=MOST_ROWS)


async def _report_values(visit: Visit, days: int, *, examine: bool) -> Found:
    found = await visit.memory.report(visit.scene(), days=days, examine=examine)
    shown = (*found.places[:MOST_ROWS], *found.teachers[:MOST_ROWS])
    return {"report": found, "names": await visit.names_of(one.scope for one in shown)}


PAGES = (("GET", "/report", report),)
