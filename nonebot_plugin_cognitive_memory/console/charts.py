"""Pictures as numbers for an SVG that a template draws: each function returns the values that its template reads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

import cognitive_memory_core as core

CELL, WEEKS = 14, 53  # pixels of a day with its gap; columns of a calendar
WIDTH, HEIGHT = 640, 180
MOST_NODES = 40
SPAN = 1_000  # length of the axis of a timeline
Drawn = Mapping[str, Any]


def calendar(days: Mapping[date, int], until: date, path: Callable[[date], str], *, weeks: int = WEEKS) -> Drawn:
    """Return a calendar that ends with a day: a column for each week, a row for each day of it, months above.

    A cell has its place, how much happened from 0 to 4, and, if anything did, a label and the page to which it links.
    """
    first = until - timedelta(days=until.weekday() + 7 * (weeks - 1))
    most = max(days.values(), default=0)
    cells, months = list[Drawn](), list[tuple[int, str]]()
    for number in range((until - first).days + 1):
        day = first + timedelta(days=number)
        x, y, count = number // 7 * CELL, number % 7 * CELL + 16, days.get(day, 0)
        if day.day == 1 and x + 2 * CELL <= weeks * CELL:
            months.append((x, f"{day:%m}"))
        level = math.ceil(4 * math.sqrt(count / most)) if count else 0
        linked = path(day) if count else ""
        cells.append({"x": x, "y": y, "level": level, "label": f"{day}: {count}", "path": linked})
    size = {"width": weeks * CELL, "height": 7 * CELL + 16}
    return {"cells": cells, "months": months, "is_empty": not most, **size}


def days_of(instants: Iterable[datetime], zone: tzinfo) -> dict[date, int]:
    """Count instants by their local day."""
    return Counter(instant.astimezone(zone).date() for instant in instants)


def costs(spent: Sequence[tuple[date, core.Spending]], until: date, days: int, limit: int) -> Drawn:
    """Return the chart of the calls of some days, stacked by purpose, with the height of the day's limit if in sight.

    A part's ``series`` is the number of its purpose.
    """
    purposes = sorted({one.purpose for _, one in spent})
    totals = Counter[date]()
    for day, one in spent:
        totals[day] += one.calls
    highest = max(totals.values(), default=0)
    most = max(highest, limit if limit < 3 * highest else 0, 1)
    step, parts, tops = WIDTH / days, list[Drawn](), dict[date, float]()
    for day, one in spent:
        column = days - 1 - (until - day).days
        height = (HEIGHT - 14) * one.calls / most
        tops[day] = tops.get(day, HEIGHT) - height
        parts.append(
            {
                "x": round(column * step + step * 0.15, 1),
                "y": round(tops[day], 1),
                "width": round(step * 0.7, 1),
                "height": round(height, 1),
                "series": purposes.index(one.purpose) % 7,
                "label": f"{day}: {one.calls}",
            }
        )
    ticks = [(round(n * step, 1), f"{until - timedelta(days=days - 1 - n):%m-%d}") for n in range(0, days, 5)]
    limit_y = round(HEIGHT - (HEIGHT - 14) * limit / most, 1) if 0 < limit <= most else None
    return {"parts": parts, "purposes": purposes, "ticks": ticks, "most": most, "limit_y": limit_y}


def graph(answers: Sequence[core.Answering], bot: str) -> Drawn:
    """Return who answers whom: at most :data:`MOST_NODES` people on an ellipse, those with most answers first.

    ``bot`` is what the bot is called.
    """
    names = {one.user_id: one.name for one in answers} | {one.answered_id: one.answered_name for one in answers}
    weights = Counter[str]()
    for one in answers:
        weights.update({one.user_id: one.times, one.answered_id: one.times})
    chosen = sorted(weights, key=lambda person: -weights[person])[:MOST_NODES]
    most = max(weights.values(), default=1)
    nodes = {
        person: {
            "id": person,
            "name": names[person] or person or bot,
            "x": round(320 + 250 * math.sin(2 * math.pi * number / len(chosen)), 1),
            "y": round(200 - 165 * math.cos(2 * math.pi * number / len(chosen)), 1),
            "radius": round(7 + 13 * math.sqrt(weights[person] / most) * min(1.0, 14 / len(chosen)), 1),
        }
        for number, person in enumerate(chosen)
    }
    highest = max((one.times for one in answers), default=1)
    edges = [
        {"source": source, "target": target, "times": one.times, "width": round(0.5 + 5 * one.times / highest, 1)}
        for one in answers
        if (source := nodes.get(one.user_id)) and (target := nodes.get(one.answered_id))
    ]
    return {"nodes": list(nodes.values()), "edges": edges}


def timeline(
    chains: Mapping[str, Sequence[core.Belief]], now: datetime, zone: tzinfo, names: Mapping[str, str]
) -> Drawn:
    """Return the bars of the versions of each belief, of which the oldest is first, and the days of the axis.

    A bar reaches from when its version began to when it was replaced or retired; the axis has a length of :data:`SPAN`.
    """
    begin = min((one.updated_at for chain in chains.values() for one in chain), default=now)
    whole = max((now - begin).total_seconds(), 1.0)
    rows: dict[str, list[Drawn]] = {}
    for key, chain in chains.items():
        starts = [one.updated_at for one in chain]
        is_gone = bool(chain) and chain[-1].status != "active"
        if is_gone:
            starts[-1] = chain[-2].updated_at if len(chain) > 1 else chain[-1].created_at
        ends = [*starts[1:], chain[-1].updated_at if is_gone else now] if chain else []
        rows[key] = [
            {
                "x": round(min(SPAN * (start - begin).total_seconds() / whole, SPAN - 4.0), 1),
                "width": round(max(SPAN * (end - start).total_seconds() / whole - 2, 4.0), 1),
                "statement": one.statement,
                "quotes": one.quotes,
                "by": "、".join(names.get(person, person) for person in one.supporters),
                "until": f"{end.astimezone(zone):%Y-%m-%d}",
                "is_gone": is_gone and one is chain[-1],
            }
            for one, start, end in zip(chain, starts, ends, strict=True)
        ]
    ticks = [begin + timedelta(seconds=whole * step / 4) for step in range(5)]
    return {"rows": rows, "ticks": [f"{one.astimezone(zone):%m-%d}" for one in ticks]}
