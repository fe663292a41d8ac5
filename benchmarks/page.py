"""Fills the tables of docs/benchmarks.md with the figures of ``benchmarks/results``; ``--check`` only compares.

A table stands between ``<!-- table NAME: column | column -->`` and ``<!-- end -->``. Without columns all are used;
``column = new head`` renames one. Tables whose benchmark was not run are unchanged and reported.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .measure import Cell, Report

ROOT = Path(__file__).resolve().parent.parent
TABLE = re.compile(
    r"(?P<head><!-- table (?P<name>[\w-]+)(?:: (?P<columns>.*?))? -->\n).*?(?P<end><!-- end -->)", re.DOTALL
)


@dataclass(frozen=True)
class Kept:
    """One benchmark's table with its machine and date, as :class:`benchmarks.measure.Report` wrote it."""

    title: str
    machine: str
    at: str
    rows: Sequence[Mapping[str, Cell]]


def find_kept(folder: Path, name: str) -> Kept | None:
    """Read one benchmark's figures; None if it was not run."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    whole = json.loads(path.read_text("utf-8"))
    return Kept(whole["benchmark"], whole["machine"], whole["at"], whole["rows"])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: folder of the figures, path of the page."""
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "benchmarks.md")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page says something else")


def run(options: argparse.Namespace) -> Report:
    """Fill the page's tables, or compare them."""
    report = Report("page: its tables", ("table", "state"))

    def filled(found: re.Match[str]) -> str:
        kept = find_kept(options.results, found["name"])
        whole = found[0] if kept is None else f"{found['head']}{table(kept, found['columns'] or '')}{found['end']}"
        report.add(found["name"], "not run" if kept is None else "same" if whole == found[0] else "other figures")
        return whole

    before = options.page.read_text("utf-8")
    after = TABLE.sub(filled, before)
    report.failed = options.check and after != before
    if not options.check:
        options.page.write_text(after, "utf-8")
    return report


def table(kept: Kept, columns: str) -> str:
    """Return a table in Markdown, with machine and date below."""
    named = [part.partition(" = ") for part in columns.split(" | ")] if columns else []
    heads = {name.strip(): head.strip() or name.strip() for name, _, head in named} or {
        name: name.strip() for name in (kept.rows[0] if kept.rows else ())
    }
    lines = [list(heads.values()), ["---"] * len(heads)]
    lines += [[shown(row.get(name, "")) for name in heads] for row in kept.rows]
    drawn = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"\n{drawn}\n\n{_source(kept)}\n"


def shown(cell: Cell) -> str:
    """Return a figure rounded to its meaningful digits."""
    if not isinstance(cell, float):
        return f"{cell:,}" if isinstance(cell, int) else cell
    digits = 0 if abs(cell) >= 100 else 1 if abs(cell) >= 10 or cell == 0 else 2
    return f"{cell:,.{digits}f}"


def _source(kept: Kept) -> str:
    return f"*{kept.title}; {kept.at.partition('T')[0]}; {kept.machine}*"
