"""Chinese memories for the next turn of a dialogue: is our fusion better than each of six real encoders alone?

Of each encoder only its first twenty results are stored, so its similarity is ``1 - (rank - 1) / 20``. The lexical leg
is queried in a memory that holds each person's memories in a private chat; both are fused by the function that searches
use, with the default weight. ``--data`` is a file with "memories" and "dialogues" (MADial-Bench).
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
from cognitive_memory_core.errors import TransientError
from cognitive_memory_core.recall.ranking import Scored, fused
from tests.support.clock import FrozenClock
from tests.support.export_files import written
from tests.support.ports import CountingEmbedder

from .faults import world
from .labelled import SETTINGS, ZONE, mean
from .measure import Report

FIRST = 5
FIELDS = ("id", "text", "request_type", "user_id", "sender_id", "happened_at")
STORED = 20  # ranks per encoder
FOUND = 200  # most hits that the memory returns: all that share a word
SMOOTHING = 60  # of reciprocal rank fusion, the usual value
REACH, AHEAD = 62.0, 1.5  # the mean over the encoders, and its lead over the encoders alone
_TURN = re.compile(r'<(\w+)>\s*[:：]\s*"?(.*?)"?\s*$', re.MULTILINE)


@dataclass(frozen=True)
class Dialogue:
    """A person's last turn, the relevant memories, and the ranking of each encoder."""

    person: str
    query: str
    relevant: frozenset[str]
    rankings: Mapping[str, Sequence[str]]

    def recall(self, found: Sequence[str]) -> float:
        """Return the share of the relevant memories among the first."""
        return len(self.relevant.intersection(found[:FIRST])) / len(self.relevant)


@dataclass(frozen=True)
class Asked:
    """A dialogue, every memory of its person, and the lexical hits among them."""

    dialogue: Dialogue
    events: Mapping[str, Event]
    lexical: Sequence[Scored]  # best first

    def dense(self, encoder: str) -> list[Scored]:
        """Return an encoder's results, each with a similarity by rank."""
        ranked = enumerate(self.dialogue.rankings[encoder])
        return [(self.events[one], 1.0 - rank / STORED) for rank, one in ranked]

    def alone(self, encoder: str) -> float:
        """Return the recall of an encoder alone."""
        return self.dialogue.recall(self.dialogue.rankings[encoder])

    def fused(self, encoder: str, weight: float) -> float:
        """Return the recall of our fusion."""
        return self.dialogue.recall([hit.event.id for hit in fused(self.dense(encoder), self.lexical, weight)])

    def by_ranks(self, encoder: str) -> float:
        """Return the recall of reciprocal rank fusion with equal weights."""
        scores: defaultdict[str, float] = defaultdict(float)
        for leg in (self.dense(encoder), self.lexical):
            for rank, (event, _) in enumerate(leg, 1):
                scores[event.id] += 1 / (SMOOTHING + rank)
        return self.dialogue.recall(sorted(scores, key=lambda one: -scores[one]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option: file of the dialogues."""
    parser.add_argument("--data", type=Path, required=True, help="memories and dialogues (JSON)")


def run(options: argparse.Namespace) -> Report:
    """Fuse each encoder's ranks with the lexical leg, in three ways."""
    asked = asyncio.run(answered(options.data))
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
        "asked: the person's last turn, over all memories of that person",
    ]
    is_ahead = means[1] >= REACH and means[3] >= AHEAD
    report.failed = not is_ahead or any(difference < 0 for *_, difference in rows)
    return report


async def answered(path: Path) -> list[Asked]:
    """Let the memory import everything, and query it by words alone with each person's last turn."""
    told = json.loads(path.read_text("utf-8"))  # noqa: ASYNC240  # nothing else runs
    clock = FrozenClock(max(_day(entry) for entry in told["memories"]))
    given = {"clock": clock, "embedder": CountingEmbedder(TransientError("away"))}  # words alone find something
    async with world.a_memory(SETTINGS, background=False, **given) as (memory, _):
        events = {entry["id"]: _event(entry) for entry in told["memories"]}
        rows = ({"type": "event", **{name: getattr(event, name) for name in FIELDS}} for event in events.values())
        with tempfile.TemporaryDirectory() as folder:
            await memory.import_(written(rows, Path(folder, "memories.jsonl")))
        return [await _asked(memory, events, _dialogue(entry)) for entry in told["dialogues"]]


async def _asked(memory: core.CognitiveMemory, events: Mapping[str, Event], dialogue: Dialogue) -> Asked:
    """Query by words; a duplicate of the set is one event in the memory and counts for both."""
    hits = await memory.search_events(core.Scene.private(dialogue.person), dialogue.query, top_k=FOUND)
    scores = {(hit.event.text, hit.event.user_id): hit.lexical for hit in hits}
    found = ((event, scores.get((event.text, event.user_id), 0.0)) for event in events.values())
    return Asked(dialogue, events, sorted((one for one in found if one[1] > 0), key=lambda one: -one[1]))


def _compared(asked: Sequence[Asked], encoder: str, weight: float) -> tuple[float, ...]:
    alone = mean([one.alone(encoder) for one in asked])
    joined = mean([one.fused(encoder, weight) for one in asked])
    return alone, joined, mean([one.by_ranks(encoder) for one in asked]), joined - alone


def _dialogue(entry: Mapping[str, Any]) -> Dialogue:
    told = [text for name, text in _TURN.findall(entry["history"]) if name != "Assistant"]
    rankings = {name: [str(one) for one in ranked] for name, ranked in entry["rankings"].items()}
    return Dialogue(str(entry["user-id"]), told[-1], frozenset(map(str, entry["relevant-id"])), rankings)


def _event(entry: Mapping[str, Any]) -> Event:
    event_id, who, at = str(entry["id"]), str(entry["user-id"]), _day(entry)
    return Event(event_id, entry["event"], request_type="private", happened_at=at, user_id=who, sender_id=who)


def _day(entry: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(entry["time"]).replace(tzinfo=ZONE)
