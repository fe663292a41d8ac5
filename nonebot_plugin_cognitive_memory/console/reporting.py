"""The page of the quality report."""

from __future__ import annotations

from starlette.responses import Response

from .visit import Visit

DAYS = 30
MOST_ROWS = 30


async def report(visit: Visit) -> Response:
    """Show the quality report; texts are compared, which takes seconds, only where that is asked for."""
    days = min(max(visit.number("days", DAYS), 1), 366)
    examine = visit.asked("examine") == "yes"
    found = await visit.memory.report(visit.scene(), days=days, examine=examine)
    shown = (*found.places[:MOST_ROWS], *found.teachers[:MOST_ROWS])
    names = await visit.names_of(one.scope for one in shown)
    return await visit.show("report.html", report=found, names=names, days=days, examine=examine, most=MOST_ROWS)


PAGES = (("GET", "/report", report),)
