"""The first page: what was recorded in a year, what was learned last, and where and by whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

from starlette.responses import Response

import cognitive_memory_core as core

from .charts import Drawn, calendar
from .health import remarks_on
from .visit import Found, Visit

DAYS = 366
NEWEST = 8
PLACES = 6
PEOPLE = 8


async def today(visit: Visit) -> Response:
    """Show the first page: its figures at once, the rest when it is there."""
    status = await visit.memory.status()
    return await visit.show_found("today.html", _rest(visit), remarks=list(remarks_on(status)), status_now=status)


async def _rest(visit: Visit) -> Found:
    """Return what stands below the figures as values of the template; nothing while no memory is open."""
    memory, scene = visit.memory, visit.scene()
    if not memory.embedder:
        return {"whole": None}
    activity = await memory.activity(scene, days=DAYS)
    events = await memory.listings.events(scene, core.EventListing(), NEWEST, 0)
    days = {day.day: day.messages + day.events for day in activity.days}
    return {
        "whole": activity,
        "year": calendar_of(visit, days, place="", user_id=""),
        "newest": events,
        "names": await visit.names_of(event.scope for event in events),
        "places": await visit.latest_places(PLACES, is_counted=True),
        "people": await memory.listings.people(scene, "", PEOPLE, 0),
    }


def calendar_of(visit: Visit, days: Mapping[date, int], *, place: str, user_id: str, weeks: int = 53) -> Drawn:
    """Return a calendar whose days lead to the lines of that day, in a place or of a person."""
    path: Callable[[date], str] = lambda day: visit.address("/lines", day=day.isoformat(), place=place, user_id=user_id)  # noqa: E731  # with its type
    until = max(days, default=visit.now.date())
    return calendar(days, until, path, weeks=weeks)


PAGES = (("GET", "/", today),)
