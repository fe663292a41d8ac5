"""How many time expressions our grammar reads as a labelled set does, compared with the installed libraries.

The file is a list of {"reference", "query", "window": [start, end] or null, "language"}. A window is right if both ends
are within one day of the label, null only if the label is null. A library that returns an instant means its day.

``wider``: some weeks, months or years ago are one day in the set; a window of about one such unit around that day is
counted separately, since decision 0009 prefers it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import re
import subprocess
import sys
import warnings
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .measure import Report, Sample

Window = tuple[datetime, datetime]
Reader = Callable[[str, datetime, str], Window | None]
DAY = timedelta(days=1)
ROUGH = re.compile("(?:(周|星期|礼拜|weeks?)|(月|months?)|(年|years?)) ?(?:前|ago)")
UNITS = (7, 31, 367)  # days of a week, a month and a year at most
REACH = DAY
NEEDED = 0.9  # of the windows, in each language
EUROPE = ["en", "de", "fr", "es", "it"]  # the English half has a few queries in each
OPEN = {
    "timewords": "import cognitive_memory_core as core; from datetime import datetime, timezone; {mark};"
    "core.time_window('last week', datetime.now(timezone.utc))",
    "jionlp": "{mark}; import jionlp; jionlp.ner.extract_time('昨天', with_parsing=True)",
    "dateparser": "{mark}; from dateparser.search import search_dates; search_dates('last week')",
    "recognizers_date_time": "{mark}; import recognizers_date_time as r; r.recognize_datetime('last week', 'en-us')",
    "ctparse": "{mark}; import ctparse; ctparse.ctparse('last week')",
    "parsedatetime": "{mark}; import parsedatetime; parsedatetime.Calendar().nlp('last week')",
    "timefhuman": "{mark}; from timefhuman import timefhuman; timefhuman('tomorrow')",
    "timefuzz": "{mark}; import timefuzz; timefuzz.parse('last week')",
    "ChineseTimeNLP": "{mark}; from ChineseTimeNLP import TimeNormalizer; TimeNormalizer().parse('昨天')",
    "timeworker": "{mark}; import timeworker; timeworker.parse('昨天')",
}
MEASURE = """
import time
def resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * 4 / 1024
def mark():
    global started, before
    started, before = time.perf_counter(), resident()
{source}
print((time.perf_counter() - started) * 1000, resident() - before)
"""


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
        return all(abs(mine - theirs) <= REACH for mine, theirs in zip(found, self.window, strict=True))

    def is_wider(self, found: Window | None) -> bool:
        """Return whether an answer is the labelled day widened by at most the unit of the query."""
        unit = ROUGH.search(self.query)
        if not unit or found is None or self.window is None:
            return False
        holds = found[0] <= self.window[0] and self.window[1] <= found[1]
        return holds and found[1] - found[0] <= UNITS[(unit.lastindex or 1) - 1] * DAY


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: file of the labels, printing of misses."""
    parser.add_argument("--data", type=Path, required=True, help="a JSON list of labelled windows")
    parser.add_argument("--misses", action="store_true", help="print what ours reads otherwise")


