"""Retrieval from a labelled group chat: is the evidence of a question among the first ten, and nothing forbidden?

Each question is asked at its time, in its place, by its asker; the memory holds only what is older. ``--data`` is a
file with "places", "bot", "messages", "facts" and "questions" (groupchat-zh).
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.support.clock import FrozenClock

from .chat_set import Chat, Line, lived, read
from .faults import world
from .labelled import MESSAGES, SETTINGS, START, TOP, Answer, Peer, bigrams, chinese_peer, mean
from .measure import Cell, Report

EVENTS = ("event", "preference", "knowledge", "experience")
REACH = 60.0
OURS = ("messages", "facts", "facts + messages")


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
        "bigrams": _found(chat, bigrams),
        "bigrams +-1": _found(chat, bigrams, near=1),
        "bm25s + jieba": _found(chat, chinese_peer()),
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


def _found(chat: Chat, peer: Peer | None, near: int = 0) -> list[Answer] | None:
    """Return what a peer finds for each question among the readable lines, each with so many before and after it."""
    if peer is None:
        return None
    readable = ((question, chat.readable(question)) for question in chat.questions)
    best = ((lines, peer(_windows(lines, near))(question.text, TOP)) for question, lines in readable)
    return [Answer(frozenset(lines[at].message.id for at in found)) for lines, found in best]


def _windows(lines: Sequence[Line], near: int) -> list[str]:
    texts = [f"{line.name} {line.message.text}" for line in lines]
    places = defaultdict[str, list[int]](list)
    for at, line in enumerate(lines):
        places[line.place].append(at)
    beside = {
        at: there[max(rank - near, 0) : rank + near + 1] for there in places.values() for rank, at in enumerate(there)
    }
    return ["\n".join(texts[one] for one in beside[at]) for at in range(len(lines))]


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
