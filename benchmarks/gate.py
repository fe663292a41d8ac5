"""The gate's correct and wrong findings on labelled sentences and on gold facts; row A18 of the faults has its slowest.

The labelled sentences are the test suite's. ``--data`` names a conversation with facts in absolute form and their
evidence (groupchat-zh): no fact should have an offence or a fault beside its own evidence.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.historian.statements import GivenLines, Verdict, verdict_on
from cognitive_memory_core.text.relative_words import offences

from .chat_set import Chat, read
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
        return verdict_on(self.text, self.original, GivenLines(self.context), self.job_context)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the conversation file."""
    parser.add_argument("--data", type=Path, help="a conversation with facts and evidence (JSON)")


def run(options: argparse.Namespace) -> Report:
    """Count the findings."""
    report = Report("gate: right and wrong", ("what", "n", "figure", "limit"))
    _labelled(report)
    if options.data:
        _gold(report, list(_facts(read(options.data))))
    return report


def _add(report: Report, what: str, number: int, figure: float, limit: float, *, most: bool = True) -> None:
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
        known = [*filter(None, names.split(","))]
        found.update((sentence, one.kind, one.word) for one in offences(sentence, names=known))
        sentences, traps, chinese = sentences + 1, traps + (not words), chinese + bool(_HAN.search(sentence))
    hits = (expected & found).total()
    report.notes.append(f"labelled set: {sentences} sentences, {chinese} of them Chinese, {traps} traps")
    _add(report, "precision %", found.total(), 100 * hits / found.total(), PRECISION, most=False)
    _add(report, "recall %", expected.total(), 100 * hits / expected.total(), RECALL, most=False)


def _gold(report: Report, facts: list[Fact]) -> None:
    verdicts = [fact.judged() for fact in facts]
    for fact, verdict in zip(facts, verdicts, strict=True):
        if verdict != Verdict():
            words = [f"{one.kind}:{one.word}" for one in verdict.offences]
            words += [*verdict.faults, *verdict.lost_ids, *verdict.foreign_ids]
            report.notes.append(f"{fact.text}: {', '.join(words)}")
    count = len(facts)
    offending, faulty = (
        sum(map(bool, ones)) for ones in zip(*((one.offences, one.faults) for one in verdicts), strict=True)
    )
    _add(report, "gold facts with offences %", count, 100 * offending / count, OFFENDING)
    _add(report, "gold facts with faults %", count, 100 * faulty / count, UNFOUNDED)
    _add(report, "gold facts with drift", count, sum("drift" in verdict.reasons for verdict in verdicts), 0)


def _facts(chat: Chat) -> Iterator[Fact]:
    """Yield the facts of a chat with their evidence, and with the lines before it."""
    told: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    people, bot = {person.id: person for person in chat.people}, chat.people[-1]
    for line in chat.lines:
        lines = told.setdefault(line.place, [])
        lines.append(f"{line.name}({line.speaker or bot.id}): {line.message.text}")
        before[line.message.id] = lines[-NEIGHBOURS - 1 :]
    said = {line.message.id: line for line in chat.lines}
    for fact in chat.facts:
        evidence = [said[one] for one in cast("list[str]", fact.row["message_ids"])]
        last, scene = evidence[-1], evidence[-1].message.scene
        job_context = JobContext(last.at, scene.scope, scene.group_name, people[last.speaker or bot.id], chat.people)
        context = tuple(line for one in evidence for line in before[one.message.id])
        yield Fact(str(fact.row["text"]), "\n".join(one.message.text for one in evidence), context, job_context)
