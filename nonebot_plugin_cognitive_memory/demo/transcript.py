"""Reads conversations to be played, from two formats; ids that are not numbers are mapped to numbers.

Format of the shipped sample: ``bot`` {user_id, name}, ``places`` [{id, kind "group" | "private", group_id or user_id,
name}], ``messages`` [{id, place, user_id, name, time, text, reply_to}], and optionally ``questions`` [{place, asker,
question}], ``searches`` [{place, asker, query}], ``secrets`` [{place, words}].

Format of a work group's log: ``session_meta`` {name, group_id}, ``conversation_list`` [{message_id, create_time,
sender, sender_name, content}].
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

QQ_NUMBER = re.compile(r"[1-9][0-9]{4,10}")


class NotATranscript(ValueError):
    """The file is in none of the known formats."""


@dataclass(frozen=True)
class Place:
    """A group, or the private chat with a person; ``number`` is the number of that group or person."""

    kind: Literal["group", "private"]
    number: int
    name: str


@dataclass(frozen=True)
class TranscriptLine:
    """One message as the bot will receive it."""

    number: int
    place: Place
    user: int
    name: str
    at: datetime
    text: str
    reply_to: int | None = None


@dataclass(frozen=True)
class TranscriptQuestion:
    """Something that a person asks in a place."""

    place: Place
    user: int
    text: str


@dataclass(frozen=True)
class Secret:
    """Words that were said in one place only."""

    place: Place
    words: tuple[str, ...]


@dataclass(frozen=True)
class Transcript:
    """A conversation in several places, ordered by time; ``by_bot`` has the bot's own lines, which are not played."""

    name: str
    bot: int
    bot_name: str
    places: tuple[Place, ...]
    lines: tuple[TranscriptLine, ...]
    by_bot: tuple[TranscriptLine, ...] = ()
    questions: tuple[TranscriptQuestion, ...] = ()
    searches: tuple[TranscriptQuestion, ...] = ()
    secrets: tuple[Secret, ...] = ()


@dataclass
class Numbers:
    """Maps ids to numbers: a QQ number is kept, any other id gets a stable generated number of ten digits."""

    ids: Iterable[str]
    _given: dict[str, int] = field(default_factory=dict[str, int], init=False)

    def __post_init__(self) -> None:
        """Assign the real QQ numbers first, so that no generated one collides with them."""
        wanted = sorted(set(self.ids), key=lambda identifier: (QQ_NUMBER.fullmatch(identifier) is None, identifier))
        taken: set[int] = set()
        for identifier in wanted:
            self._given[identifier] = _number(identifier, taken)
            taken.add(self._given[identifier])

    def __getitem__(self, identifier: str) -> int:
        """Return the number of an id."""
        return self._given[identifier]


def _number(identifier: str, taken: set[int]) -> int:
    if QQ_NUMBER.fullmatch(identifier):
        return int(identifier)
    attempt = 0
    while True:
        digest = hashlib.sha256(f"{identifier}\x1f{attempt}".encode()).digest()
        number = 1_000_000_000 + int.from_bytes(digest[:8], "big") % 9_000_000_000
        if number not in taken:
            return number
        attempt += 1


class _Bot(BaseModel):
    user_id: str = "bot"
    name: str = "机器人"


class _Place(BaseModel):
    id: str
    kind: Literal["group", "private"]
    group_id: str = ""
    user_id: str = ""
    name: str = ""

    @property
    def own_id(self) -> str:
        return self.group_id if self.kind == "group" else self.user_id


class _Message(BaseModel):
    id: str
    place: str
    user_id: str
    name: str
    time: datetime
    text: str
    reply_to: str | None = None


class _Question(BaseModel):
    place: str
    asker: str
    question: str


class _Search(BaseModel):
    place: str
    asker: str
    query: str


class _Secret(BaseModel):
    place: str
    words: tuple[str, ...]


