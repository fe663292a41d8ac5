"""Fills the tables of docs/benchmarks.md with the figures of ``benchmarks/results``; ``--check`` only compares.

A table stands between ``<!-- table NAME: column | column -->`` and ``<!-- end -->``. Without columns all are used;
``column = new head`` renames one. Tables whose benchmark was not run are unchanged and reported.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .measure import Report, markdown

ROOT = Path(__file__).resolve().parent.parent
TABLE = re.compile(
    r"(?P<head><!-- table (?P<name>[\w-]+)(?:: (?P<columns>.*?))? -->\n).*?(?P<end><!-- end -->)", re.DOTALL
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: folder of the figures, path of the page."""
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "benchmarks.md")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page says something else")


def run(options: argparse.Namespace) -> Report:
    """Fill the page's tables, or compare them."""
    report = Report("page: its tables", ("table", "state"))

    def filled(found: re.Match[str]) -> str:
        path = options.results / f"{found['name']}.json"
        kept = json.loads(path.read_text("utf-8")) if path.exists() else None
        whole = found[0] if kept is None else f"{found['head']}{table(kept, found['columns'] or '')}{found['end']}"
        report.add(found["name"], "not run" if kept is None else "same" if whole == found[0] else "other figures")
        return whole

    before = options.page.read_text("utf-8")
    after = TABLE.sub(filled, before)
    report.failed = options.check and after != before
    if not options.check:
        options.page.write_text(after, "utf-8")
    return report


def table(kept: Mapping[str, Any], columns: str) -> str:
    """Return the figures of :meth:`benchmarks.measure.Report.json` as a table in Markdown, with machine and date."""
    named = [part.partition(" = ") for part in columns.split(" | ")] if columns else []
    heads = {name.strip(): head.strip() or name.strip() for name, _, head in named}
    heads = heads or {name: name.strip() for row in kept["rows"][:1] for name in row}
    drawn = markdown([*heads.values()], ([row.get(name, "") for name in heads] for row in kept["rows"]))
    return f"\n{drawn}\n*{kept['benchmark']}; {kept['at'].partition('T')[0]}; {kept['machine']}*\n"
