"""The fault table of the design: each row injects its fault at the published size and counts what was lost.

Every row runs in a separate process with a time limit. ``ROW...`` selects rows (default: all); ``--write`` writes their
results into docs/faults.md, where the lines of other rows stay unchanged.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from ..fault_row import Extent, Row
from ..measure import Report
from .rows import LONGEST, NAMES
from .table import COLUMNS, written

ROOT = Path(__file__).absolute().parents[2]


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
        report.add(row.row, row.what, row.injected, row.lost, row.twice, row.stuck, row.seconds, _said(row))
        report.failed |= row.is_bad
        print(f"{name}: {'BAD' if row.is_bad else 'ok'}", file=sys.stderr, flush=True)
    if options.write:
        written(ROOT / "docs" / "faults.md", report, is_quick=extent.quick)
    return report


def _said(row: Row) -> str:
    return f"FAILED; {row.note}" if row.is_bad else row.note


def _run_alone(name: str, extent: Extent) -> Row:
    """Run a row in its own process group; if it exceeds its time limit, kill it with its children."""
    wanted = json.dumps({"quick": extent.quick, "minutes": extent.minutes, "seed": extent.seed})
    command = [sys.executable, "-m", "benchmarks.faults", name, wanted]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        ) as process,
    ):
        try:
            said = process.communicate(timeout=_seconds_for(name, extent))[0]
        except subprocess.TimeoutExpired:
            return Row(0, row=name, note=f"not over after {_seconds_for(name, extent):.0f} s", failed=True)
        finally:
            _end(process)
        errors.seek(0)
        complaints = errors.read()
    sys.stderr.write(complaints)
    try:
        return Row(**json.loads(said.splitlines()[-1]))
    except (IndexError, ValueError, TypeError):
        return Row(0, row=name, note=f"ended with {process.returncode}: {_last_line(complaints)}", failed=True)


def _last_line(text: str) -> str:
    """Return the last line of a process's error output, shortened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"


def _seconds_for(name: str, extent: Extent) -> float:
    return LONGEST.get(name, LONGEST[""]) * (0.5 if extent.quick else 1.0) + 60 * extent.minutes


def _end(process: subprocess.Popen[str]) -> None:
    if os.name == "nt":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
