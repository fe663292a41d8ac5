"""Migration of a year of the older system: time, memory, and whether every row comes over, once."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.older_system import GROUP, fingerprint, make

from .measure import Report

ROOT = Path(__file__).resolve().parent.parent
ALONE = """
import sys
from benchmarks.migrating import fill
fill(sys.argv[1], *map(int, sys.argv[2:]))
"""
WATCHED = """
import resource, sys
from cognitive_memory_core.cli.main import main
status = main(sys.argv[1:])
own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
busy = sum(usage.ru_utime + usage.ru_stime for usage in (own, children))
print(round(busy, 1), own.ru_maxrss // 1024, children.ru_maxrss // 1024, file=sys.stderr)
sys.exit(status)
"""


class Ran(NamedTuple):
    """One run of the command: what it printed, its seconds, those of the processor, and both processes' peaks in MB."""

    told: Mapping[str, Any]
    seconds: float
    busy: float
    megabytes: int
    child_megabytes: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: how much the older directory holds."""
    parser.add_argument("--summaries", type=int, default=20_000)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--people", type=int, default=500)
    parser.add_argument("--scratch", type=Path, default=None, help="where to make the directories")


def run(options: argparse.Namespace) -> Report:
    """Make the directory; look at it, migrate it, migrate it again."""
    counts = (options.summaries, options.events, options.people)
    title = f"migrate: {counts[0]} summaries, {counts[2] + 1} profiles, {counts[1]} events of an older directory"
    report = Report(
        title, ("what", "seconds", "of the processor", "MB", "MB in the child", "rows found", "rows new", "left out")
    )
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        source, home = Path(scratch, "old", "data"), Path(scratch, "bot")
        subprocess.run([sys.executable, "-c", ALONE, str(source), *map(str, counts)], cwd=ROOT, check=True)
        before = fingerprint(source)
        runs = {name: migrated(home, source, *more) for name, more in _RUNS.items()}
        for name, ran in runs.items():
            found, new = sum(ran.told["found"].values()), ran.told.get("rows", 0) + ran.told.get("queued", 0)
            peaks = (ran.megabytes, ran.child_megabytes)
            report.add(name, ran.seconds, ran.busy, *peaks, found, new, ran.told["left_out"])
        untouched = fingerprint(source) == before
        shutil.rmtree(home)
    wanted = sum(counts) + 1 + 1 + 100 + 1 + 2  # the group's profile; a revision; memos; a pin; jobs
    new = [row[6] for row in report.rows]
    report.notes.append(f"{wanted} rows were there; the source is {'untouched' if untouched else 'CHANGED'}")
    report.failed = new != [0, wanted, 0] or not untouched
    return report


_RUNS = {"dry run": ("--dry-run",), "migration": (), "migration again": ()}


def fill(folder: str, summaries: int, events: int, people: int) -> None:
    """Make the older directory; in a process of its own, since Chroma keeps its memory."""
    make(Path(folder), summaries=summaries, events=events, users=people)


def migrated(home: Path, source: Path, *more: str) -> Ran:
    """Run the command as an operator does, in a process of its own."""
    home.mkdir(exist_ok=True)
    (home / ".env").write_text("LOCALSTORE_USE_CWD=true\n", "utf-8")
    command = [sys.executable, "-c", WATCHED, "migrate", str(source), "--group", GROUP, "--json", *more]
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=home, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    busy, own, child = done.stderr.splitlines()[-1].split()
    return Ran(json.loads(done.stdout), time.perf_counter() - started, float(busy), int(own), int(child))
