"""Draws the results in ``benchmarks/results`` as small SVG files; equal figures give equal files.

A benchmark that was not run is left out. Needs matplotlib: ``pip install -e '.[bench]'``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .figures_kept import Kept, Row, find_kept
from .measure import Report

ROOT = Path(__file__).resolve().parent.parent
RANKS = {"1": "rank 1", "5": "rank 5", "median": "median"}
SETS = {  # benchmark: the rows drawn, by the beginning of their label
    "groupchat": ("recall",),
    "locomo": ("turns", "sessions"),
    "madial": ("",),
    "qmsum": ("",),
}
ACROSS = 4  # panels per row of the ablation
APART = ("n", "reach", "fused - alone")  # numbers that are not drawn as bars
COLOURS = ("#1f6fb4", "#e07b39", "#5a9e4b", "#8c6bb1", "#b0403f", "#7a7a7a", "#c9a227", "#3aa6a6")
STYLE = {
    "svg.hashsalt": "cognitive-memory",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
}
UNDATED = dict.fromkeys(("Creator", "Date", "Format", "Type"))
Figure = Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: folder of the figures, folder of the plots."""
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--plots", type=Path, default=ROOT / "docs" / "plots")


def run(options: argparse.Namespace) -> Report:
    """Draw every plot whose figures exist."""
    report = Report("plots", ("plot", "kB"))
    import_module("matplotlib").use("svg")
    options.plots.mkdir(parents=True, exist_ok=True)
    with import_module("matplotlib").rc_context(STYLE):
        for name, figure in _drawn(options.results):
            path = options.plots / f"{name}.svg"
            figure.savefig(path, metadata=UNDATED, bbox_inches="tight")
            report.add(path.name, path.stat().st_size / 1024)
    return report


def _drawn(results: Path) -> Iterator[tuple[str, Figure]]:
    if kept := find_kept(results, "peers"):
        yield "peers-speed", _speed(kept)
        yield "peers-memory", _bars(_widest(kept), "system", ["resident MB"], "MB resident after all questions")
    if kept := find_kept(results, "context"):
        yield "context-growth", _growth(kept)
    for name, beginnings in SETS.items():
        if kept := find_kept(results, name):
            rows = [row for row in kept.rows if str(row[kept.label]).startswith(beginnings)]
            yield name, _bars(rows, kept.label, kept.numbers(besides=APART), "%")
    if kept := find_kept(results, "ablation"):
        yield "ablation", _differences(kept)


def _speed(kept: Kept) -> Figure:
    """Draw one panel per rank: the p95 of each system by workload size."""
    figure, panels = _canvas(9.5, 3.6, len(RANKS), sharey=True)
    systems = list(dict.fromkeys(row["system"] for row in kept.rows))
    for panel, (rank, column) in zip(panels, RANKS.items(), strict=True):
        for colour, system in zip(COLOURS, systems, strict=False):
            rows = [row for row in kept.rows if row["system"] == system]
            times = [row[f"{column} p95"] for row in rows]
            wide = 2.4 if str(system).startswith("memory") else 1.2
            panel.plot([row["events"] for row in rows], times, "o-", color=colour, lw=wide, ms=3, label=system)
        _logarithmic(panel, sorted({int(row["events"]) for row in kept.rows}))
        panel.set_title(f"group at rank {rank}" if rank != "median" else "median group")
    panels[0].set_ylabel("p95 of a new question, ms")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper center", ncols=3, bbox_to_anchor=(0.5, -0.02))
    return figure


def _growth(kept: Kept) -> Figure:
    """Draw the context's p95 and that of the bare searches by workload size."""
    figure, (panel,) = _canvas(5.2, 3.4, 1)
    for colour, rank in zip(COLOURS, dict.fromkeys(row["rank"] for row in kept.rows), strict=False):
        rows = [row for row in kept.rows if row["rank"] == rank]
        sizes = [row["events"] for row in rows]
        panel.plot(
            sizes, [row["context p95"] for row in rows], "o-", color=colour, ms=3, label=f"context, {RANKS[str(rank)]}"
        )
        panel.plot(
            sizes, [row["both p95"] for row in rows], "o:", color=colour, ms=3, label=f"bare, {RANKS[str(rank)]}"
        )
    _logarithmic(panel, sorted({int(row["events"]) for row in kept.rows}))
    panel.set_ylabel("p95, ms")
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _bars(rows: Sequence[Row], label: str, columns: Sequence[str], unit: str) -> Figure:
    """Draw horizontal bars, grouped by row; a black mark shows the row's target."""
    figure, (panel,) = _canvas(6.2, 0.8 + 0.16 * len(rows) * (len(columns) + 1), 1)
    thick = 1 / (len(columns) + 1)
    for number, (colour, column) in enumerate(zip(COLOURS, columns, strict=False)):
        at = [place + thick * number for place in range(len(rows))]
        panel.barh(at, [_number(row[column]) for row in rows], thick, color=colour, label=column, align="edge")
    for place, row in enumerate(rows):
        if isinstance(reach := row.get("reach", ""), int | float):
            panel.plot([reach, reach], [place, place + 1 - thick], color="black", lw=1.5)
    panel.set_yticks([place + (1 - thick) / 2 for place in range(len(rows))], [str(row[label]) for row in rows])
    panel.set_ylim(len(rows), -thick)
    panel.grid(visible=False, axis="y")
    panel.set_xlabel(unit)
    if len(columns) > 1:
        panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _differences(kept: Kept) -> Figure:
    """Draw one panel per figure: the difference that each change makes."""
    titles = list(dict.fromkeys(row["figure"] for row in kept.rows))
    changed = [row for row in kept.rows if row["difference"] or row["change"] != kept.rows[0]["change"]]
    names = list(dict.fromkeys(str(row["change"]) for row in changed))
    lines = -(-len(titles) // ACROSS)
    figure, panels = _canvas(9.5, (0.7 + 0.2 * len(names)) * lines, ACROSS, lines, sharey=True)
    for panel, title in zip(panels, titles, strict=False):
        drawn = [_number(row["difference"]) for row in changed if row["figure"] == title]
        bars = panel.barh(names, drawn, color=[COLOURS[0] if value >= 0 else COLOURS[1] for value in drawn])
        panel.bar_label(bars, [f"{value:+.1f}" if value else "" for value in drawn], padding=2, fontsize=7)
        panel.margins(x=0.3)
        panel.axvline(0, color="black", lw=0.8)
        panel.set_title(title, fontsize=8)
        panel.grid(visible=False, axis="y")
    panels[0].invert_yaxis()
    for panel in panels[len(titles) :]:
        panel.remove()
    return figure


def _widest(kept: Kept) -> list[Row]:
    most = max(int(row["events"]) for row in kept.rows)
    return [row for row in kept.rows if row["events"] == most]


def _canvas(width: float, height: float, across: int, lines: int = 1, *, sharey: bool = False) -> tuple[Figure, Any]:
    figure = import_module("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(lines, across, squeeze=False, sharey=sharey).flatten()


def _logarithmic(panel: Any, sizes: Sequence[int]) -> None:
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
    panel.minorticks_off()
    panel.yaxis.set_major_locator(import_module("matplotlib.ticker").LogLocator(subs=(1, 3)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set_xlabel("events")


def _number(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0
