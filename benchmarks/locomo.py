"""Retrieval from long conversations between two people: is the evidence of a question among the first ten turns?

Every conversation is a separate group in one memory, and a stranger asks there a day after its last turn. ``--data`` is
a list of conversations with "qa" (LoCoMo); corrected citations are taken from an errors.json beside it, if present.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from .labelled import DEFAULTS, TOP, ZONE, Answer, Bm25s, SetClock, Tuning, bm25, english_peer, mean, opened, words
from .measure import Report

MESSAGES = ("message",)
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


@dataclass(frozen=True)
class Conversation:
    """The turns of a conversation, oldest first, and its questions."""

    id: str
    turns: tuple[core.Message, ...]
    questions: tuple[Question, ...]

    @property
    def scene(self) -> core.Scene:
        """Return the scene in which a stranger asks."""
        return core.Scene.group(self.id, "stranger")


@dataclass(frozen=True)
class Asked:
    """A question with the ids of the turns found: in a list of ten, and in the longest list."""

    question: Question
    turns: Sequence[str]
    long: Sequence[str]

    @property
    def recall(self) -> float:
        """Return the share of the evidence turns among the first ten."""
        return Answer(tuple(frozenset((turn,)) for turn in self.turns[:TOP])).recall(self.question.evidence)

    @property
    def session_recall(self) -> float:
        """Return the share of the evidence sessions among the first ten, each ranked by its first turn."""
        found = list(dict.fromkeys(_session(turn) for turn in self.long))[:TOP]
        wanted = {_session(turn) for turn in self.question.evidence}
        return len(wanted.intersection(found)) / len(wanted)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: file of the conversations, printing of misses."""
    parser.add_argument("--data", type=Path, required=True, help="conversations with questions (JSON)")
    parser.add_argument("--misses", action="store_true", help="print the questions whose evidence was not all found")


def run(options: argparse.Namespace) -> Report:
    """Ask every question of the memory and of plain BM25."""
    conversations = read(options.data)
    ours, peer = asyncio.run(answered(conversations)), english_peer()
    asked = {"memory": ours, "BM25": list(_plainly(conversations))}
    if peer:
        asked["bm25s"] = list(_by_peer(conversations, peer))
    report = Report(
        f"locomo: {sum(len(one.turns) for one in conversations)} turns of {len(conversations)} conversations, "
        f"recall of the first {TOP}",
        ("figure", "n", *asked, "reach"),
    )
    rows = {"1 to 4": FACTUAL, "5": ADVERSARIAL, **{f"{number} ({name})": (number,) for number, name in NAMES.items()}}
    for unit in ("turns", "sessions"):
        for name, categories in rows.items():
            _add(
                report,
                f"{unit}, {name}",
                [_figure(unit, categories, one) for one in asked.values()],
                _count(ours, categories),
            )
    if options.misses:
        _print_misses(conversations, ours)
    report.notes += [
        "BM25: lower-case words of each turn with its speaker's name, a conversation at a time",
        "bm25s: the same without stop words, stemmed where PyStemmer is installed" if peer else "bm25s: not installed",
        f"sessions: each stands where its first turn does in a list of {MOST}",
        "evidence: every D<session>:<turn> in a citation, D:11:26 read as D11:26; turns that there are not left out;",
        "questions without evidence left out; where errors.json lies beside the file, its correct_evidence instead",
        "a turn is its text and, in brackets, the caption of its picture; 30 s apart from the time of its session on",
    ]
    return report


def read(path: Path) -> list[Conversation]:
    """Read the set, with corrections if there are any."""
    errors = path.with_name("errors.json")
    corrections = _corrections(json.loads(errors.read_text("utf-8"))) if errors.exists() else {}
    return [_conversation(entry, corrections) for entry in json.loads(path.read_text("utf-8"))]


