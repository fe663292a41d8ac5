"""Retrieval from long meetings of many people: how many of the first ten turns lie in the part with the answer?

Every meeting is a separate group in one memory, and a stranger asks there a day later. ``--data`` has one meeting per
line, with "meeting_transcripts" and "specific_query_list" (QMSum).
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from .labelled import TOP, ZONE, Talk, english_peer, heard, mean, plain, searched
from .measure import Report

STARTED = datetime(2024, 1, 1, 9, tzinfo=ZONE)
TURN = timedelta(seconds=10)
AHEAD = 8.0  # points above plain BM25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the file of the meetings."""
    parser.add_argument("--data", type=Path, required=True, help="a meeting a line, with questions (JSON Lines)")


def run(options: argparse.Namespace) -> Report:
    """Ask every question of the memory and of BM25."""
    meetings, spans = read(options.data)
    least = recall(spans, searched(meetings, plain, TOP))
    ours = recall(spans, (found for (found,) in asyncio.run(heard(meetings, TOP))))
    report = Report(
        f"qmsum: {sum(len(meeting.turns) for meeting in meetings)} turns of {len(meetings)} meetings",
        ("what", "n", f"recall@{TOP}", "reach"),
    )
    report.add("memory", len(spans), ours, least + AHEAD)
    report.add("BM25, lower-case words", len(spans), least, "")
    if peer := english_peer():
        report.add("bm25s, without stop words", len(spans), recall(spans, searched(meetings, peer, TOP)), "")
    report.notes += [
        f"recall@{TOP}: turns of the span among the first {TOP}, by {TOP} or all of the span where that is shorter",
        "each turn stands with its speaker's name",
        *(() if peer else ("bm25s: not installed",)),
    ]
    report.failed = ours < least + AHEAD
    return report


def read(path: Path) -> tuple[list[Talk], list[frozenset[str]]]:
    """Read the meetings, and for each of their questions the numbers of the turns that hold its answer."""
    meetings, spans = list[Talk](), list[frozenset[str]]()
    for number, line in enumerate(filter(None, path.read_text("utf-8").splitlines())):
        entry: Mapping[str, Any] = json.loads(line)
        turns = tuple(_turns(f"meeting-{number}", entry["meeting_transcripts"]))
        asked = [(one["query"], _span(one, len(turns))) for one in entry["specific_query_list"]]
        asked = [(query, span) for query, span in asked if span]
        meetings.append(Talk(f"meeting-{number}", turns, tuple(query for query, _ in asked)))
        spans += [span for _, span in asked]
    return meetings, spans


def recall(spans: Sequence[frozenset[str]], answers: Iterable[Sequence[str]]) -> float:
    """Return the mean share of the first ten places that a span could fill and does."""
    pairs = zip(spans, answers, strict=True)
    return mean([len(span.intersection(found[:TOP])) / min(TOP, len(span)) for span, found in pairs])


def _turns(group_id: str, told: Sequence[Mapping[str, str]]) -> Iterator[core.Message]:
    for number, turn in enumerate(told):
        speaker = turn["speaker"]
        scene = core.Scene.group(group_id, speaker.lower(), user_name=speaker)
        yield core.Message(str(number), scene, turn["content"], STARTED + number * TURN)


def _span(entry: Mapping[str, Any], turns: int) -> frozenset[str]:
    spans = (range(int(first), min(int(last) + 1, turns)) for first, last in entry["relevant_text_span"])
    return frozenset(str(number) for span in spans for number in span)
