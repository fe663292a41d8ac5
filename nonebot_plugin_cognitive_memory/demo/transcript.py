"""Reads conversations to be played, from two formats; ids that are not numbers are mapped to numbers.

Format of the shipped sample: ``bot`` {user_id, name}, ``places`` [{id, kind "group" | "private", group_id or user_id,
name}], ``messages`` [{id, place, user_id, name, time, text, reply_to}], and optionally ``questions`` [{place, asker,
question}] and ``searches`` [{place, asker, query}].

Format of a work group's log: ``session_meta`` {name, group_id}, ``conversation_list`` [{message_id, create_time,
sender, sender_name, content}].
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, Field, ValidationError, model_validator

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


def numbers_of(ids: Iterable[str]) -> dict[str, int]:
    """Map ids to numbers: a QQ number is kept, any other id gets a stable generated number of ten digits.

    The real numbers come first, so that no generated one collides with them.
    """
    given: dict[str, int] = {}
    for identifier in sorted(set(ids), key=lambda one: (QQ_NUMBER.fullmatch(one) is None, one)):
        number, attempt = int(identifier) if QQ_NUMBER.fullmatch(identifier) else 0, 0
        while not number or number in given.values():
            digest = hashlib.sha256(f"{identifier}\x1f{attempt}".encode()).digest()
            number, attempt = 1_000_000_000 + int.from_bytes(digest[:8], "big") % 9_000_000_000, attempt + 1
        given[identifier] = number
    return given


def read_transcript(path: Path) -> Transcript:
    """Read a conversation; raises NotATranscript, with one sentence as reason, if it cannot be played."""
    try:
        transcript = _transcript(_Sheet.model_validate_json(path.read_bytes()))
    except (OSError, ValidationError, KeyError) as refused:
        reason = str(refused)
        if isinstance(refused, ValidationError):
            reason = "缺少或写错了 " + ".".join(map(str, refused.errors()[0]["loc"]))
        raise NotATranscript(f"{path} 不是能回放的对话（{reason}），格式见 docs/cli.md「回放自己的对话」") from refused
    if not transcript.lines:
        raise NotATranscript(f"{path} 里没有一句人说的话")
    return transcript


Instant = Annotated[datetime, AfterValidator(lambda at: at if at.tzinfo else at.replace(tzinfo=timezone.utc))]


class _Place(BaseModel):
    id: str
    kind: Literal["group", "private"]
    group_id: str = ""
    user_id: str = ""
    name: str = ""


class _Message(BaseModel):
    """A message, under the names of either format."""

    id: str = Field(validation_alias=AliasChoices("id", "message_id"))
    place: str
    user_id: str = Field(validation_alias=AliasChoices("user_id", "sender"))
    name: str = Field(validation_alias=AliasChoices("name", "sender_name"))
    time: Instant = Field(validation_alias=AliasChoices("time", "create_time"))
    text: str = Field(validation_alias=AliasChoices("text", "content"))
    reply_to: str | None = None


class _Question(BaseModel):
    place: str
    asker: str
    text: str = Field(validation_alias=AliasChoices("question", "query"))


class _Sheet(BaseModel):
    """A conversation in the format of the shipped sample; the log of a work group is read as one with one place."""

    name: str = "对话"
    bot: dict[Literal["user_id", "name"], str] = {}
    places: list[_Place]
    messages: list[_Message]
    questions: list[_Question] = []
    searches: list[_Question] = []

    @model_validator(mode="before")
    @classmethod
    def _of_log(cls, given: Any) -> Any:
        match given:
            case {"session_meta": {"name": name, "group_id": group_id}, "conversation_list": [*said]}:
                place = {"id": "g", "kind": "group", "group_id": group_id, "name": name}
                messages = [{**one, "place": "g"} if isinstance(one, dict) else one for one in said]
                return {"name": name, "places": [place], "messages": messages}
            case _:
                return given


def _transcript(sheet: _Sheet) -> Transcript:
    asked, bot_id = (*sheet.questions, *sheet.searches), sheet.bot.get("user_id", "bot")
    private = [place.user_id for place in sheet.places if place.kind == "private"]
    users = numbers_of([bot_id, *private, *(one.user_id for one in sheet.messages), *(one.asker for one in asked)])
    groups = numbers_of(place.group_id for place in sheet.places if place.kind == "group")
    places = {
        one.id: Place("group", groups[one.group_id], one.name or one.group_id)
        if one.kind == "group"
        else Place("private", users[one.user_id], one.name or one.user_id)
        for one in sheet.places
    }
    ordered = sorted(sheet.messages, key=lambda message: message.time)
    numbers = {message.id: number for number, message in enumerate(ordered, 1)}
    lines = [
        TranscriptLine(
            number,
            places[message.place],
            users[message.user_id],
            message.name,
            message.time,
            message.text,
            numbers.get(message.reply_to or ""),
        )
        for number, message in enumerate(ordered, 1)
    ]
    questions = [TranscriptQuestion(places[one.place], users[one.asker], one.text) for one in asked]
    return Transcript(
        name=sheet.name,
        bot=users[bot_id],
        bot_name=sheet.bot.get("name", "机器人"),
        places=tuple(places.values()),
        lines=tuple(line for line in lines if line.user != users[bot_id]),
        by_bot=tuple(line for line in lines if line.user == users[bot_id]),
        questions=tuple(questions[: len(sheet.questions)]),
        searches=tuple(questions[len(sheet.questions) :]),
    )
