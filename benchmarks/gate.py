"""The gate's correct and wrong findings on labelled sentences and on gold facts, and its slowest answers.

The labelled sentences are the test suite's. ``--data`` names a conversation with facts in absolute form and their
evidence (groupchat-zh): no fact should have an offence, and each should be supported by its own evidence only.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from cognitive_memory_core.domain.people import JobContext, Person
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.historian.rewriting.statement_gate import Around, Verdict, judge
from cognitive_memory_core.text.names import clean_name
from cognitive_memory_core.text.safety.prompt_fences import defused
from cognitive_memory_core.text.statements.lexicon import offences
from cognitive_memory_core.text.time.time_words import time_window

from .measure import Report

LABELS = Path(__file__).resolve().parent.parent / "tests" / "unit" / "text"
PRECISION, RECALL, OFFENDING, UNFOUNDED = 98.0, 95.0, 2.0, 1.0  # %
SLOW = 50.0  # ms
FLOOD = 32_000  # characters
ROUNDS = 3
NOW = datetime(2026, 3, 4, 12, tzinfo=timezone.utc)
NEIGHBOURS = 5  # messages before the evidence that a historian also sees
_OFFENCE = re.compile("(pronoun|time|place):(.*?)(?= (?:pronoun|time|place):|$)")
_HAN = re.compile("[一-龥]")
_SIGNS = """
a 1 1, 1.2 我 昨天 3月 周 两三 半个 前 每 例会 名叫 ( 阿棠( (2000001) “ 《 ` " < <a </ [ 【 https:// a@ a.b a-
不 没有 先 跟借 20260305 2026- 抱歉 每周一二三 1.2万 千 ﷺ ㎏ 12345，
"""
_SPACED = (" ", "\n", "\t\n", "\u200b", "\u0301", "\U0001f600\u200d", "\ufeff", "\u202e", "last ", "in march ", "none ")
PIECES = (*_SIGNS.split(), *_SPACED)


@dataclass(frozen=True)
class Fact:
    """A statement of a perfect historian, and its input."""

    text: str
    original: str
    context: tuple[str, ...]
    job_context: JobContext

    def judged_with(self, other: Fact) -> Verdict:
        """Judge this text as if it were made from another fact's evidence."""
        return judge(self.text, other.original, Around(tuple(other.context)), self.job_context)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the conversation file."""
    parser.add_argument("--data", type=Path, help="a conversation with facts and evidence (JSON)")


def run(options: argparse.Namespace) -> Report:
    """Count the findings, then measure the time."""
    report = Report("gate: right, wrong and slow", ("what", "n", "figure", "limit"))
    _labelled(report)
    if options.data:
        _gold(report, _facts(json.loads(options.data.read_text("utf-8"))))
    for name, function in TIMED.items():
        _slowest(report, name, function)
    report.notes.append(
        f"worst ms: the slowest of {len(PIECES)} floods of {FLOOD} characters, each the best of {ROUNDS}"
    )
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
    verdicts = [(fact, fact.judged_with(fact)) for fact in facts]
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
    _add(report, "gold facts with drift", count, sum(it.has_drift for _, it in verdicts), 0, most=True)
    exchanged = [fact.judged_with(other) for fact, other in _exchanged(facts)]
    caught = sum(not verdict.is_usable for verdict in exchanged)
    _add(report, "exchanged evidence caught %", len(exchanged), 100 * caught / len(exchanged), 80, most=False)


def _exchanged(facts: list[Fact]) -> Iterator[tuple[Fact, Fact]]:
    chance = random.Random(4)
    for _ in range(5):
        for fact in facts:
            other = chance.choice(facts)
            if other.original != fact.original:
                yield fact, other


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


# Time.

JOB_CONTEXT = JobContext(
    NOW, Scope("default", "group", "10001"), "读书会", Person("2000001", "阿棠", ("a", "《", "12345"))
)
TIMED: dict[str, Callable[[str], object]] = {
    "offences": lambda text: offences(text, names=JOB_CONTEXT.names),
    "judge": lambda text: judge(text, text[::-1], Around((text, text)), JOB_CONTEXT),
    "judge of a fact": lambda text: judge(text, "阿棠(2000001)喜欢乌龙茶", Around(("我喜欢乌龙茶",)), JOB_CONTEXT),
    "time_window": lambda text: time_window(text, NOW),
    "clean_name": clean_name,
    "defused": defused,
}


def _slowest(report: Report, name: str, function: Callable[[str], object]) -> None:
    function("昨天我在这里 last week")  # patterns are compiled on first use
    worst, which = max((_best(function, piece), piece) for piece in PIECES)
    report.notes.append(f"{name}: slowest on {which!r}")
    _add(report, f"{name}: worst ms", len(PIECES), worst, SLOW, most=True)


def _best(function: Callable[[str], object], piece: str) -> float:
    """Return the milliseconds of the fastest round; each round uses a new text, because some functions cache."""
    took: list[float] = []
    for number in range(ROUNDS):
        text = f"{number}{piece * (FLOOD // len(piece))}"
        started = time.perf_counter()
        function(text)
        took.append(1000 * (time.perf_counter() - started))
    return min(took)
