"""A labelled group chat as its file tells it, and a memory that lives through it.

The file has "places", "bot", "messages", "facts" and "questions" (groupchat-zh).
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.domain.people import Person
from tests.support.clock import FrozenClock
from tests.support.export_files import written

from .labelled import WAIT

EVERY, IDLE = 20, timedelta(minutes=10)  # a window closes at so many lines of people, or after such a silence
KIND_OF = {"norm": "knowledge"}  # facts of a kind that events do not have
_FORGET_ME = "^@.*关于我的.*都忘掉"  # the one message of the set that a bot answers by forgetting a person


@dataclass(frozen=True)
class Line:
    """A message as the memory receives it, and its place."""

    message: core.Message
    place: str
    name: str

    @property
    def at(self) -> datetime:
        """Return when it was said."""
        return self.message.sent_at

    @property
    def speaker(self) -> str:
        """Return who said it; "" for the bot."""
        return "" if self.message.is_bot else self.message.scene.user_id

    @property
    def is_opt_out(self) -> bool:
        """Return whether its speaker asks to be forgotten."""
        return re.search(_FORGET_ME, self.message.text) is not None


@dataclass(frozen=True)
class Question:
    """A question with its place and time, the evidence that should be found, and what must not be shown."""

    text: str
    scene: core.Scene
    place: str
    at: datetime
    type: str
    evidence: frozenset[str]
    forbidden: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Fact:
    """A line of an export file, and the instant from which it is known."""

    at: datetime
    row: Mapping[str, object]


@dataclass(frozen=True)
class Window:
    """Lines of one place that are handed to the historian together, and when."""

    lines: tuple[core.Message, ...]
    at: datetime


ORDER = (Question, Line, Window, Fact)  # at one instant, what was asked stands before what is said


@dataclass(frozen=True)
class Chat:
    """The whole set."""

    lines: tuple[Line, ...]
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]
    people: tuple[Person, ...] = ()  # the bot last

    @property
    def known(self) -> list[Question]:
        """Return the questions that have an answer."""
        return [question for question in self.questions if question.evidence]

    def windows(self) -> Iterator[Window]:
        """Yield the lines of each place in the windows in which a bot hands them to its historian."""
        places: dict[object, list[core.Message]] = defaultdict(list)
        for line in self.lines:
            places[line.message.scene.scope].append(line.message)
        for said in places.values():
            yield from (Window(tuple(lines), closes_at(lines)) for lines in windows_of(said))

    def readable(self, question: Question) -> list[Line]:
        """Return the lines that the asker may read: of the place, and in private also the asker's own in groups."""
        asker = question.scene.user_id if question.scene.kind == "private" else None
        older = (line for line in self.lines if line.message.sent_at < question.at)
        return [
            line
            for line in older
            if line.place == question.place or (line.message.scene.kind == "group" and line.speaker == asker)
        ]


def read(path: Path) -> Chat:
    """Read the set."""
    world = json.loads(path.read_text("utf-8"))
    places = {place["id"]: place for place in world["places"]}
    lines = tuple(_lines(world, places))
    names = {line.message.id: line.name for line in lines}
    times = {line.message.id: line.message.sent_at for line in lines}
    older = {fact["superseded_by"]: fact["id"] for fact in world["facts"] if fact.get("superseded_by")}
    facts = sorted((_fact(fact, places, times, names, older) for fact in world["facts"]), key=lambda fact: fact.at)
    questions = sorted((_question(entry, places) for entry in world["questions"]), key=lambda question: question.at)
    named = [(member["user_id"], *member["names"]) for member in world.get("members", ())]
    named.append((world["bot"]["user_id"], world["bot"]["name"]))
    people = tuple(Person(user_id, name, tuple(aliases)) for user_id, name, *aliases in named)
    return Chat(lines, tuple(facts), tuple(questions), people)


def windows_of(lines: Sequence[core.Message]) -> Iterator[list[core.Message]]:
    """Cut the lines of one place into windows, as a bot does that considers all that is said."""
    window: list[core.Message] = []
    for line in lines:
        said = [one for one in window if not one.is_bot]
        if said and (len(said) == EVERY or line.sent_at - said[-1].sent_at > IDLE):
            yield window
            window = []
        if window or not line.is_bot:
            window.append(line)
    if window:
        yield window


def closes_at(window: Sequence[core.Message]) -> datetime:
    """Return when a window is handed over: at its last line if it is full, else when nobody has spoken for a while."""
    said = [line.sent_at for line in window if not line.is_bot]
    return window[-1].sent_at if len(said) >= EVERY else max(said[-1] + IDLE, window[-1].sent_at)


async def lived(
    memory: core.CognitiveMemory,
    clock: FrozenClock,
    chat: Chat,
    *,
    with_facts: bool = False,
    on_window: Callable[[Window], Awaitable[None]] | None = None,
) -> AsyncIterator[Question]:
    """Let a memory live through the chat, and yield each question when its time has come.

    The memory observes all lines and forgets whoever asks for it. ``with_facts`` imports each gold fact when it becomes
    known; ``on_window`` is called with each window of lines when it closes.
    """
    known, forgotten = list[Mapping[str, object]](), {line.speaker for line in chat.lines if line.is_opt_out}

    async def learn() -> None:
        if not known:
            return
        with tempfile.TemporaryDirectory() as folder:
            absorbed = await memory.import_(written(known, Path(folder, "facts.jsonl")))
        if absorbed < sum(fact["sender_id"] not in forgotten for fact in known) or not await memory.drain(WAIT):
            raise SystemExit(f"{len(known)} facts, {absorbed} imported: {await memory.status()}")
        known.clear()

    moments = [*chat.questions, *chat.lines]
    moments += [*(chat.windows() if on_window else ()), *(chat.facts if with_facts else ())]
    for moment in sorted(moments, key=lambda one: (one.at, ORDER.index(type(one)))):
        clock.instant = max(clock.instant, moment.at)
        if isinstance(moment, Question):
            await learn()
            yield moment
        elif isinstance(moment, Fact):
            known.append(moment.row)
        elif isinstance(moment, Window):
            assert on_window
            await on_window(moment)
        else:
            if moment.is_opt_out:
                await learn()
                await memory.forget_user(moment.message.scene, moment.speaker)
            await memory.observe(moment.message)


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
    fact: Mapping[str, Any],
    places: Mapping[str, Any],
    times: Mapping[str, datetime],
    names: Mapping[str, str],
    older: Mapping[str, str],
) -> Fact:
    """Return a fact as a line of an export file, and when it became known; ``older`` is what each fact replaces."""
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
        "replaces": older.get(fact["id"], ""),
    }
    return Fact(times[last], line)


def _question(entry: Mapping[str, Any], places: Mapping[str, Any]) -> Question:
    return Question(
        entry["question"],
        _scene(places[entry["place"]], entry["asker"], ""),
        entry["place"],
        datetime.fromisoformat(entry["time"]),
        entry["type"],
        frozenset(entry["evidence"]),
        frozenset(entry["forbidden"]),
    )
