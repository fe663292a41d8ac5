"""The gate's correct and wrong findings on labelled sentences and on gold facts; row A18 of the faults has its slowest.

The labelled sentences are the test suite's. ``--data`` names a conversation with facts in absolute form and their
evidence (groupchat-zh): no fact should have an offence or a fault beside its own evidence.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.domain.turn import JobContext, Person
from cognitive_memory_core.historian.statements import GivenLines, Verdict, judge
from cognitive_memory_core.text.statements import offences

from .measure import Report

LABELS = Path(__file__).resolve().parent.parent / "tests" / "unit" / "text"
PRECISION, RECALL, OFFENDING, UNFOUNDED = 98.0, 95.0, 2.0, 1.0  # %
NEIGHBOURS = 5  # messages before the evidence that a historian also sees
_OFFENCE = re.compile("(pronoun|time|place):(.*?)(?= (?:pronoun|time|place):|$)")
_HAN = re.compile("[一-龥]")


@dataclass(frozen=True)
class Fact:
    """A statement of a perfect historian, and its input."""

    text: str
    original: str
    context: tuple[str, ...]
    job_context: JobContext

    def judged(self) -> Verdict:
        """Judge this text beside its evidence."""
        return judge(self.text, self.original, GivenLines(self.context), self.job_context)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the conversation file."""
    parser.add_argument("--data", type=Path, help="a conversation with facts and evidence (JSON)")


def run(options: argparse.Namespace) -> Report:
    """Count the findings."""
    report = Report("gate: right and wrong", ("what", "n", "figure", "limit"))
    _labelled(report)
    if options.data:
        _gold(report, _facts(json.loads(options.data.read_text("utf-8"))))
    return report


def _add(report: Report, what: str, number: int, figure: float, limit: float, *, most: bool) -> None:
    report.add(what, number, figure, limit)
    report.failed |= figure > limit if most else figure < limit


def _lines(name: str) -> Iterator[list[str]]:
    for line in (LABELS / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def _labelled(report: Report) -> None:
    expected: Counter[tuple[str, ...]] = Counter()
    found: Counter[tuple[str, ...]] = Counter()
    sentences = traps = chinese = 0
    for line in _lines("gate_sentences.tsv"):
        sentence, labels, names = [*line, "", ""][:3]
        words = [(sentence, match[1], match[2]) for match in _OFFENCE.finditer(labels.strip())]
        expected.update(words)
        found.update(
            (sentence, one.kind, one.word) for one in offences(sentence, names=[*filter(None, names.split(","))])
        )
        sentences, traps, chinese = sentences + 1, traps + (not words), chinese + bool(_HAN.search(sentence))
    hits = (expected & found).total()
    report.notes.append(f"labelled set: {sentences} sentences, {chinese} of them Chinese, {traps} traps")
    _add(report, "precision %", found.total(), 100 * hits / found.total(), PRECISION, most=False)
    _add(report, "recall %", expected.total(), 100 * hits / expected.total(), RECALL, most=False)


def _gold(report: Report, facts: list[Fact]) -> None:
    verdicts = [(fact, fact.judged()) for fact in facts]
    for fact, verdict in verdicts:
        if verdict != Verdict():
            words = [f"{one.kind}:{one.word}" for one in verdict.offences]
            report.notes.append(
                f"{fact.text}: {', '.join([*words, *verdict.faults, *verdict.lost_ids, *verdict.foreign_ids])}"
            )
    count = len(facts)
    offending = sum(bool(verdict.offences) for _, verdict in verdicts)
    _add(report, "gold facts with offences %", count, 100 * offending / count, OFFENDING, most=True)
    _add(
        report,
        "gold facts with faults %",
        count,
        100 * sum(bool(it.faults) for _, it in verdicts) / count,
        UNFOUNDED,
        most=True,
    )
    _add(report, "gold facts with drift", count, sum("drift" in it.reasons for _, it in verdicts), 0, most=True)


def _facts(world: dict[str, Any]) -> list[Fact]:
    messages = {message["id"]: message for message in world["messages"]}
    places = {place["id"]: place for place in world["places"]}
    people = (*(_person(member) for member in world["members"]), Person(world["bot"]["user_id"], world["bot"]["name"]))
    told: dict[str, list[str]] = {place: [] for place in places}
    before: dict[str, list[str]] = {}
    for message in world["messages"]:
        lines = told[message["place"]]
        lines.append(f"{message['name']}({message['user_id']}): {message['text']}")
        before[message["id"]] = lines[-NEIGHBOURS - 1 :]
    facts: list[Fact] = []
    for fact in world["facts"]:
        evidence = [messages[one] for one in fact["evidence"]]
        place, last = places[fact["place"]], evidence[-1]
        scope = Scope("default", place["kind"], place.get("group_id") or place["user_id"])
        speaker = next(person for person in people if person.id == last["user_id"])
        job_context = JobContext(datetime.fromisoformat(last["time"]), scope, place.get("name", ""), speaker, people)
        context = tuple(line for one in evidence for line in before[one["id"]])
        facts.append(Fact(fact["statement"], "\n".join(one["text"] for one in evidence), context, job_context))
    return facts


def _person(member: dict[str, Any]) -> Person:
    name, *aliases = member["names"]
    return Person(member["user_id"], name, tuple(aliases))
