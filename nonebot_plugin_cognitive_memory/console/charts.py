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
SPAN, LEFT = 780, 8  # pixels of a timeline; the rest of its 960 is for what stands beside a short bar
WIDE, LETTER = 90, 11  # pixels of a bar that has room for a few words, and of a letter
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
    return {"cells": cells, "months": months, "width": weeks * CELL, "height": 7 * CELL + 16}


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
    return {"parts": parts, "purposes": purposes, "ticks": ticks, "limit_y": limit_y}


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
        {
            "source": one.user_id,
            "target": one.answered_id,
            "times": one.times,
            "source_name": source["name"],
            "target_name": target["name"],
            "x1": source["x"],
            "y1": source["y"],
            "x2": target["x"],
            "y2": target["y"],
            "width": round(0.5 + 5 * one.times / highest, 1),
        }
        for one in answers
        if (source := nodes.get(one.user_id)) and (target := nodes.get(one.answered_id))
    ]
    return {"nodes": list(nodes.values()), "edges": edges}


def timeline(chains: Sequence[Sequence[core.Belief]], now: datetime, zone: tzinfo, names: Mapping[str, str]) -> Drawn:
    """Return the timeline of beliefs: a row for each chain of versions, of which the oldest is first.

    A version is a bar from when it began to when it was replaced or retired, with as much of its statement as there is
    room for: in the bar if it is wide, else beside it.
    """
    begin = min((one.updated_at for chain in chains for one in chain), default=now)
    whole = max((now - begin).total_seconds(), 1.0)

    def at(instant: datetime) -> float:
        return round(LEFT + SPAN * (instant - begin).total_seconds() / whole, 1)

    rows: list[list[Drawn]] = []
    for number, chain in enumerate(chains):
        last = chain[-1]
        starts = [one.updated_at for one in chain]
        if last.status != "active":
            starts[-1] = chain[-2].updated_at if len(chain) > 1 else last.created_at
        ends = [*starts[1:], now if last.status == "active" else last.updated_at]
        rows.append([])
        for one, start, end in zip(chain, starts, ends, strict=True):
            x, width = at(start), max(at(end) - at(start) - 1, 3.0)
            room = int((width - 8 if width >= WIDE else 960 - x) / LETTER)
            shown = one.statement if len(one.statement) <= room else f"{one.statement[: room - 1]}…"
            bar = {"x": x, "y": 22 + 28 * number, "width": width, "is_wide": width >= WIDE, "shown": shown}
            by = "、".join(names.get(person, person) for person in one.supporters)
            said = {"id": one.id, "statement": one.statement, "by": by}
            rows[-1].append({**bar, **said, "is_gone": one is last and last.status != "active"})
    ticks = [begin + timedelta(seconds=whole * step / 4) for step in range(5)]
    told = [(at(one), f"{one.astimezone(zone):%m-%d}") for one in ticks]
    return {"rows": rows, "ticks": told, "height": 24 + 28 * len(rows)}
