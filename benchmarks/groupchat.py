"""Retrieval from a labelled group chat: is the evidence of a question among the first ten, and nothing forbidden?

Each question is asked at its time, in its place, by its asker; the memory holds only what is older. ``--data`` is a
file with "places", "bot", "messages", "facts" and "questions" (groupchat-zh).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from .labelled import (
    DEFAULTS,
    TOP,
    WAIT,
    Answer,
    SetClock,
    Tuning,
    bm25,
    characters,
    chinese_peer,
    mean,
    opened,
    written,
)
from .measure import Cell, Report

MESSAGES = ("message",)
EVENTS = ("event", "preference", "knowledge", "experience")
REACH = 58.0
KIND_OF = {"norm": "knowledge"}  # facts of a kind that events do not have
_FORGET_ME = "^@.*关于我的.*都忘掉"  # the one message of the set that a bot answers by forgetting a person
Ranked = Callable[["Question", Sequence["Line"]], Sequence[int]]


@dataclass(frozen=True)
class Line:
    """A message as the memory receives it, and its place."""

    message: core.Message
    place: str
    name: str

    @property
    def speaker(self) -> str:
        """Return who said it; "" for the bot."""
        return "" if self.message.is_bot else self.message.scene.user_id


@dataclass(frozen=True)
class Question:
    """A question with its place and time, the evidence that should be found, and what must not be shown."""

    text: str
    scene: core.Scene
    place: str
    at: datetime
    type: str
    evidence: frozenset[str]
    forbidden: frozenset[str]
    stale: frozenset[str]


@dataclass(frozen=True)
class Wish:
    """A person's request to forget everything about them."""

    scene: core.Scene
    at: datetime


