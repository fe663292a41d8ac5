"""Pictures as numbers for an SVG that a template draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

import cognitive_memory_core as core

CELL, WEEKS = 14, 53  # pixels of a day with its gap; columns of a calendar
WIDTH, HEIGHT = 640, 180
MOST_NODES = 40
SPAN, LEFT = 780, 8  # pixels of a timeline; the rest of its 960 is for what stands beside a short bar


@dataclass(frozen=True)
class Cell:
    """One day of a calendar: its place, how much happened from 0 to 4, and the page to which it links."""

    x: int
    y: int
    level: int
    label: str
    path: str


@dataclass(frozen=True)
class Calendar:
    """A column for each week and a row for each day of it, with the months above."""

    cells: Sequence[Cell]
    months: Sequence[tuple[int, str]]
    width: int
    height: int = 7 * CELL + 16


def calendar(days: Mapping[date, int], until: date, path: Callable[[date], str], *, weeks: int = WEEKS) -> Calendar:
    """Return a calendar that ends with a day; only days on which something happened have a label and a link."""
    first = until - timedelta(days=until.weekday() + 7 * (weeks - 1))
    most = max(days.values(), default=0)
    cells, months = list[Cell](), list[tuple[int, str]]()
    for number in range((until - first).days + 1):
        day = first + timedelta(days=number)
        x, y, count = number // 7 * CELL, number % 7 * CELL + 16, days.get(day, 0)
        if day.day == 1 and x + 2 * CELL <= weeks * CELL:
            months.append((x, f"{day:%m}"))
        level = math.ceil(4 * math.sqrt(count / most)) if count else 0
        cells.append(Cell(x, y, level, f"{day}: {count}", path(day) if count else ""))
    return Calendar(cells, months, weeks * CELL)


def days_of(instants: Iterable[datetime], zone: tzinfo) -> dict[date, int]:
    """Count instants by their local day."""
    counts: dict[date, int] = {}
    for instant in instants:
        day = instant.astimezone(zone).date()
        counts[day] = counts.get(day, 0) + 1
    return counts


@dataclass(frozen=True)
class Part:
    """A rectangle of a stacked chart; ``series`` is the number of its purpose."""

    x: float
    y: float
    width: float
    height: float
    series: int
    label: str


@dataclass(frozen=True)
class Costs:
    """The calls of each day, stacked by purpose, with the height of the day's limit (None if it is out of sight)."""

    parts: Sequence[Part]
    purposes: Sequence[str]
    ticks: Sequence[tuple[float, str]]
    limit_y: float | None


def costs(spent: Sequence[tuple[date, core.Spending]], until: date, days: int, limit: int) -> Costs:
    """Return the chart of the calls of some days."""
    purposes = sorted({one.purpose for _, one in spent})
    totals: dict[date, int] = {}
    for day, one in spent:
        totals[day] = totals.get(day, 0) + one.calls
    highest = max(totals.values(), default=0)
    most = max(highest, limit if limit < 3 * highest else 0, 1)
    step, parts, tops = WIDTH / days, list[Part](), dict[date, float]()
    for day, one in spent:
        column = days - 1 - (until - day).days
        height = (HEIGHT - 14) * one.calls / most
        tops[day] = tops.get(day, HEIGHT) - height
        label = f"{day} {one.purpose}: {one.calls}"
        at = (round(column * step + step * 0.15, 1), round(tops[day], 1), round(step * 0.7, 1), round(height, 1))
        parts.append(Part(*at, purposes.index(one.purpose) % 7, label))
    ticks = [(round(n * step, 1), f"{until - timedelta(days=days - 1 - n):%m-%d}") for n in range(0, days, 5)]
    limit_y = round(HEIGHT - (HEIGHT - 14) * limit / most, 1) if 0 < limit <= most else None
    return Costs(parts, purposes, ticks, limit_y)


@dataclass(frozen=True)
class Node:
    """A person in a graph."""

    id: str
    name: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Edge:
    """How often one person answered another, with its line."""

    source: str
    target: str
    source_name: str
    target_name: str
    times: int
    x1: float
    y1: float
    x2: float
    y2: float
    width: float