class _Sheet(BaseModel):
    """A conversation in the format of the shipped sample."""

    name: str = "对话"
    bot: _Bot = _Bot()
    places: list[_Place]
    messages: list[_Message]
    questions: list[_Question] = []
    searches: list[_Search] = []
    secrets: list[_Secret] = []

    def transcript(self) -> Transcript:
        users = Numbers([self.bot.user_id, *self._people()])
        groups = Numbers(place.group_id for place in self.places if place.kind == "group")
        places = {place.id: _placed(place, users, groups) for place in self.places}
        lines = _numbered(self.messages, places, users)
        bot = users[self.bot.user_id]
        return Transcript(
            name=self.name,
            bot=bot,
            bot_name=self.bot.name,
            places=tuple(places.values()),
            lines=tuple(line for line in lines if line.user != bot),
            by_bot=tuple(line for line in lines if line.user == bot),
            questions=tuple(
                TranscriptQuestion(places[one.place], users[one.asker], one.question) for one in self.questions
            ),
            searches=tuple(TranscriptQuestion(places[one.place], users[one.asker], one.query) for one in self.searches),
            secrets=tuple(Secret(places[one.place], one.words) for one in self.secrets),
        )

    def _people(self) -> Iterable[str]:
        yield from (place.user_id for place in self.places if place.kind == "private")
        yield from (message.user_id for message in self.messages)
        yield from (question.asker for question in (*self.questions, *self.searches))


class _Session(BaseModel):
    name: str
    group_id: str


class _Utterance(BaseModel):
    message_id: str
    create_time: datetime
    sender: str
    sender_name: str
    content: str


class _Log(BaseModel):
    """A conversation in the format of a work group's log."""

    session_meta: _Session
    conversation_list: list[_Utterance]

    def transcript(self) -> Transcript:
        place = _Place(id="g", kind="group", group_id=self.session_meta.group_id, name=self.session_meta.name)
        messages = [
            _Message(
                id=one.message_id,
                place="g",
                user_id=one.sender,
                name=one.sender_name,
                time=one.create_time,
                text=one.content,
            )
            for one in self.conversation_list
        ]
        return _Sheet(name=self.session_meta.name, places=[place], messages=messages).transcript()


def read_transcript(path: Path) -> Transcript:
    """Read a conversation; raises NotATranscript, with one sentence as reason, if it cannot be played."""
    try:
        sheet = TypeAdapter[_Sheet | _Log](_Sheet | _Log).validate_json(path.read_bytes())
        transcript = sheet.transcript()
    except (OSError, ValidationError, KeyError) as refused:
        raise NotATranscript(
            f"{path} 不是能回放的对话（{_reason(refused)}），格式见 docs/cli.md「回放自己的对话」"
        ) from refused
    if not transcript.lines:
        raise NotATranscript(f"{path} 里没有一句人说的话")
    return transcript


def _placed(place: _Place, users: Numbers, groups: Numbers) -> Place:
    number = groups[place.group_id] if place.kind == "group" else users[place.user_id]
    return Place(place.kind, number, place.name or place.own_id)


def _numbered(messages: Iterable[_Message], places: Mapping[str, Place], users: Numbers) -> list[TranscriptLine]:
    ordered = sorted(messages, key=lambda message: _aware(message.time))
    numbers = {message.id: number for number, message in enumerate(ordered, 1)}
    return [
        TranscriptLine(
            number,
            places[message.place],
            users[message.user_id],
            message.name,
            _aware(message.time),
            message.text,
            numbers.get(message.reply_to or ""),
        )
        for number, message in enumerate(ordered, 1)
    ]


def _aware(instant: datetime) -> datetime:
    return instant if instant.tzinfo else instant.replace(tzinfo=timezone.utc)


def _reason(refused: Exception) -> str:
    if isinstance(refused, ValidationError):
        first = refused.errors()[0]
        return "缺少或写错了 " + ".".join(map(str, first["loc"]))
    return str(refused)
