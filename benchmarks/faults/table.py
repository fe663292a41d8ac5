"""docs/faults.md: the published table, one line per row."""

from __future__ import annotations

import re
from pathlib import Path

from ..measure import Cell, Report, machine

_ROW = re.compile(r"\| [FA]\d")
COLUMNS = ("row", "fault", "injected", "lost", "twice", "stuck", "seconds", "note")
HEAD = """# Faults

What was injected, and what was lost by it: `python -m benchmarks faults --write` writes this table. Lost, twice and
stuck must be 0: what was acknowledged and is missing, what is there more than once, what nobody will do any more.
Rows are named as in the design; each has a small twin in the test suite. A line whose size is "quick" is of a run that
only shows that the row works.
"""


def written(path: Path, report: Report, *, is_quick: bool) -> None:
    """Write the rows of a report into the table; lines of other rows stay unchanged."""
    lines = _standing(path)
    lines |= {str(row[0]): _line(row, "quick" if is_quick else "published") for row in report.rows}
    in_order = [lines[name] for name in sorted(lines, key=_rank)]
    columns = ("size", *COLUMNS[2:])
    head = [f"| {' | '.join((*COLUMNS[:2], *columns))} |", f"|{' --- |' * (len(columns) + 2)}"]
    text = "\n".join([HEAD, f"Last written on: {machine()}.", "", *head, *in_order, ""])
    path.write_text(text, "utf-8")


def _standing(path: Path) -> dict[str, str]:
    """Return the lines of the existing table by row name."""
    if not path.exists():
        return {}
    lines = [line for line in path.read_text("utf-8").splitlines() if _ROW.match(line)]
    return {line.split("|")[1].strip(): line for line in lines}


def _line(row: tuple[Cell, ...], size: str) -> str:
    cells = [f"{cell:.2f}" if isinstance(cell, float) else str(cell).replace("|", "/") for cell in row]
    return f"| {' | '.join([*cells[:2], size, *cells[2:]])} |"


def _rank(name: str) -> tuple[bool, int, str]:
    """Return a sort key: faults before attacks, by number."""
    digits = "".join(char for char in name if char.isdigit())
    return not name.startswith("F"), int(digits), name
