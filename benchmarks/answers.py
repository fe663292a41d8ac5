"""What the context of a turn holds: does the evidence of a question of a labelled chat stand in its text?

A memory lives through the chat of ``--data``: it hears each line, and its historian reads the lines of a place in
windows, as a bot with default settings does. Each question is asked at its time, in its place, by its asker. Evidence
stands in a text as a line of the log, as a statement made from it, or as a clause that a profile quotes.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core import sentences
from cognitive_memory_core.domain.event import exchange
from cognitive_memory_core.recall.render import QUOTED_LENGTH, minute, quoted
from cognitive_memory_core.text.names import clean_name
from cognitive_memory_core.text.speakers import QUOTE_LENGTH
from tests.support.clock import FrozenClock
from tests.support.waiting import until

from .answers_gold import GoldHistorian
from .chat_set import Chat, Line, Question, Window, lived, read
from .faults import world
from .labelled import SETTINGS, WAIT, ZONE, mean
from .measure import Cell, Report, percentile

MODES: Mapping[str, str] = {
    "rules": "no model: the rules read each window of lines",
    "gold": "a scripted model writes the set's own facts: the most that a model can do",
    "imported": "the set's own facts are imported, each when it becomes known",
    "log": "no historian: the lines alone",
}
READING = ("rules", "gold")
REACH = 80.0  # % of the questions
LOOKED = 0.6  # real seconds within which the merger has read the clock
TELLING = 8  # characters; a shorter forbidden line or statement may stand in anybody's text
CLAUSE = 6  # characters of a quoted clause of a profile
_CORNERS = str.maketrans("「」", "『』")
_QUOTED = re.compile(f"“([^“”]{{{CLAUSE},}})”")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: chat and modes."""
    parser.add_argument("--data", type=Path, required=True, help="groupchat-zh (JSON)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=["rules", "gold"], metavar="MODE",
                        help="; ".join(f"{mode}: {says}" for mode, says in MODES.items()))  # fmt: skip


def run(options: argparse.Namespace) -> Report:
    """Let a memory live through the chat once a mode, and ask for a context at each question's time."""
    chat = read(options.data)
    lives = [asyncio.run(life(chat, mode)) for mode in options.modes]
    title = f"answers: {len(chat.lines)} messages, contexts of {len(chat.questions)} questions at their time"
    report = Report(title, ("figure", "n", *(one.mode for one in lives)))
    for figure, count, value in _figures(lives[0]):
        report.add(figure, count, *map(value, lives))
    reached = mean([one.share > 0 for one in lives[0].known()])
    report.failed = reached < REACH or any(each.buried or any(one.forbidden for one in each.shown) for each in lives)
    report.notes += [
        f"reach: evidence in the text of {REACH:.0f} % of the questions without a model, 0 forbidden",
        *(f"{one.mode}: {MODES[one.mode]}" for one in lives),
        *(f"{one.mode}: failed calls {dict(one.failures)}" for one in lives if one.failures),
    ]
    return report


def _figures(first: Life) -> Iterator[tuple[str, int, Callable[[Life], Cell]]]:
    """Yield each figure with its number of questions or messages, and how it is read from a life."""

    def over_known(value: Callable[[Shown], float], kind: str = "") -> Callable[[Life], Cell]:
        return lambda life: mean([value(one) for one in life.known(kind)])

    def of_reading(value: Callable[[Life], Cell]) -> Callable[[Life], Cell]:
        return lambda life: value(life) if life.reads else ""

    def of_a_turn(share: float) -> Callable[[Life], Cell]:
        return lambda life: percentile([one.tokens for one in life.shown], share)

    known, asked, said = len(first.known()), len(first.shown), first.said
    yield "evidence in the text, some %", known, over_known(lambda one: one.share > 0)
    yield "evidence in the text, all %", known, over_known(lambda one: one.share == 1)
    yield "evidence in the text, share %", known, over_known(lambda one: one.share)
    for kind in sorted({one.question.type for one in first.known()}):
        yield f"some % {kind}", len(first.known(kind)), over_known(lambda one: one.share > 0, kind)
    wrong = sum(bool(one.question.forbidden) for one in first.shown)
    yield "forbidden shown", wrong, lambda life: sum(len(one.forbidden) for one in life.shown)
    yield "tokens a turn, median", asked, of_a_turn(0.5)
    yield "tokens a turn, p95", asked, of_a_turn(0.95)
    yield "degraded", asked, lambda life: sum(bool(one.degraded) for one in life.shown)
    yield "events stored", said, of_reading(lambda life: len(life.memories))
    yield "calls a message", said, of_reading(lambda life: life.calls.total() / said)
    yield "tokens of calls a message", said, of_reading(lambda life: life.tokens.total() / said)
    yield "jobs that failed for good", said, of_reading(lambda life: life.buried)


