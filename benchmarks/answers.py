"""What the context of a turn holds: does the evidence of a question of a labelled group chat stand in its text?

Each question is asked at its time, in its place, by its asker, with default settings. ``--data`` is a file as
``groupchat`` reads it. "gold events": the set's own statements are the events, as a good historian would write them,
and the log is there beside them; "log alone": no event at all.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core import sentences
from cognitive_memory_core.context.render import QUOTED_LENGTH, minute, quoted
from cognitive_memory_core.text.identity.names import clean_name

from .groupchat import Chat, Line, Question, learned, read, told
from .labelled import DEFAULTS, ZONE, SetClock, Tuning, mean, opened
from .measure import Report, percentile

REACH = 80.0  # % of the questions
WINDOW = core.HistorianSettings().recent_messages_inject_k  # lines that a chat hands its model itself
TELLING = 8  # characters; a shorter forbidden line may stand in anybody's text
COLUMNS = ("figure", "n", "gold events", "log alone")


@dataclass(frozen=True)
class Shown:
    """What one context showed: ids of messages, as lines or through events made of them, and its size in tokens."""

    question: Question
    found: frozenset[str]
    window: frozenset[str]
    forbidden: frozenset[str]
    tokens: int
    degraded: tuple[str, ...]
    text: str

    @property
    def share(self) -> float:
        """The share of the evidence that stands in the text."""
        return len(self.question.evidence & self.found) / len(self.question.evidence)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the chat file and for changed settings."""
    parser.add_argument("--data", type=Path, required=True, help="a labelled group chat (JSON)")
    parser.add_argument("--query", nargs="*", default=[], metavar="KEY=VALUE", help="settings of query that differ")
    parser.add_argument("--budget", type=int, help="tokens of a context (default: as set)")
    parser.add_argument("--misses", action="store_true", help="print the contexts that lack evidence")


def run(options: argparse.Namespace) -> Report:
    """Ask for a context at each question's time."""
    chat = read(options.data)
    query: dict[str, object] = dict(pair.split("=", 1) for pair in options.query)
    tuning = Tuning({"query": query})
    both = [asyncio.run(contexts(chat, tuning, with_facts=facts, budget=options.budget)) for facts in (True, False)]
    report = Report(f"answers: contexts of {len(chat.questions)} questions at their time", COLUMNS)
    _add_figures(report, chat, both)
    report.notes += [
        f"reach: evidence in the text of {REACH:.0f} % of the questions, 0 forbidden",
        f"in the window: evidence among the last {WINDOW} lines of the place, which a chat hands its model itself",
    ]
    if options.misses:
        _print_misses(chat, both[0])
    return report


async def contexts(
    chat: Chat, tuning: Tuning = DEFAULTS, *, with_facts: bool, budget: int | None = None
) -> list[Shown]:
    """Let the memory live through the chat, and ask for the context of each question when its time has come."""
    clock = SetClock()
    lines, facts = iter(chat.lines), iter(chat.facts if with_facts else ())
    shown: list[Shown] = []
    async with opened(clock, tuning) as memory:
        for moment in chat.moments:
            lines = await told(memory, lines, moment.at)
            facts = await learned(memory, facts, moment.at, chat.forgotten)
            clock.at = moment.at
            if isinstance(moment, Question):
                await memory.drain(10)
                context = await memory.context(moment.scene, moment.text, budget=budget)
                shown.append(_shown(chat, moment, context))
            else:
                await memory.forget_user(moment.scene, moment.scene.user_id)
    return shown


def _shown(chat: Chat, question: Question, context: core.Context) -> Shown:
    older = [line for line in chat.lines if line.message.sent_at < question.at]
    here = deque((line.message.id for line in older if line.place == question.place), WINDOW)
    found = _lines_in(older, context) | _events_in(chat, context)
    said = {line.message.id: quoted(line.message.text) for line in chat.lines}
    told = (one for one in question.forbidden if len(said[one]) >= TELLING and said[one] in context.text)
    forbidden = frozenset(told) | (question.forbidden & found)
    return Shown(question, found, frozenset(here), forbidden, context.tokens, context.degraded, context.text)


