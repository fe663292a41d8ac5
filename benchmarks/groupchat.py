"""Retrieval from a labelled group chat: is the evidence of a question among the first ten, and nothing forbidden?

Each question is asked at its time, in its place, by its asker; the memory holds only what is older. ``--data`` is a
file with "places", "bot", "messages", "facts" and "questions" (groupchat-zh).
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.support.clock import FrozenClock

from .chat_set import Chat, Line, Question, lived, read
from .faults import world
from .labelled import MESSAGES, SETTINGS, START, TOP, Answer, bm25, characters, chinese_peer, mean
from .measure import Cell, Report

EVENTS = ("event", "preference", "knowledge", "experience")
REACH = 60.0
OURS = ("messages", "facts", "facts + messages")
Ranked = Callable[[Question, Sequence[Line]], Sequence[int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: file of the chat."""
    parser.add_argument("--data", type=Path, required=True, help="a labelled group chat (JSON)")


def run(options: argparse.Namespace) -> Report:
    """Ask every question of the memory, with and without facts, and of plain BM25."""
    chat = read(options.data)
    answers: dict[str, list[Answer] | None] = {
        "messages": asyncio.run(answered(chat)),
        "facts": asyncio.run(answered(chat, kinds=EVENTS, with_facts=True)),
        "facts + messages": asyncio.run(answered(chat, kinds=(*EVENTS, *MESSAGES), with_facts=True)),
        "bigrams": _ranked(chat, _bigrams),
        "bigrams +-1": _ranked(chat, _windows),
        "bm25s + jieba": _by_peer(chat),
    }
    report = Report(
        f"groupchat: {len(chat.lines)} messages, {len(chat.questions)} questions at their time, the first {TOP}",
        ("figure", "n", *answers),
    )
    _add_figures(report, chat, answers)
    report.notes += [
        f"reach: recall@{TOP} of messages >= {REACH:.0f}, 0 forbidden; recall: mean share of a question's evidence",
        "facts: the gold facts as events, each from the instant of its last evidence on, counting for its evidence",
        "facts + messages: one list of both, as the memory orders them",
        "bigrams: BM25 over characters and their pairs; +-1: over each line with the one before and after it",
        "log_days is raised to the length of the set; who asks to be forgotten is forgotten at that instant",
    ]
    return report


async def answered(chat: Chat, *, kinds: Sequence[str] = MESSAGES, with_facts: bool = False) -> list[Answer]:
    """Let the memory observe the chat, and ask it each question at its time."""
    clock = FrozenClock(START)
    answers: list[Answer] = []
    async with world.a_memory(SETTINGS, background=False, clock=clock) as (memory, _):
        async for question in lived(memory, clock, chat, with_facts=with_facts):
            hits = await memory.search_events(question.scene, question.text, kinds=kinds, top_k=TOP)
            answers.append(Answer.of(hits))
    return answers


# The methods compared with the memory.


def _ranked(chat: Chat, ranked: Ranked) -> list[Answer]:
    readable = ((question, chat.readable(question)) for question in chat.questions)
    best = ([lines[at].message.id for at in ranked(question, lines)[:TOP]] for question, lines in readable)
    return [Answer(frozenset(ids)) for ids in best]


def _bigrams(question: Question, lines: Sequence[Line]) -> Sequence[int]:
    return bm25(characters(question.text), [_terms(line) for line in lines])


def _windows(question: Question, lines: Sequence[Line]) -> Sequence[int]:
    texts: list[Counter[str]] = [Counter()] * len(lines)
    for place in {line.place for line in lines}:
        there = [at for at, line in enumerate(lines) if line.place == place]
        for rank, at in enumerate(there):
            near = there[max(rank - 1, 0) : rank + 2]
            texts[at] = sum((_terms(lines[one]) for one in near), Counter[str]())
    return bm25(characters(question.text), texts)


def _by_peer(chat: Chat) -> list[Answer] | None:
    if (peer := chinese_peer()) is None:
        return None
    return _ranked(chat, lambda question, lines: peer([_said(line) for line in lines])(question.text, TOP))


@cache
def _terms(line: Line) -> Counter[str]:
    return Counter(characters(_said(line)))


def _said(line: Line) -> str:
    return f"{line.name} {line.message.text}"


# Figures.


def _add_figures(report: Report, chat: Chat, answers: Mapping[str, list[Answer] | None]) -> None:
    def add(figure: str, count: int, value: Callable[[list[Answer]], Cell]) -> None:
        report.add(figure, count, *("not installed" if one is None else value(one) for one in answers.values()))

    types = [question.type for question in chat.known]
    add(f"recall@{TOP}", len(types), lambda given: _recall(chat, given))
    for kind in sorted(set(types)):
        add(f"recall@{TOP} {kind}", types.count(kind), lambda given, kind=kind: _recall(chat, given, kind))
    wrong = sum(bool(question.forbidden) for question in chat.questions)
    add("forbidden shown", wrong, lambda given: _forbidden(chat, given))
    ours = [answers[name] or [] for name in OURS]
    report.failed = any(_forbidden(chat, given) for given in ours) or _recall(chat, ours[0]) < REACH


def _recall(chat: Chat, answers: Sequence[Answer], kind: str = "") -> float:
    pairs = zip(chat.questions, answers, strict=True)
    return mean([given.recall(asked.evidence) for asked, given in pairs if asked.evidence and kind in ("", asked.type)])


def _forbidden(chat: Chat, answers: Sequence[Answer]) -> int:
    pairs = zip(chat.questions, answers, strict=True)
    return sum(len(asked.forbidden & (given.found | given.beside)) for asked, given in pairs)
