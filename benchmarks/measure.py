"""Shared parts of all benchmarks: percentiles, a watch on the event loop, a table with its machine."""

from __future__ import annotations

import asyncio
import gc
import json
import math
import os
import platform
import sqlite3
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import psutil

Cell = str | int | float
TICK = 0.001  # seconds
MB = 1024 * 1024


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that ``share`` of the values do not exceed (nearest rank)."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


@dataclass
class Sample:
    """Durations of one operation and its processor time, stored in seconds and read in milliseconds."""

    seconds: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Time a block."""
        started, before = time.perf_counter(), time.process_time()
        yield
        self.seconds.append(time.perf_counter() - started)
        self.worked.append(time.process_time() - before)

    @property
    def p50(self) -> float:
        """Return the median in ms."""
        return 1000 * percentile(self.seconds, 0.50)

    @property
    def p95(self) -> float:
        """Return the 95th percentile in ms."""
        return 1000 * percentile(self.seconds, 0.95)

    @property
    def processor(self) -> float:
        """Return the median of the processor time in ms."""
        return 1000 * percentile(self.worked, 0.50)


@dataclass
class Gap:
    """The longest time for which the event loop was blocked, in ms beyond the requested tick.

    ``blocked`` leaves out the time for which its thread waited for a core, which a busy machine adds. ``worked`` is the
    most processor time that its thread used between two ticks.
    """

    longest: float = 0.0
    blocked: float = 0.0
    worked: float = 0.0


@asynccontextmanager
async def loop_watched() -> AsyncIterator[Gap]:
    """Watch the event loop with a ticker while a block runs."""
    gap = Gap()
    ticker = asyncio.create_task(_tick(gap))
    await asyncio.sleep(0)
    try:
        yield gap
    finally:
        await asyncio.sleep(0)  # the ticker sees a stall that ended with the block
        ticker.cancel()


async def _tick(gap: Gap) -> None:
    while True:
        before, worked, waited = time.perf_counter(), time.thread_time(), _waited()
        await asyncio.sleep(TICK)
        passed = time.perf_counter() - before - TICK
        gap.longest = max(gap.longest, 1000 * passed)
        gap.blocked = max(gap.blocked, 1000 * (passed - (_waited() - waited)))
        gap.worked = max(gap.worked, 1000 * (time.thread_time() - worked))


def _waited() -> float:
    """Return the seconds for which this thread was ready to run and had no core; 0 where the system does not tell."""
    with suppress(OSError):
        return int(Path("/proc/thread-self/schedstat").read_bytes().split()[1]) / 1e9
    return 0.0


def freeze() -> None:
    """Leave the start's objects out of collections, as the plugin does once its memory is open."""
    gc.collect()
    gc.freeze()


def resident(process: psutil.Process | None = None) -> float:
    """Return one process's resident memory in MB, by default of this one; 0 if it is gone."""
    with suppress(psutil.Error):
        return (process or psutil.Process()).memory_info().rss / MB
    return 0.0


def children_resident() -> float:
    """Return the resident memory in MB of all children of this process."""
    return sum(map(resident, psutil.Process().children(recursive=True)))


@dataclass
class Report:
    """A table of figures, printed and written as JSON; ``failed`` is True if a count that must be 0 is not."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: bool = False

    def add(self, *cells: Cell) -> None:
        """Add a row."""
        self.rows.append(cells)

    def text(self) -> str:
        """Return the table as text, with the machine above and the notes below."""
        return "\n".join([self.title, machine(), "", *self.table(), *self.notes])

    def table(self) -> list[str]:
        """Return the drawn lines of the table."""
        table = [self.columns, *[tuple(_shown(cell) for cell in row) for row in self.rows]]
        widths = [max(len(row[at]) for row in table) for at in range(len(self.columns))]
        drawn = ["  ".join(_fitted(cell, width, at) for at, (cell, width) in enumerate(zip(row, widths, strict=True)))
                 for row in table]  # fmt: skip
        drawn.insert(1, "  ".join("-" * width for width in widths))
        return drawn

    def markdown(self) -> str:
        """Return the table in Markdown."""
        return markdown(self.columns, self.rows)

    def json(self) -> str:
        """Return the table as JSON."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        whole = {"benchmark": self.title, "machine": machine(), "at": at, "rows": rows, "notes": self.notes}
        return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def markdown(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return a table in Markdown, each figure rounded to its meaningful digits."""
    lines = [heads, ["---"] * len(heads), *([rounded(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def rounded(cell: Cell) -> str:
    """Return a figure rounded to its meaningful digits; a bar would end its cell of a table."""
    if not isinstance(cell, float):
        return f"{cell:,}" if isinstance(cell, int) else cell.replace("|", "/")
    digits = 0 if abs(cell) >= 100 else 1 if abs(cell) >= 10 or cell == 0 else 2
    return f"{cell:,.{digits}f}"


def machine() -> str:
    """Return the machine's properties and its load (runnable processes over the last minute)."""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{os.cpu_count()} cores ({_processor()}), load {load}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _shown(cell: Cell) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.0f}" if abs(cell) >= 100 else f"{cell:.2f}"


def _fitted(cell: str, width: int, at: int) -> str:
    return cell.ljust(width) if at == 0 else cell.rjust(width)