def _lines_in(lines: Iterable[Line], context: core.Context) -> frozenset[str]:
    shown = _section(context, sentences.context.TITLE_QUOTATIONS)
    by_minute: dict[str, list[str]] = {}
    for line in shown:
        by_minute.setdefault(line[: len("- [2026-01-01 00:00]")], []).append(line)
    return frozenset(line.message.id for line in lines if _is_in(line, by_minute))


def _is_in(line: Line, by_minute: Mapping[str, Sequence[str]]) -> bool:
    candidates = by_minute.get(f"- [{minute(line.message.sent_at, ZONE)}]", ())
    begun = quoted(line.message.text)[: QUOTED_LENGTH // 2]
    voice = f"({line.speaker})" if line.speaker else sentences.context.THE_BOT
    return any(voice in one and f"：{begun}" in one for one in candidates)


def _events_in(chat: Chat, context: core.Context) -> frozenset[str]:
    labels = _labels(frozenset(clean_name(line.name) for line in chat.lines))
    shown = labels.sub(r"(\1)", "\n".join(_section(context, sentences.context.TITLE_EVENTS)))
    facts = ((fact["message_ids"], quoted(str(fact["text"]))) for _, fact in chat.facts)
    made_of = (sources for sources, text in facts if labels.sub(r"(\1)", text) in shown)
    return frozenset(source for sources in made_of if isinstance(sources, list) for source in sources)


@cache
def _labels(names: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of people's labels: they are shown with the name of today, and the one of then behind it."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})\((\w+)\)(?:〔[^〕]*〕)?")


def _section(context: core.Context, title: str) -> tuple[str, ...]:
    return next((section.lines for section in context.sections if section.title == title), ())


def _add_figures(report: Report, chat: Chat, both: Sequence[Sequence[Shown]]) -> None:
    known = [[one for one in shown if one.question.evidence] for shown in both]
    count = len(known[0])
    report.add("evidence in the text, some %", count, *(mean([float(one.share > 0) for one in some]) for some in known))
    report.add("evidence in the text, all %", count, *(mean([float(one.share == 1) for one in some]) for some in known))
    report.add("evidence in the text, share %", count, *(mean([one.share for one in some]) for some in known))
    report.add("some, or in the window %", count, *(mean([float(_is_at_hand(one)) for one in some]) for some in known))
    for kind in sorted({one.question.type for one in known[0]}):
        each = [[float(one.share > 0) for one in some if one.question.type == kind] for some in known]
        report.add(f"some % {kind}", len(each[0]), *map(mean, each))
    wrong = sum(bool(question.forbidden) for question in chat.questions)
    forbidden = [sum(len(one.forbidden) for one in shown) for shown in both]
    report.add("forbidden shown", wrong, *forbidden)
    report.add("tokens, median", len(both[0]), *(percentile([one.tokens for one in shown], 0.5) for shown in both))
    report.add("tokens, p95", len(both[0]), *(percentile([one.tokens for one in shown], 0.95) for shown in both))
    report.add("tokens without an answer, median", len(both[0]) - count, *(_idle_tokens(shown) for shown in both))
    report.add("degraded", len(both[0]), *(sum(bool(one.degraded) for one in shown) for shown in both))
    report.failed = any(forbidden) or float(report.rows[0][2]) < REACH


def _is_at_hand(shown: Shown) -> bool:
    return bool(shown.question.evidence & (shown.found | shown.window))


def _idle_tokens(shown: Iterable[Shown]) -> float:
    return percentile([one.tokens for one in shown if not one.question.evidence] or [0], 0.5)


def _print_misses(chat: Chat, shown: Sequence[Shown]) -> None:
    said = {line.message.id: f"{line.name}: {line.message.text}" for line in chat.lines}
    for one in shown:
        missed = sorted(one.question.evidence - one.found)
        if missed:
            print(f"== {one.question.type} {one.question.at:%m-%d %H:%M} {one.question.text}")
            print(*(f"   missing {message} {said[message]}" for message in missed), one.text, sep="\n")
