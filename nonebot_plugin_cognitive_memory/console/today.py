"""The first page: whether the memory works, and what was recorded lately, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from starlette.responses import Response

import cognitive_memory_core as core

from .charts import HEIGHT, WIDTH, bars
from .visit import Visit

DAYS = 14
PLACES = 8
PEOPLE = 8
LAG = 200  # events without a vector from which the index is behind
Tone = Literal["good", "busy", "bad"]


@dataclass(frozen=True)
class Remark:
    """A remark on the memory's health: the sentence ``key`` with its values, and the text of an error, or ""."""

    tone: Tone
    key: str
    values: Mapping[str, object]
    reported: str = ""


async def today(visit: Visit) -> Response:
    """Show the first page: the state of the memory, its growth by day, and the latest places and people."""
    memory, scene = visit.memory, visit.scene()
    status = await memory.status()
    if not memory.is_running and not status.totals.events:
        return await visit.show("today.html", remarks=list(remarks_on(status)), status_now=status, whole=None)
    activity = await memory.activity(scene, days=DAYS)
    listings = memory.listings
    return await visit.show(
        "today.html",
        remarks=list(remarks_on(status)),
        status_now=status,
        whole=activity,
        events=bars([(f"{day.day:%m-%d}", day.events, _memories_of(visit, day.day)) for day in activity.days]),
        lines=bars([(f"{day.day:%m-%d}", day.messages, "") for day in activity.days]),
        size=(WIDTH, HEIGHT),
        places=await visit.latest_places(PLACES, is_counted=True),
        people=await listings.people(scene, "", PEOPLE, 0),
    )


def _memories_of(visit: Visit, day: date) -> str:
    return visit.address("/memories", since=day.isoformat(), until=day.isoformat())


def remarks_on(status: core.Status) -> Iterator[Remark]:
    """Yield remarks on a status, the worst first; if none is bad, one at the end says that everything works."""
    found = [*_troubles(status), *_work(status)]
    yield from found
    if not any(remark.tone == "bad" for remark in found):
        yield Remark("good", "today.well", {})


def _troubles(status: core.Status) -> Iterator[Remark]:
    if not status.is_running:
        yield Remark("bad", "today.not_running", {}, status.reason)
    for name, error in status.failing:
        yield Remark("bad", "today.damaged" if error == status.damage else "today.failing", {"part": name}, error)
    failing = {name for name, _ in status.failing}
    for name, state in status.breakers:
        if state == "failed" and name not in failing:
            yield Remark("bad", "today.breaker", {"part": name})
    if status.last_error and not status.failing:
        yield Remark("bad", "today.last_error", {}, status.last_error)
    if status.jobs.failed:
        yield Remark("bad", "today.failed_jobs", {"count": status.jobs.failed})
    if status.dropped_messages:
        yield Remark("bad", "today.dropped", {"count": status.dropped_messages})


def _work(status: core.Status) -> Iterator[Remark]:
    if status.paused:
        yield Remark("busy", "today.paused", {})
    if status.jobs.pending or status.jobs.processing:
        values = {"pending": status.jobs.pending, "processing": status.jobs.processing}
        yield Remark("busy", "today.queue", values)
    if status.index_lag > LAG:
        yield Remark("busy", "today.lag", {"count": status.index_lag})
    if status.merges.facts:
        yield Remark("busy", "today.merges", {"facts": status.merges.facts, "profiles": status.merges.profiles})
    if status.is_over_daily_calls:
        yield Remark("busy", "today.over_calls", {})
    for name in status.without_model:
        yield Remark("good", f"today.without_{name}", {})


PAGES = (("GET", "/", today),)
