"""Retrieval from long conversations between two people: is the evidence of a question among the first ten turns?

Every conversation is a separate group in one memory, and a stranger asks there a day after its last turn. ``--data`` is
a list of conversations with "qa" (LoCoMo); corrected citations are taken from an errors.json beside it, if present.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import compress
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from .labelled import TOP, ZONE, Answer, Talk, english_peer, heard, mean, plain, searched
from .measure import Report

MOST = 200  # most hits that the memory returns
TURN = timedelta(seconds=30)
FACTUAL, ADVERSARIAL = (1, 2, 3, 4), (5,)
NAMES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
REACHES = {"turns, 1 to 4": 77.0, "turns, 5": 83.0, "sessions, 1 to 4": 94.0}
_ID = re.compile(r"D:?(\d+):(\d+)")
_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True)
class Question:
    """A question, its category, and the ids of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the file of the conversations."""
    parser.add_argument("--data", type=Path, required=True, help="conversations with questions (JSON)")


def run(options: argparse.Namespace) -> Report:
    """Ask every question of the memory and of plain BM25."""
    talks, questions = read(options.data)
    found = {"memory": asyncio.run(heard(talks, TOP, MOST)), "BM25": [[one] for one in searched(talks, plain, MOST)]}
    if peer := english_peer():
        found["bm25s"] = [[one] for one in searched(talks, peer, MOST)]
    turns = sum(len(one.turns) for one in talks)
    title = f"locomo: {turns} turns of {len(talks)} conversations, recall of the first {TOP}"
    report = Report(title, ("figure", "n", *found, "reach"))
    rows = {"1 to 4": FACTUAL, "5": ADVERSARIAL, **{f"{number} ({name})": (number,) for number, name in NAMES.items()}}
    for unit, recall in {"turns": _of_turns, "sessions": _of_sessions}.items():
        shares = [[*map(recall, questions, lists)] for lists in found.values()]
        for name, categories in rows.items():
            chosen, reach = [one.category in categories for one in questions], REACHES.get(f"{unit}, {name}")
            measured = [mean([*compress(each, chosen)]) for each in shares]
            report.add(f"{unit}, {name}", sum(chosen), *measured, "" if reach is None else reach)
            report.failed |= reach is not None and measured[0] < reach
    report.notes += [
        "BM25: lower-case words of each turn with its speaker's name, a conversation at a time",
        "bm25s: the same without stop words, stemmed where PyStemmer is installed" if peer else "bm25s: not installed",
        f"sessions: each stands where its first turn does in a list of {MOST}",
        "evidence: every D<session>:<turn> in a citation, D:11:26 read as D11:26; turns that there are not left out;",
        "questions without evidence left out; where errors.json lies beside the file, its correct_evidence instead",
        "a turn is its text and, in brackets, the caption of its picture; 30 s apart from the time of its session on",
    ]
    return report


def read(path: Path) -> tuple[list[Talk], list[Question]]:
    """Read the conversations, with corrections if there are any, and all their questions in order."""
    errors = path.with_name("errors.json")
    corrections = _corrections(json.loads(errors.read_text("utf-8"))) if errors.exists() else {}
    talks, questions = list[Talk](), list[Question]()
    for entry in json.loads(path.read_text("utf-8")):
        turns = tuple(_turns(entry["sample_id"], entry["conversation"]))
        known = {turn.id for turn in turns}
        asked = [one for it in entry["qa"] if (one := _question(it, corrections, known)).evidence]
        talks.append(Talk(entry["sample_id"], turns, tuple(one.text for one in asked)))
        questions += asked
    return talks, questions


# The set.


def _turns(group_id: str, told: Mapping[str, Any]) -> Iterator[core.Message]:
    numbers = sorted(int(key.removeprefix("session_")) for key in told if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        started = datetime.strptime(told[f"session_{number}_date_time"], _TIME).replace(tzinfo=ZONE)
        for at, turn in enumerate(told[f"session_{number}"]):
            speaker = turn["speaker"]
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            scene = core.Scene.group(group_id, speaker.lower(), user_name=speaker)
            yield core.Message(turn["dia_id"], scene, turn["text"] + caption, started + at * TURN)


def _question(entry: Mapping[str, Any], corrections: Mapping[tuple[str, str], str], known: set[str]) -> Question:
    cited = " ".join(entry["evidence"])
    corrected = corrections.get((entry["question"], cited), cited)
    ids = (f"D{int(session)}:{int(turn)}" for session, turn in _ID.findall(corrected))
    return Question(entry["question"], entry["category"], frozenset(ids) & known)


def _corrections(errors: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return the corrected citation by question and wrong citation."""
    return {
        (error["question"], " ".join(error["cited_evidence"])): " ".join(error["correct_evidence"])
        for error in errors
        if error["correct_evidence"]
    }


# Figures; of two lists the first is of ten turns, the last the longest.


def _of_turns(asked: Question, found: Sequence[Sequence[str]]) -> float:
    """Return the share of the evidence turns among the first ten."""
    return Answer(frozenset(found[0][:TOP])).recall(asked.evidence)


def _of_sessions(asked: Question, found: Sequence[Sequence[str]]) -> float:
    """Return the share of the evidence sessions among the first ten, each ranked by its first turn."""
    first = list(dict.fromkeys(turn.partition(":")[0] for turn in found[-1]))[:TOP]
    return Answer(frozenset(first)).recall({turn.partition(":")[0] for turn in asked.evidence})
