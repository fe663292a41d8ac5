"""Chinese memories for a dialogue's next turn: is our fusion better than six real encoders are alone?

Of each encoder only its first twenty are stored, so a similarity here is ``1 - (rank - 1) / 20``. The words are asked
of a memory of their own, each person's memories in their private chat; joined are both by the very function that
searches use, with the default weight. ``--data`` is a file with "memories" and "dialogues" (MADial-Bench).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.recall.ranking import Scored, fused

from .labelled import ZONE, NoEmbedder, SetClock, Tuning, mean, opened, written
from .measure import Report

FIRST = 5
STORED = 20  # ranks of an encoder
FOUND = 200  # hits that the memory gives at most: all that share a word
SMOOTHING = 60  # of reciprocal ranks, as they are usually taken
REACH, AHEAD = 62.0, 1.5  # the mean of the encoders, and how far before their own
_TURN = re.compile(r'<(\w+)>\s*[:：]\s*"?(.*?)"?\s*$', re.MULTILINE)


@dataclass(frozen=True)
class Dialogue:
    """What a person said last, what should come to mind, and what each encoder thinks of."""

    person: str
    query: str
    relevant: frozenset[str]
    rankings: Mapping[str, Sequence[str]]

    def recall(self, found: Sequence[str]) -> float:
        """Give the share of what should come to mind among the first."""
        return len(self.relevant.intersection(found[:FIRST])) / len(self.relevant)


@dataclass(frozen=True)
class Asked:
    """A dialogue, every memory of its person, and what the words of the dialogue find of them."""

    dialogue: Dialogue
    events: Mapping[str, Event]
    lexical: Sequence[Scored]  # best first

    def dense(self, encoder: str) -> list[Scored]:
        """Give what an encoder found, each with a similarity for its rank."""
        ranked = enumerate(self.dialogue.rankings[encoder])
        return [(self.events[one], 1.0 - rank / STORED) for rank, one in ranked]

    def alone(self, encoder: str) -> float:
        """Give the recall of an encoder alone."""
        return self.dialogue.recall(self.dialogue.rankings[encoder])

    def fused(self, encoder: str, weight: float) -> float:
        """Give the recall of our fusion."""
        return self.dialogue.recall([hit.event.id for hit in fused(self.dense(encoder), self.lexical, weight)])

    def by_ranks(self, encoder: str) -> float:
        """Give the recall of reciprocal ranks with equal weights."""
        scores: defaultdict[str, float] = defaultdict(float)
        for leg in (self.dense(encoder), self.lexical):
            for rank, (event, _) in enumerate(leg, 1):
                scores[event.id] += 1 / (SMOOTHING + rank)
        return self.dialogue.recall(sorted(scores, key=lambda one: -scores[one]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say where the dialogues are, and how much of them is asked."""
    parser.add_argument("--data", type=Path, required=True, help="memories and dialogues (JSON)")
    parser.add_argument("--turns", type=int, default=1, help="the person's last turns that make the question")


def run(options: argparse.Namespace) -> Report:
    """Join each encoder's ranks with the words, in three ways."""
    asked = asyncio.run(answered(options.data, turns=options.turns))
    weight = core.Settings().query.lexical_weight
    report = Report(
        f"madial: {len(asked)} dialogues, recall@{FIRST}",
        ("encoder", "n", "alone", f"fused, weight {weight}", "equal reciprocal ranks", "fused - alone"),
    )
    rows: list[tuple[float, ...]] = []
    for encoder in asked[0].dialogue.rankings:
        rows.append(_compared(asked, encoder, weight))
        report.add(encoder, len(asked), *rows[-1])
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    report.add("mean", len(asked), *means)
    words = mean([one.dialogue.recall([event.id for event, _ in one.lexical]) for one in asked])
    report.notes += [
        f"reach: fused never below alone, and on the mean >= {REACH:.0f} and {AHEAD} before it",
        f"only ranks are stored: similarity = 1 - (rank - 1) / {STORED}; words alone, without an encoder: {words:.1f}",
        f"asked: the person's last {options.turns} turn(s), over all memories of that person",
    ]
    is_ahead = means[1] >= REACH and means[3] >= AHEAD
    report.failed = not is_ahead or any(difference < 0 for *_, difference in rows)
    return report


async def answered(path: Path, tuning: Tuning | None = None, *, turns: int = 1) -> list[Asked]:
    """Let the memory learn everything and ask it what each person said last, by words alone."""
    world = json.loads(path.read_text("utf-8"))  # noqa: ASYNC240  # nothing else runs
    clock = SetClock(max(_day(entry) for entry in world["memories"]))
    settings = tuning.settings if tuning else {}
    async with opened(clock, Tuning(settings, NoEmbedder())) as memory:
        with tempfile.TemporaryDirectory() as folder:
            await memory.import_(written([_line(entry) for entry in world["memories"]], Path(folder, "memories.jsonl")))
        events = {entry["id"]: _event(entry) for entry in world["memories"]}
        return [await _asked(memory, events, _dialogue(entry, turns)) for entry in world["dialogues"]]


async def figures(path: Path, tuning: Tuning) -> dict[str, float]:
    """Give the figure that matters when the memory is tuned: the mean over the encoders."""
    asked = await answered(path, tuning)
    chosen = tuning.settings.get("query", {})
    weight = core.Settings.from_mapping({"query": dict(chosen)}).query.lexical_weight
    encoders = list(asked[0].dialogue.rankings)
    return {"madial fused": sum(_compared(asked, encoder, weight)[1] for encoder in encoders) / len(encoders)}


async def _asked(memory: core.CognitiveMemory, events: Mapping[str, Event], dialogue: Dialogue) -> Asked:
    """Ask by words; what the set has twice is one event of the memory, and stands for both."""
    hits = await memory.search_events(core.Scene.private(dialogue.person), dialogue.query, top_k=FOUND)
    scores = {(hit.event.text, hit.event.user_id): hit.lexical for hit in hits}
    found = ((event, scores.get((event.text, event.user_id), 0.0)) for event in events.values())
    return Asked(dialogue, events, sorted((one for one in found if one[1] > 0), key=lambda one: -one[1]))


def _compared(asked: Sequence[Asked], encoder: str, weight: float) -> tuple[float, ...]:
    alone = mean([one.alone(encoder) for one in asked])
    joined = mean([one.fused(encoder, weight) for one in asked])
    return alone, joined, mean([one.by_ranks(encoder) for one in asked]), joined - alone


def _dialogue(entry: Mapping[str, Any], turns: int) -> Dialogue:
    told = [text for name, text in _TURN.findall(entry["history"]) if name != "Assistant"]
    rankings = {name: [str(one) for one in ranked] for name, ranked in entry["rankings"].items()}
    return Dialogue(
        str(entry["user-id"]), "\n".join(told[-turns:]), frozenset(map(str, entry["relevant-id"])), rankings
    )


def _line(entry: Mapping[str, Any]) -> Mapping[str, object]:
    person = str(entry["user-id"])
    return {
        "type": "event",
        "id": str(entry["id"]),
        "text": entry["event"],
        "request_type": "private",
        "user_id": person,
        "sender_id": person,
        "happened_at": _day(entry),
    }


def _event(entry: Mapping[str, Any]) -> Event:
    person = str(entry["user-id"])
    return Event(
        entry["id"], entry["event"], user_id=person, sender_id=person, request_type="private", happened_at=_day(entry)
    )


def _day(entry: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(entry["time"]).replace(tzinfo=ZONE)
