"""How many time expressions our grammar reads as a labelled set does; decision 0009 has what libraries read of it.

The file is a list of {"reference", "query", "window": [start, end] or null, "language"}. A window is right if both ends
are within one day of the label, null only if the label is null.

``wider``: some weeks, months or years ago are one day in the set; a window of about one such unit around that day is
counted separately, since decision 0009 prefers it.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cognitive_memory_core.text.time.time_words import time_window

from .measure import Report, Sample

Window = tuple[datetime, datetime]
DAY = timedelta(days=1)
ROUGH = re.compile("(?:(周|星期|礼拜|weeks?)|(月|months?)|(年|years?)) ?(?:前|ago)")
UNITS = (7, 31, 367)  # days of a week, a month and a year at most
NEEDED = 90.0  # % of the windows, in each language


@dataclass(frozen=True)
class Labelled:
    """A query, when it was asked, and its labelled window."""

    query: str
    reference: datetime
    window: Window | None
    language: str

    def agrees(self, found: Window | None) -> bool:
        """Return whether an answer equals the label."""
        if found is None or self.window is None:
            return found is self.window
        return all(abs(mine - theirs) <= DAY for mine, theirs in zip(found, self.window, strict=True))

    def is_wider(self, found: Window | None) -> bool:
        """Return whether an answer is the labelled day widened by at most the unit of the query."""
        unit = ROUGH.search(self.query)
        if not unit or found is None or self.window is None:
            return False
        holds = found[0] <= self.window[0] and self.window[1] <= found[1]
        return holds and found[1] - found[0] <= UNITS[(unit.lastindex or 1) - 1] * DAY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option: file of the labels."""
    parser.add_argument("--data", type=Path, required=True, help="a JSON list of labelled windows")


def run(options: argparse.Namespace) -> Report:
    """Read every query."""
    day, cases = datetime.fromisoformat, list[Labelled]()
    for entry in json.loads(options.data.read_text("utf-8")):
        window = (day(entry["window"][0]), day(entry["window"][1])) if entry["window"] else None
        cases.append(Labelled(entry["query"], day(entry["reference"]), window, entry["language"]))
    report = Report(
        f"timewords: {len(cases)} labelled windows",
        ("language", "n", "right", "wider", "share %", "median ms", "p95 ms"),
    )
    for language in sorted({case.language for case in cases}):
        asked = [case for case in cases if case.language == language]
        sample, right, wider = Sample(), 0, 0
        for case in asked:
            with sample.watch():
                window = time_window(case.query, case.reference.replace(tzinfo=timezone.utc))
            found = window and (window.start.replace(tzinfo=None), window.stop.replace(tzinfo=None))
            is_right = case.agrees(found)
            right, wider = right + is_right, wider + (not is_right and case.is_wider(found))
        share = 100 * (right + wider) / len(asked)
        report.add(language, len(asked), right, wider, share, sample.p50, sample.p95)
        report.failed |= share < NEEDED
    return report