@dataclass(frozen=True)
class Graph:
    """People on an ellipse, those with most answers first, and who answers whom."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]


def graph(answers: Sequence[core.Answering], bot: str) -> Graph:
    """Return the graph of at most :data:`MOST_NODES` people; ``bot`` is what the bot is called."""
    names = {one.user_id: one.name for one in answers} | {one.answered_id: one.answered_name for one in answers}
    weights: dict[str, int] = {}
    for one in answers:
        for person in (one.user_id, one.answered_id):
            weights[person] = weights.get(person, 0) + one.times
    chosen = sorted(weights, key=lambda person: -weights[person])[:MOST_NODES]
    most = max(weights.values(), default=1)
    nodes = {
        person: Node(
            person,
            names[person] or person or bot,
            round(320 + 250 * math.sin(2 * math.pi * number / len(chosen)), 1),
            round(200 - 165 * math.cos(2 * math.pi * number / len(chosen)), 1),
            round(7 + 13 * math.sqrt(weights[person] / most) * min(1.0, 14 / len(chosen)), 1),
        )
        for number, person in enumerate(chosen)
    }
    highest = max((one.times for one in answers), default=1)
    edges = [
        Edge(
            *(one.user_id, one.answered_id, source.name, target.name, one.times),
            *(source.x, source.y, target.x, target.y, round(0.5 + 5 * one.times / highest, 1)),
        )
        for one in answers
        if (source := nodes.get(one.user_id)) and (target := nodes.get(one.answered_id))
    ]
    return Graph(list(nodes.values()), edges)


@dataclass(frozen=True)
class Version:
    """A version of a belief as a bar, from when it began to when it was replaced or retired."""

    id: str
    statement: str
    by: str
    x: float
    y: float
    width: float
    is_gone: bool

    @property
    def is_wide(self) -> bool:
        """Whether the bar has room for a few words."""
        return self.width >= 90  # noqa: PLR2004  # pixels

    @property
    def shown(self) -> str:
        """As much of the statement as there is room for, in the bar or beside it."""
        room = int((self.width - 8) / 11 if self.is_wide else (960 - self.x) / 11)
        return self.statement if len(self.statement) <= room else f"{self.statement[: room - 1]}…"


@dataclass(frozen=True)
class Timeline:
    """A row for each belief, a bar for each of its versions."""

    rows: Sequence[Sequence[Version]]
    ticks: Sequence[tuple[float, str]]

    @property
    def height(self) -> int:
        """The height of the drawing."""
        return 24 + 28 * len(self.rows)


def timeline(chains: Sequence[Sequence[core.Belief]], now: datetime, zone: tzinfo) -> Timeline:
    """Return the timeline of chains of versions, each with the oldest first."""
    begin = min((one.updated_at for chain in chains for one in chain), default=now)
    whole = max((now - begin).total_seconds(), 1.0)

    def at(instant: datetime) -> float:
        return round(LEFT + SPAN * (instant - begin).total_seconds() / whole, 1)

    rows: list[list[Version]] = []
    for number, chain in enumerate(chains):
        last = chain[-1]
        starts = [one.updated_at for one in chain]
        if last.status != "active":
            starts[-1] = chain[-2].updated_at if len(chain) > 1 else last.created_at
        ends = [*starts[1:], now if last.status == "active" else last.updated_at]
        rows.append(
            [
                Version(
                    *(one.id, one.statement, ", ".join(one.supporters)),
                    *(at(start), 22 + 28 * number, max(at(end) - at(start) - 1, 3.0)),
                    is_gone=one is last and last.status != "active",
                )
                for one, start, end in zip(chain, starts, ends, strict=True)
            ]
        )
    ticks = [begin + timedelta(seconds=whole * step / 4) for step in range(5)]
    return Timeline(rows, [(at(one), f"{one.astimezone(zone):%m-%d}") for one in ticks])