@dataclass(frozen=True)
class Shown:
    """What one context showed: ids of messages, as lines or through what was made of them, and its size in tokens."""

    question: Question
    found: frozenset[str]
    forbidden: frozenset[str]
    tokens: int
    degraded: tuple[str, ...]
    text: str

    @property
    def share(self) -> float:
        """The share of the evidence that stands in the text."""
        return len(self.question.evidence & self.found) / len(self.question.evidence)


Memory = tuple[str, frozenset[str]]  # a statement, and the messages that it was made from


@dataclass
class Life:
    """What became of a chat in one mode: the contexts, what is stored, and what the model was asked."""

    mode: str
    chat: Chat
    shown: list[Shown] = field(default_factory=list[Shown])
    memories: list[core.Event] = field(default_factory=list[core.Event])
    calls: Counter[str] = field(default_factory=Counter[str])
    tokens: Counter[str] = field(default_factory=Counter[str])
    failures: Counter[str] = field(default_factory=Counter[str])
    buried: int = 0

    def known(self, kind: str = "") -> list[Shown]:
        """Return the contexts of questions that have an answer, perhaps those of one type."""
        return [one for one in self.shown if one.question.evidence and kind in ("", one.question.type)]

    @property
    def said(self) -> int:
        """Return the number of lines that people said."""
        return sum(not line.message.is_bot for line in self.chat.lines)

    @property
    def reads(self) -> bool:
        """Whether a historian read the lines."""
        return self.mode in READING


async def life(chat: Chat, mode: str) -> Life:
    """Let a memory live through the chat in a mode, and ask for the context of each question at its time."""
    result, clock = Life(mode, chat), FrozenClock(min(line.at for line in chat.lines))
    gold = GoldHistorian(chat.facts) if mode == "gold" else None
    model = gold.chat if gold else None
    opening = world.a_memory(SETTINGS, clock=clock, chat=model, background=result.reads)
    async with opening as (memory, _):
        on_window = partial(_considered, memory, gold) if result.reads else None
        async for question in lived(memory, clock, chat, with_facts=mode == "imported", on_window=on_window):
            await (_settled(memory, merges=True) if result.reads else memory.drain(WAIT))
            context = await memory.context(question.scene, question.text)
            result.shown.append(shown_by(chat, question, context, await _memories(memory)))
        await (_settled(memory, merges=True) if result.reads else memory.drain(WAIT))
        result.memories = await world.listed(memory)
        result.buried = len(await memory.failed_jobs())
        if model:
            result.calls, result.tokens, result.failures = model.calls, model.tokens, model.failures
    return result


async def _considered(memory: core.CognitiveMemory, gold: GoldHistorian | None, window: Window) -> None:
    """Hand a window over and wait until its job is done."""
    if gold:
        gold.window = window
    last = next(line for line in reversed(window.lines) if not line.is_bot)
    await memory.consider(last.scene, window.lines)
    await _settled(memory, merges=False)


async def _settled(memory: core.CognitiveMemory, *, merges: bool) -> None:
    """Wait until no job waits and every event is indexed; ``merges``: and the merges that are due are done.

    Merges that are not due yet wait, as they would in a bot.
    """

    async def is_idle() -> bool:
        status = await memory.status()
        return not (status.jobs.pending or status.jobs.processing or status.index_lag)

    await asyncio.sleep(LOOKED if merges else 0.0)
    await until(is_idle, 0.005)