async def answered(
    conversations: Sequence[Conversation], tuning: Tuning = DEFAULTS, *, long: bool = True
) -> list[Asked]:
    """Let the memory observe the conversations and ask every question; without ``long`` only for ten hits."""
    clock, found = SetClock(), list[Asked]()
    async with opened(clock, tuning) as memory:
        for conversation in conversations:
            for turn in conversation.turns:
                await memory.observe(turn)
            clock.at = conversation.turns[-1].sent_at + timedelta(days=1)
            for question in conversation.questions:
                turns = await _found(memory, conversation, question, TOP)
                more = await _found(memory, conversation, question, MOST) if long else turns
                found.append(Asked(question, turns, more))
    return found


async def figures(path: Path, tuning: Tuning = DEFAULTS, *, every: int = 1) -> dict[str, float]:
    """Return the figures used for tuning; only every ``every``-th question is asked."""
    conversations = [replace(one, questions=one.questions[::every]) for one in read(path)]
    asked = await answered(conversations, tuning)
    chosen = {"1 to 4": FACTUAL, "5": ADVERSARIAL}
    turns = {f"locomo turns, {name}": _figure("turns", numbers, asked) for name, numbers in chosen.items()}
    return {**turns, "locomo sessions, 1 to 4": _figure("sessions", FACTUAL, asked)}


async def _found(memory: core.CognitiveMemory, conversation: Conversation, question: Question, count: int) -> list[str]:
    hits = await memory.search_events(conversation.scene, question.text, kinds=MESSAGES, top_k=count)
    return [hit.event.id for hit in hits]


def _plainly(conversations: Sequence[Conversation]) -> Iterator[Asked]:
    for conversation in conversations:
        texts = [Counter(words(f"{turn.scene.user_name} {turn.text}")) for turn in conversation.turns]
        for question in conversation.questions:
            found = [conversation.turns[at].id for at in bm25(words(question.text), texts)[:MOST]]
            yield Asked(question, found, found)


def _by_peer(conversations: Sequence[Conversation], peer: Bm25s) -> Iterator[Asked]:
    for conversation in conversations:
        best = peer.over([f"{turn.scene.user_name} {turn.text}" for turn in conversation.turns])
        for question in conversation.questions:
            found = [conversation.turns[at].id for at in best(question.text, MOST)]
            yield Asked(question, found, found)


# The set.


def _conversation(entry: Mapping[str, Any], corrections: Mapping[tuple[str, str], str]) -> Conversation:
    told: Mapping[str, Any] = entry["conversation"]
    turns = tuple(_turns(entry["sample_id"], told))
    known = {turn.id for turn in turns}
    asked = (_question(one, corrections, known) for one in entry["qa"])
    return Conversation(entry["sample_id"], turns, tuple(question for question in asked if question.evidence))


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


def _session(turn: str) -> str:
    return turn.partition(":")[0]


# Figures.


def _figure(unit: str, categories: Sequence[int], asked: Sequence[Asked]) -> float:
    chosen = [one for one in asked if one.question.category in categories]
    return mean([one.recall if unit == "turns" else one.session_recall for one in chosen])


def _count(asked: Sequence[Asked], categories: Sequence[int]) -> int:
    return sum(one.question.category in categories for one in asked)


def _add(report: Report, name: str, measured: Sequence[float], count: int) -> None:
    reach = REACHES.get(name)
    report.add(name, count, *measured, "" if reach is None else reach)
    report.failed |= reach is not None and measured[0] < reach


def _print_misses(conversations: Sequence[Conversation], asked: Sequence[Asked]) -> None:
    said = {(one.id, turn.id): f"{turn.scene.user_name}: {turn.text}" for one in conversations for turn in one.turns}
    places = (one.id for one in conversations for _ in one.questions)
    for place, one in zip(places, asked, strict=True):
        missed = sorted(one.question.evidence.difference(one.turns[:TOP]))
        if missed:
            print(one.question.category, one.question.text, *(f"{it} {said[place, it]}" for it in missed), sep="\t")
