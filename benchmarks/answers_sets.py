"""Chats of several formats as one kind of set: labelled group chats, plain ones, and conversations of two people."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from . import locomo
from .chat_set import Chat, Fact, Line, Question, read


def chat_of(path: Path) -> Chat:
    """Read a group chat with questions (groupchat-zh), one without (teamchat-zh), or conversations (LoCoMo)."""
    world = json.loads(path.read_text("utf-8"))
    if isinstance(world, list):
        return _conversations(path, world)
    if "conversation_list" in world:
        return Chat(tuple(_plain_lines(world)), (), (), ())
    return read(path)


def begun(chat: Chat, lines: int) -> Chat:
    """Return the first lines of a chat, with the questions that are asked meanwhile."""
    kept = sorted(chat.lines, key=lambda line: line.at)[:lines]
    if not kept:
        raise SystemExit("a chat without lines")
    until = kept[-1].at
    known = {line.message.id for line in kept}
    questions = tuple(one for one in chat.questions if one.at <= until and one.evidence <= known)
    opt_outs = tuple(opt_out for opt_out in chat.opt_outs if opt_out.at <= until)
    return Chat(tuple(kept), tuple(fact for fact in chat.facts if fact[0] <= until), questions, opt_outs)


def drawn(chat: Chat, count: int, seed: int) -> Chat:
    """Return a chat with so many of its questions, drawn at random."""
    some = random.Random(seed).sample(chat.questions, min(count, len(chat.questions)))
    return replace(chat, questions=tuple(sorted(some, key=lambda question: question.at)))


def _plain_lines(world: Mapping[str, Any]) -> Iterator[Line]:
    group = world.get("session_meta", {})
    for entry in world["conversation_list"]:
        name = entry["sender_name"]
        scene = core.Scene.group("1", entry["sender"], user_name=name, group_name=group.get("name", ""))
        at = datetime.fromisoformat(entry["create_time"])
        answered = next(iter(entry.get("refer_list") or ()), None)
        said = core.Message(entry["message_id"], scene, entry["content"], at, reply_to=_id_in(answered))
        yield Line(said, "1", name)


def _id_in(answered: object) -> str | None:
    return answered.get("message_id") if isinstance(answered, dict) else answered if isinstance(answered, str) else None


def _conversations(path: Path, world: list[Mapping[str, Any]]) -> Chat:
    """Return all conversations as groups; a stranger asks in each a day after its last line."""
    lines: list[Line] = []
    facts: list[Fact] = []
    questions: list[Question] = []
    for told, entry in zip(locomo.read(path), world, strict=True):
        turns = {turn.id: replace(turn, id=f"{told.id}-{turn.id}") for turn in told.turns}
        lines += (Line(turn, told.id, turn.scene.user_name) for turn in turns.values())
        facts += _observations(told.id, turns, entry.get("observation", {}))
        at = told.turns[-1].sent_at + timedelta(days=1)
        answers = {one["question"]: str(one.get("answer", "")) for one in entry["qa"]}
        for asked in told.questions:
            evidence = frozenset(f"{told.id}-{turn}" for turn in asked.evidence)
            kind, answer = locomo.NAMES[asked.category], answers.get(asked.text, "")
            questions.append(Question(asked.text, told.scene, told.id, at, kind, evidence, answer=answer))
    lines.sort(key=lambda line: line.at)
    return Chat(tuple(lines), tuple(facts), tuple(sorted(questions, key=lambda question: question.at)), ())


def _observations(place: str, turns: Mapping[str, core.Message], noted: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the observations that come with a conversation as facts of its speakers."""
    rows = ((name, *row) for session in noted.values() for name, written in session.items() for row in written)
    for number, (name, text, cited) in enumerate(rows):
        ids = cited if isinstance(cited, list) else str(cited).split(", ")
        said = [turns[one] for one in ids if one in turns]
        if said:
            last = max(said, key=lambda turn: turn.sent_at)
            yield (
                last.sent_at,
                {
                    "type": "event",
                    "id": f"{place}-o{number}",
                    "text": text.replace(name, f"{name}({name.lower()})", 1),
                    "kind": "event",
                    "request_type": "group",
                    "group_id": place,
                    "user_id": name.lower(),
                    "sender_id": name.lower(),
                    "sender_name": name,
                    "subjects": [name.lower()],
                    "happened_at": last.sent_at,
                    "message_ids": [turn.id for turn in sorted(said, key=lambda turn: turn.sent_at)],
                },
            )
