"""The page of what was said: the lines of a day, a place or a person, with what became memory marked."""

from __future__ import annotations

from collections import defaultdict

from starlette.responses import Response

import cognitive_memory_core as core

from .visit import Found, Visit

LINES = 100  # of a page
QUOTED = 80  # characters of the line that is answered


async def lines(visit: Visit) -> Response:
    """List the lines of the log, the newest day first, and each day as it was said."""
    start = visit.day("day")
    window = core.Interval(start, end) if start and (end := visit.day("day", is_end=True)) else None
    wanted = core.LineListing(visit.place(visit.asked("place")), await visit.person("user_id"), window)
    places = await visit.offered_places(wanted.place)
    return await visit.show_found("lines.html", _listed(visit, wanted), wanted=wanted, places=places)


async def _listed(visit: Visit, wanted: core.LineListing) -> Found:
    listings, scene = visit.memory.listings, visit.scene()
    found = await listings.lines(scene, wanted, LINES + 1, (visit.page - 1) * LINES)
    days: dict[tuple[str, core.Scope], list[core.Message]] = defaultdict(list)
    for line in found[LINES - 1 :: -1]:
        days[f"{line.sent_at.astimezone(visit.zone):%Y-%m-%d}", line.scene.scope].append(line)
    said = {line.id: line for line in found}
    return {
        "days": sorted(days.items(), key=lambda one: one[1][-1].sent_at, reverse=True),
        "answered": {one.id: quoted(said[one.reply_to]) for one in found if one.reply_to in said},
        "learned": await listings.learned_from(scene, list(said)),
        "names": await visit.names_of(scope for _, scope in days),
        "has_more": len(found) > LINES,
    }


def quoted(line: core.Message) -> str:
    """Return the beginning of a line that is answered, with who said it."""
    said_by = line.scene.user_name or line.scene.user_id
    return f"{said_by}：{line.text[:QUOTED]}" if not line.is_bot and said_by else line.text[:QUOTED]


PAGES = (("GET", "/lines", lines),)
