"""Retrieval from long meetings of many people: how many of the first ten turns lie in the part with the answer?

Every meeting is a separate group in one memory, and a stranger asks there a day later. ``--data`` has one meeting per
line, with "meeting_transcripts" and "specific_query_list" (QMSum).
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from .labelled import DEFAULTS, TOP, ZONE, Bm25s, SetClock, Tuning, bm25, english_peer, mean, opened, words
from .measure import Report

STARTED = datetime(2024, 1, 1, 9, tzinfo=ZONE)
TURN = timedelta(seconds=10)
AHEAD = 8.0  # points above plain BM25


@dataclass(frozen=True)
class Question:
    """A question, and the numbers of the turns that hold its answer."""

    text: str
    span: frozenset[str]

    def recall(self, found: Sequence[str]) -> float:
        """Return the share of the first ten places that the span could fill and does."""
        return len(self.span.intersection(found[:TOP])) / min(TOP, len(self.span))


@dataclass(frozen=True)
class Meeting:
    """The turns of a meeting, oldest first, and its questions."""

    id: str
    turns: tuple[core.Message, ...]
    questions: tuple[Question, ...]

    @property
    def texts(self) -> list[str]:
        """Return each turn with its speaker's name."""
        return [f"{turn.scene.user_name} {turn.text}" for turn in self.turns]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the file of the meetings."""
    parser.add_argument("--data", type=Path, required=True, help="a meeting a line, with questions (JSON Lines)")


def run(options: argparse.Namespace) -> Report:
    """Ask every question of the memory and of BM25."""
    meetings = read(options.data)
    questions = [question for meeting in meetings for question in meeting.questions]
    plain = _mean(questions, [found for meeting in meetings for found in _plainly(meeting)])
    ours = _mean(questions, asyncio.run(answered(meetings)))
    report = Report(
        f"qmsum: {sum(len(meeting.turns) for meeting in meetings)} turns of {len(meetings)} meetings",
        ("what", "n", f"recall@{TOP}", "reach"),
    )
    report.add("memory", len(questions), ours, plain + AHEAD)
    report.add("BM25, lower-case words", len(questions), plain, "")
    peer = english_peer()
    if peer:
        report.add("bm25s, without stop words", len(questions), _mean(questions, list(_by_peer(meetings, peer))), "")
    report.notes += [
        f"recall@{TOP}: turns of the span among the first {TOP}, by {TOP} or all of the span where that is shorter",
        "each turn stands with its speaker's name",
        *(() if peer else ("bm25s: not installed",)),
    ]
    report.failed = ours < plain + AHEAD
    return report


def read(path: Path) -> list[Meeting]:
    """Read the set."""
    entries = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line)
    return [_meeting(f"meeting-{number}", entry) for number, entry in enumerate(entries)]


async def answered(meetings: Sequence[Meeting], tuning: Tuning = DEFAULTS) -> list[Sequence[str]]:
    """Let the memory observe the meetings and ask every question; return the ids of the turns found, by question."""
    clock, answers = SetClock(), list[Sequence[str]]()
    async with opened(clock, tuning) as memory:
        for meeting in meetings:
            for turn in meeting.turns:
                await memory.observe(turn)
            clock.at = meeting.turns[-1].sent_at + timedelta(days=1)
            scene = core.Scene.group(meeting.id, "stranger")
            for question in meeting.questions:
                hits = await memory.search_events(scene, question.text, kinds=("message",), top_k=TOP)
                answers.append([hit.event.id for hit in hits])
    return answers


async def figures(path: Path, tuning: Tuning = DEFAULTS, *, every: int = 1) -> dict[str, float]:
    """Return the figure used for tuning; only every ``every``-th meeting is used."""
    meetings = read(path)[::every]
    questions = [question for meeting in meetings for question in meeting.questions]
    return {"qmsum": _mean(questions, await answered(meetings, tuning))}


def _meeting(group_id: str, entry: Mapping[str, Any]) -> Meeting:
    turns = tuple(_turns(group_id, entry["meeting_transcripts"]))
    questions = (_question(one, len(turns)) for one in entry["specific_query_list"])
    return Meeting(group_id, turns, tuple(question for question in questions if question.span))


def _turns(group_id: str, told: Sequence[Mapping[str, str]]) -> Iterator[core.Message]:
    for number, turn in enumerate(told):
        speaker = turn["speaker"]
        scene = core.Scene.group(group_id, speaker.lower(), user_name=speaker)
        yield core.Message(str(number), scene, turn["content"], STARTED + number * TURN)


def _question(entry: Mapping[str, Any], turns: int) -> Question:
    spans = (range(int(first), min(int(last) + 1, turns)) for first, last in entry["relevant_text_span"])
    return Question(entry["query"], frozenset(str(number) for span in spans for number in span))


def _plainly(meeting: Meeting) -> Iterator[Sequence[str]]:
    texts = [Counter(words(text)) for text in meeting.texts]
    for question in meeting.questions:
        yield [str(at) for at in bm25(words(question.text), texts)[:TOP]]


def _by_peer(meetings: Sequence[Meeting], peer: Bm25s) -> Iterator[Sequence[str]]:
    for meeting in meetings:
        best = peer.over(meeting.texts)
        for question in meeting.questions:
            yield [str(at) for at in best(question.text, TOP)]


def _mean(questions: Sequence[Question], answers: Sequence[Sequence[str]]) -> float:
    return mean([question.recall(found) for question, found in zip(questions, answers, strict=True)])