def run(options: argparse.Namespace) -> Report:
    """Ask our grammar and every installed library."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    cases = [_labelled(entry) for entry in json.loads(options.data.read_text("utf-8"))]
    report = Report(
        f"timewords: {len(cases)} labelled windows",
        ("reader", "language", "n", "right", "wider", "share %", "median ms", "p95 ms", "import ms", "import MB"),
    )
    for name, (languages, opened) in READERS.items():
        if find_spec(name) or name == "timewords":
            _add(report, name, opened(), [case for case in cases if case.language in languages], options)
    report.notes.append(
        "import: what the first answer costs beyond a bare interpreter; ours beyond the core's own import"
    )
    return report


def _add(report: Report, name: str, reader: Reader, cases: Sequence[Labelled], options: argparse.Namespace) -> None:
    cost = _opening_cost(name)
    for language in sorted({case.language for case in cases}):
        asked = [case for case in cases if case.language == language]
        sample, right, wider = Sample(), 0, 0
        for case in asked:
            with sample.watch():
                found = _answer(reader, case)
            is_right = case.agrees(found)
            is_wider = not is_right and case.is_wider(found)
            right, wider = right + is_right, wider + is_wider
            if options.misses and name == "timewords" and not (is_right or is_wider):
                print(case.reference, case.query, case.window, found, sep="\t")
        share = 100 * (right + wider) / len(asked)
        report.add(name, language, len(asked), right, wider, share, sample.p50, sample.p95, *cost)
        report.failed |= name == "timewords" and share < 100 * NEEDED


def _answer(reader: Reader, case: Labelled) -> Window | None:
    try:
        return reader(case.query, case.reference, case.language)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        return None  # what a library raises for a text that it cannot read


def _opening_cost(name: str) -> tuple[float, float]:
    source = MEASURE.format(source=OPEN[name].format(mark="mark()"))
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    took, grew = (float(figure) for figure in done.stdout.split()[-2:]) if done.returncode == 0 else (-1.0, -1.0)
    return took, grew


def _labelled(entry: dict[str, Any]) -> Labelled:
    ends = _ends(entry["window"]) if entry["window"] else None
    return Labelled(entry["query"], datetime.fromisoformat(entry["reference"]), ends, entry["language"])


def _day(when: datetime, period: str = "day") -> Window:
    """Return the day, week, month or year of an instant."""
    start = when.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    if period == "week":
        start -= start.weekday() * DAY
    elif period in ("month", "year"):
        start = start.replace(day=1, month=1 if period == "year" else start.month)
    length = {"week": 7, "month": monthrange(start.year, start.month)[1], "year": 365}.get(period, 1)
    return start, start + length * DAY


def _ends(written: Sequence[str]) -> Window:
    return datetime.fromisoformat(written[0]), datetime.fromisoformat(written[1])


# Our grammar and the other libraries.


def _ours() -> Reader:
    module = importlib.import_module("cognitive_memory_core.text.time.time_words")

    def read(query: str, reference: datetime, _language: str) -> Window | None:
        found = module.time_window(query, reference.replace(tzinfo=timezone.utc))
        return found and (found.start.replace(tzinfo=None), found.stop.replace(tzinfo=None))

    return read


def _jionlp() -> Reader:
    jionlp: Any = importlib.import_module("jionlp")

    def read(query: str, reference: datetime, _language: str) -> Window | None:
        for found in jionlp.ner.extract_time(query, time_base=reference.timestamp(), with_parsing=True):
            if found["type"] in ("time_point", "time_span"):
                return _ends(found["detail"]["time"])
        alone = jionlp.parse_time(query, time_base=reference.timestamp())  # it reads some only as the whole text
        return _ends(alone["time"]) if alone["type"] in ("time_point", "time_span") else None

    return read


def _dateparser() -> Reader:
    search: Any = importlib.import_module("dateparser.search")
    parsers: Any = importlib.import_module("dateparser.date")

    def read(query: str, reference: datetime, language: str) -> Window | None:
        languages = ["zh"] if language == "zh" else EUROPE
        settings = {"RELATIVE_BASE": reference, "PREFER_DATES_FROM": "past", "RETURN_TIME_SPAN": True}
        found = search.search_dates(query, languages=languages, settings=settings)
        if not found:
            return None
        ends = [when for text, when in found if text.endswith(("(start)", "(end)"))]
        if len(ends) > 1:
            return ends[0], ends[1]
        text, when = found[0]
        read = parsers.DateDataParser(languages=languages, settings=settings).get_date_data(text)
        return _day(when, read.period or "day")

    return read


def _recognizers() -> Reader:
    recognizers: Any = importlib.import_module("recognizers_date_time")

    def read(query: str, reference: datetime, language: str) -> Window | None:
        culture = "zh-cn" if language == "zh" else "en-us"
        for found in recognizers.recognize_datetime(query, culture, reference=reference):
            for value in (found.resolution or {}).get("values", ()):
                if "start" in value and "end" in value:
                    return datetime.fromisoformat(value["start"]), datetime.fromisoformat(value["end"])
                if value.get("type") in ("date", "datetime"):
                    return _day(datetime.fromisoformat(value["value"]))
        return None

    return read


def _ctparse() -> Reader:
    ctparse: Any = importlib.import_module("ctparse")

    def read(query: str, reference: datetime, _language: str) -> Window | None:
        found = ctparse.ctparse(query, ts=reference, timeout=1.0)
        if found is None:
            return None
        ends = found.resolution
        if hasattr(ends, "t_from"):
            return ends.t_from.dt, ends.t_to.dt
        return _day(ends.dt)

    return read


def _parsedatetime() -> Reader:
    calendar: Any = importlib.import_module("parsedatetime").Calendar()

    def read(query: str, reference: datetime, _language: str) -> Window | None:
        found = calendar.nlp(query, reference)
        return _day(found[0][0]) if found else None

    return read


def _timefhuman() -> Reader:
    module: Any = importlib.import_module("timefhuman")

    def read(query: str, reference: datetime, _language: str) -> Window | None:
        found = module.timefhuman(query, config=module.tfhConfig(now=reference, direction=module.Direction.previous))
        if not found:
            return None
        first = found[0]
        return (first[0], first[1]) if isinstance(first, tuple) else _day(first)

    return read


def _timefuzz() -> Reader:
    timefuzz: Any = importlib.import_module("timefuzz")

    def read(query: str, reference: datetime, _language: str) -> Window | None:
        try:
            found = timefuzz.parse(query, now=reference)
        except timefuzz.TimefuzzError:
            return None
        return (found.start, found.end) if hasattr(found, "start") else _day(found.when)

    return read


def _chinese_time_nlp() -> Reader:
    normalizer: Any = importlib.import_module("ChineseTimeNLP").TimeNormalizer(isPreferFuture=False)
    arrow: Any = importlib.import_module("arrow")

    def read(query: str, reference: datetime, _language: str) -> Window | None:
        found = normalizer.parse(query, arrow.get(reference))
        if found.get("type") == "timestamp":
            return _day(datetime.fromisoformat(found["timestamp"]))
        return _ends(found["timespan"]) if found.get("type") == "timespan" else None

    return read


def _timeworker() -> Reader:
    timeworker: Any = importlib.import_module("timeworker")

    def read(query: str, reference: datetime, _language: str) -> Window | None:
        found = timeworker.parse(query, settings={"RELATIVE_BASE": reference})
        return _day(found) if found else None

    return read


BOTH, CHINESE, ENGLISH = ("en", "zh"), ("zh",), ("en",)
READERS: dict[str, tuple[tuple[str, ...], Callable[[], Reader]]] = {
    "timewords": (BOTH, _ours),
    "jionlp": (CHINESE, _jionlp),
    "dateparser": (BOTH, _dateparser),
    "recognizers_date_time": (BOTH, _recognizers),
    "ctparse": (ENGLISH, _ctparse),
    "parsedatetime": (ENGLISH, _parsedatetime),
    "timefhuman": (ENGLISH, _timefhuman),
    "timefuzz": (ENGLISH, _timefuzz),
    "ChineseTimeNLP": (CHINESE, _chinese_time_nlp),
    "timeworker": (CHINESE, _timeworker),
}
