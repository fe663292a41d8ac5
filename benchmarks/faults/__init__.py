"""The fault table of the design: each row injects its fault at the published size and counts what was lost.

Every row runs in a separate process with a time limit. ``ROW...`` selects rows (default: all); ``--write`` writes their
results into docs/faults.md, where the lines of other rows stay unchanged.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ..fault_row import Extent, Row
from ..measure import Report
from ..measure import machine as this_machine
from .rows import NAMES, rank, told

ROOT = Path(__file__).absolute().parents[2]
PAGE = ROOT / "docs" / "faults.md"
LONGEST = 2_400  # seconds for a row, and the minutes of the flood; a quick row gets half of it
COLUMNS = ("row", "fault", "injected", "lost", "twice", "stuck", "seconds", "note")
EXAMPLES, EXAMPLE = 2, 160  # examples in a note, and their length; stderr has all of them in full
HEAD = """# Faults

What was injected, and what was lost by it: `python -m benchmarks faults --write` writes this table. Lost, twice and
stuck must be 0: what was acknowledged and is missing, what is there more than once, what nobody will do any more.
Rows are named as in the design; each has a small twin in the test suite. A line whose size is "quick" is of a run that
only shows that the row works.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: rows, size, and whether the table is written."""
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{', '.join(NAMES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="a few injections a row, within five minutes")
    parser.add_argument("--minutes", type=float, default=2.0, help="how long the flood of F21 lasts (default: 2)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="write docs/faults.md")


def run(options: argparse.Namespace) -> Report:
    """Run the rows one after the other and print the result of each."""
    wanted = [name[:1].upper() + name[1:].lower() for name in options.rows] or NAMES
    if unknown := [name for name in wanted if name not in NAMES]:
        sys.exit(f"no such row: {', '.join(unknown)}")
    extent = Extent(options.quick, min(options.minutes, 0.2) if options.quick else options.minutes, options.seed)
    report = Report(f"faults: {'a quick look' if extent.quick else 'the published size'}", COLUMNS)
    for name in wanted:
        row = _run_alone(name, extent)
        print(*row.examples, f"{name}: {'BAD' if row.is_bad else 'ok'}", sep="\n", file=sys.stderr, flush=True)
        said = [*(["FAILED"] if row.is_bad else []), row.note, *(one[:EXAMPLE] for one in row.examples[:EXAMPLES])]
        report.add(row.row, row.what, row.injected, row.lost, row.twice, row.stuck, row.seconds, "; ".join(said))
        report.failed |= row.is_bad
    if options.write:
        _write(report, "quick" if extent.quick else "published")
    return report


def _run_alone(name: str, extent: Extent) -> Row:
    """Run a row in its own process group; if it exceeds its time limit, kill it with its children."""
    from .child import command_of  # noqa: PLC0415  # a child's command imports this package first

    command = command_of(told, name, asdict(extent))
    seconds = LONGEST * (0.5 if extent.quick else 1.0) + 60 * extent.minutes
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        pipes = {"stdout": subprocess.PIPE, "stderr": errors, "text": True}
        with subprocess.Popen(command, cwd=ROOT, start_new_session=True, **pipes) as process:
            try:
                said = process.communicate(timeout=seconds)[0]
            except subprocess.TimeoutExpired:
                return Row(0, row=name, note=f"not over after {seconds:.0f} s", failed=True)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        errors.seek(0)
        complaints = errors.read()
    sys.stderr.write(complaints)
    try:
        return Row(**json.loads(said.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        *_, last = ["it said nothing", *filter(str.strip, complaints.splitlines())]
        return Row(0, row=name, note=f"ended with {process.returncode}: {last[:200]}", failed=True)


def _write(report: Report, size: str) -> None:
    """Write the rows of a report into the published table; lines of other rows stay unchanged."""
    standing = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| [FA]\d", line)]
    lines = {line.split("|")[1].strip(): line for line in standing}
    for row in report.rows:
        cells = [f"{cell:.2f}" if isinstance(cell, float) else str(cell).replace("|", "/") for cell in row]
        lines[cells[0]] = f"| {' | '.join([*cells[:2], size, *cells[2:]])} |"
    columns = [*COLUMNS[:2], "size", *COLUMNS[2:]]
    head = [f"Last written on: {this_machine()}.", "", f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
    PAGE.write_text("\n".join([HEAD, *head, *(lines[name] for name in sorted(lines, key=rank)), ""]), "utf-8")