@dataclass(frozen=True)
class Chat:
    """The whole set; ``facts`` are lines of an export file, each with the instant from which it is known."""

    lines: tuple[Line, ...]
    facts: tuple[tuple[datetime, Mapping[str, object]], ...]
    questions: tuple[Question, ...]
    wishes: tuple[Wish, ...]

    @property
    def moments(self) -> list[Question | Wish]:
        """Return all questions and requests, ordered by time."""
        return sorted((*self.questions, *self.wishes), key=lambda moment: moment.at)

    @property
    def known(self) -> list[Question]:
        """Return the questions that have an answer."""
        return [question for question in self.questions if question.evidence]

    @property
    def forgotten(self) -> frozenset[str]:
        """Return the ids of people who ask to be forgotten at some time."""
        return frozenset(wish.scene.user_id for wish in self.wishes)

    def readable(self, question: Question) -> list[Line]:
        """Return the lines that the asker may read: of the place, and in private also the asker's own in groups."""
        asker = question.scene.user_id if question.scene.kind == "private" else None
        older = (line for line in self.lines if line.message.sent_at < question.at)
        return [
            line
            for line in older
            if line.place == question.place or (line.message.scene.kind == "group" and line.speaker == asker)
        ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: file of the chat, printing of misses."""
    parser.add_argument("--data", type=Path, required=True, help="a labelled group chat (JSON)")
    parser.add_argument("--misses", action="store_true", help="print the questions whose evidence was not all found")


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
    if options.misses:
        _print_misses(chat, answers["messages"] or [])
    report.notes += [
        f"reach: recall@{TOP} of messages >= {REACH:.0f}, 0 forbidden; recall: mean share of a question's evidence",
        "facts: the gold facts as events, each from the instant of its last evidence on, counting for its evidence",
        "facts + messages: one list of both, as the memory orders them",
        "bigrams: BM25 over characters and their pairs; +-1: over each line with the one before and after it",
        "log_days is raised to the length of the set; who asks to be forgotten is forgotten at that instant",
    ]
    return report


def read(path: Path) -> Chat:
    """Read the set."""
    world = json.loads(path.read_text("utf-8"))
    places = {place["id"]: place for place in world["places"]}
    lines = tuple(_lines(world, places))
    names = {line.message.id: line.name for line in lines}
    times = {line.message.id: line.message.sent_at for line in lines}
    facts = sorted((_fact(fact, places, times, names) for fact in world["facts"]), key=lambda fact: fact[0])
    questions = sorted((_question(entry, places) for entry in world["questions"]), key=lambda question: question.at)
    told = (line.message for line in lines if re.search(_FORGET_ME, line.message.text))
    wishes = tuple(Wish(message.scene, message.sent_at) for message in told)
    return Chat(lines, tuple(facts), tuple(questions), wishes)


async def answered(
    chat: Chat, tuning: Tuning = DEFAULTS, *, kinds: Sequence[str] = MESSAGES, with_facts: bool = False
) -> list[Answer]:
    """Let the memory observe the chat, and ask it each question at its time."""
    clock = SetClock()
    lines, facts = iter(chat.lines), iter(chat.facts if with_facts else ())
    answers: list[Answer] = []
    async with opened(clock, tuning) as memory:
        for moment in chat.moments:
            lines = await told(memory, lines, moment.at)
            facts = await learned(memory, facts, moment.at, chat.forgotten)
            clock.at = moment.at
            if isinstance(moment, Question):
                hits = await memory.search_events(moment.scene, moment.text, kinds=kinds, top_k=TOP)
                answers.append(Answer.of(hits))
            else:
                await memory.forget_user(moment.scene, moment.scene.user_id)
    return answers


async def figures(path: Path, tuning: Tuning = DEFAULTS) -> dict[str, float]:
    """Return the figures used for tuning."""
    chat = read(path)
    by_messages = await answered(chat, tuning)
    by_both = await answered(chat, tuning, kinds=(*EVENTS, *MESSAGES), with_facts=True)
    return {
        "groupchat messages": _recall(chat, by_messages),
        "groupchat + facts": _recall(chat, by_both),
        "groupchat forbidden": float(_forbidden(chat, by_messages) + _forbidden(chat, by_both)),
    }


async def told(memory: core.CognitiveMemory, lines: Iterator[Line], until: datetime) -> Iterator[Line]:
    """Observe the lines before an instant; return the rest."""
    for line in lines:
        if line.message.sent_at >= until:
            return chain((line,), lines)
        await memory.observe(line.message)
    return iter(())


async def learned(
    memory: core.CognitiveMemory,
    facts: Iterator[tuple[datetime, Mapping[str, object]]],
    until: datetime,
    forgotten: frozenset[str],
) -> Iterator[tuple[datetime, Mapping[str, object]]]:
    """Import the facts known before an instant and wait until they are indexed; return the rest."""
    known: list[Mapping[str, object]] = []
    rest: Iterator[tuple[datetime, Mapping[str, object]]] = iter(())
    for since, fact in facts:
        if since >= until:
            rest = chain(((since, fact),), facts)
            break
        known.append(fact)
    if known:
        absorbed = await _imported(memory, known)
        if absorbed < sum(fact["sender_id"] not in forgotten for fact in known) or not await memory.drain(WAIT):
            raise SystemExit(f"{len(known)} facts, {absorbed} imported: {await memory.status()}")
    return rest


async def _imported(memory: core.CognitiveMemory, known: Sequence[Mapping[str, object]]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        return await memory.import_(written(known, Path(folder, "facts.jsonl")))


# The set.


def _lines(world: Mapping[str, Any], places: Mapping[str, Any]) -> Iterator[Line]:
    """Yield the messages; a message of the bot belongs to the scene of the answered or the last speaker."""
    speakers: dict[str, tuple[str, str]] = {}
    last: dict[str, tuple[str, str]] = {}
    for entry in world["messages"]:
        place, person = places[entry["place"]], (entry["user_id"], entry["name"])
        is_bot = entry["user_id"] == world["bot"]["user_id"]
        if is_bot:
            private = (place.get("user_id", ""), "")
            person = speakers.get(entry["reply_to"] or "") or last.get(entry["place"]) or private
        else:
            speakers[entry["id"]] = last[entry["place"]] = person
        at = datetime.fromisoformat(entry["time"])
        scene = _scene(place, *person)
        said = core.Message(entry["id"], scene, entry["text"], at, reply_to=entry["reply_to"], is_bot=is_bot)
        yield Line(said, entry["place"], entry["name"])


def _scene(place: Mapping[str, Any], user_id: str, name: str) -> core.Scene:
    if place["kind"] == "private":
        return core.Scene.private(place["user_id"], user_name=name)
    return core.Scene.group(place["group_id"], user_id, user_name=name, group_name=place["name"])


def _fact(
    fact: Mapping[str, Any], places: Mapping[str, Any], times: Mapping[str, datetime], names: Mapping[str, str]
) -> tuple[datetime, Mapping[str, object]]:
    """Return a fact as a line of an export file, and when it became known."""
    place, last = places[fact["place"]], max(fact["evidence"], key=lambda one: times[one])
    line = {
        "type": "event",
        "id": fact["id"],
        "text": fact["statement"],
        "kind": KIND_OF.get(fact["kind"], fact["kind"]),
        "request_type": place["kind"],
        "group_id": place.get("group_id", ""),
        "user_id": place.get("user_id", fact["speaker"]),
        "sender_id": fact["speaker"],
        "sender_name": names[last],
        "subjects": [] if fact["subject"] in places else [fact["subject"]],
        "happened_at": times[last],
        "message_ids": fact["evidence"],
    }
    return times[last], line


def _question(entry: Mapping[str, Any], places: Mapping[str, Any]) -> Question:
    return Question(
        entry["question"],
        _scene(places[entry["place"]], entry["asker"], ""),
        entry["place"],
        datetime.fromisoformat(entry["time"]),
        entry["type"],
        frozenset(entry["evidence"]),
        frozenset(entry["forbidden"]),
        frozenset(entry.get("stale", ())),
    )


# The methods compared with the memory.


def _ranked(chat: Chat, ranked: Ranked) -> list[Answer]:
    answers: list[Answer] = []
    for question in chat.questions:
        lines = chat.readable(question)
        best = [lines[at].message.id for at in ranked(question, lines)[:TOP]]
        answers.append(Answer(tuple(frozenset((one,)) for one in best)))
    return answers


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
    peer = chinese_peer()
    if peer is None:
        return None
    return _ranked(chat, lambda question, lines: peer.best(question.text, [_said(line) for line in lines]))


@cache
def _terms(line: Line) -> Counter[str]:
    return Counter(characters(_said(line)))


def _said(line: Line) -> str:
    return f"{line.name} {line.message.text}"


# Figures.


def _add_figures(report: Report, chat: Chat, answers: Mapping[str, list[Answer] | None]) -> None:
    known = chat.known
    types = sorted({question.type for question in known})

    def add(figure: str, count: int, value: Callable[[list[Answer]], Cell]) -> None:
        report.add(figure, count, *("not installed" if one is None else value(one) for one in answers.values()))

    add(f"recall@{TOP}", len(known), lambda given: _recall(chat, given))
    add(f"hit@{TOP}", len(known), lambda given: _hit(chat, given))
    for kind in types:
        add(f"recall@{TOP} {kind}", _count(known, kind), lambda given, kind=kind: _recall(chat, given, kind))
    for kind in types:
        add(f"hit@{TOP} {kind}", _count(known, kind), lambda given, kind=kind: _hit(chat, given, kind))
    wrong = sum(bool(question.forbidden) for question in chat.questions)
    old = sum(bool(question.stale) for question in chat.questions)
    add("forbidden shown", wrong, lambda given: _forbidden(chat, given))
    add("questions that show what is stale", old, lambda given: _stale(chat, given))
    add("questions where it stands first", old, lambda given: _stale_first(chat, given))
    ours = [given for name, given in answers.items() if given is not None and name in ("messages", *_WITH_FACTS)]
    report.failed = any(_forbidden(chat, given) for given in ours) or _recall(chat, ours[0]) < REACH


_WITH_FACTS = ("facts", "facts + messages")


def _count(questions: Sequence[Question], kind: str) -> int:
    return sum(question.type == kind for question in questions)


def _pairs(chat: Chat, answers: Sequence[Answer], kind: str = "") -> Iterator[tuple[Question, Answer]]:
    for question, answer in zip(chat.questions, answers, strict=True):
        if not kind or question.type == kind:
            yield question, answer


def _recall(chat: Chat, answers: Sequence[Answer], kind: str = "") -> float:
    return mean([given.recall(asked.evidence) for asked, given in _pairs(chat, answers, kind) if asked.evidence])


def _hit(chat: Chat, answers: Sequence[Answer], kind: str = "") -> float:
    pairs = _pairs(chat, answers, kind)
    return mean([float(bool(asked.evidence & given.found)) for asked, given in pairs if asked.evidence])


def _forbidden(chat: Chat, answers: Sequence[Answer]) -> int:
    return sum(len(asked.forbidden & (given.found | given.beside)) for asked, given in _pairs(chat, answers))


def _stale(chat: Chat, answers: Sequence[Answer]) -> int:
    return sum(bool(asked.stale & given.found) for asked, given in _pairs(chat, answers))


def _stale_first(chat: Chat, answers: Sequence[Answer]) -> int:
    return sum(_first(given, asked.stale) < _first(given, asked.evidence) for asked, given in _pairs(chat, answers))


def _first(answer: Answer, wanted: frozenset[str]) -> int:
    return next((rank for rank, ids in enumerate(answer.shown) if ids & wanted), TOP)


def _print_misses(chat: Chat, answers: Sequence[Answer]) -> None:
    said = {line.message.id: _said(line) for line in chat.lines}
    for question, answer in _pairs(chat, answers):
        missed = sorted(question.evidence - answer.found)
        if missed:
            print(question.type, question.text, *(f"{one} {said[one]}" for one in missed), sep="\t")