async def _memories(memory: core.CognitiveMemory) -> list[Memory]:
    events = await world.listed(memory)
    older = [(event.text, frozenset(event.message_ids)) for event in events if not event.quotes]
    quotes = (quote for event in events for quote in event.quotes)
    return [*older, *((exchange([one], longest=QUOTE_LENGTH), frozenset((one.message_id,))) for one in quotes)]


def shown_by(chat: Chat, question: Question, context: core.Context, memories: Iterable[Memory]) -> Shown:
    """Read which messages a context shows: as lines of the log, through statements, or as a profile's quotations."""
    older = [line for line in chat.lines if line.message.sent_at < question.at]
    asked_for = question.evidence | question.forbidden
    wanted = [line for line in older if line.message.id in asked_for]
    found = _lines_in(wanted, context) | _memories_in(chat, context, memories) | _clauses_in(wanted, context)
    said = {line.message.id: quoted(line.message.text) for line in chat.lines if line.message.id in question.forbidden}
    told = (one for one, text in said.items() if len(text) >= TELLING and text in context.text)
    forbidden = frozenset(told) | (question.forbidden & found)
    return Shown(question, found, forbidden, context.tokens, context.degraded, context.text)


def _lines_in(lines: Iterable[Line], context: core.Context) -> frozenset[str]:
    shown = _section(context, sentences.context.TITLE_QUOTATIONS)
    by_minute: dict[str, list[str]] = {}
    for line in shown:
        by_minute.setdefault(line.partition("]")[0], []).append(line)
    text = "\n".join(shown)
    return frozenset(line.message.id for line in lines if _is_in(line, by_minute) or _is_beside(line, text))


def _is_in(line: Line, by_minute: Mapping[str, Sequence[str]]) -> bool:
    candidates = by_minute.get(f"- [{minute(line.message.sent_at, ZONE, with_weekday=True)}", ())
    begun = quoted(line.message.text)[: QUOTED_LENGTH // 2]
    voice = f"({line.speaker})" if line.speaker else sentences.context.THE_BOT
    return any(voice in one and f"：{begun}" in one for one in candidates)


def _is_beside(line: Line, shown: str) -> bool:
    """Return whether the whole of a line stands with its speaker beside another one: replied to, or said next."""
    voice = f"({line.speaker})" if line.speaker else sentences.context.THE_BOT
    text = quoted(line.message.text.translate(_CORNERS))
    return f"{voice}「{text}」" in shown


def _memories_in(chat: Chat, context: core.Context, memories: Iterable[Memory]) -> frozenset[str]:
    """Return what the statements were made from that stand in the text, whatever people are called in them."""
    labels = _labels(frozenset(clean_name(line.name) for line in chat.lines))
    quotations = frozenset(_section(context, sentences.context.TITLE_QUOTATIONS))
    rest = (line for section in context.sections for line in section.lines if line not in quotations)
    shown = labels.sub(r"(\1)", "\n".join(rest))
    texts = ((labels.sub(r"(\1)", quoted(text)), made_of) for text, made_of in memories)
    return frozenset(one for text, made_of in texts if len(text) >= TELLING and text in shown for one in made_of)


def _clauses_in(lines: Iterable[Line], context: core.Context) -> frozenset[str]:
    """Return the messages of which a profile or a statement quotes a clause."""
    clauses = {clause for section in context.sections for line in section.lines for clause in _QUOTED.findall(line)}
    return frozenset(line.message.id for line in lines if any(one in quoted(line.message.text) for one in clauses))


@cache
def _labels(names: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of people's labels: they are shown with the name of today, and the one of then behind it."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})\((\w+)\)(?:〔[^〕]*〕)?")


def _section(context: core.Context, title: str) -> tuple[str, ...]:
    return next((section.lines for section in context.sections if section.title == title), ())
