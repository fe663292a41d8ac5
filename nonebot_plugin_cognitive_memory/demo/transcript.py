"""Reads conversations to be played, and checks that no place is shown what was said in another.

Ids of a conversation that are not numbers are mapped to numbers. Its format: ``bot`` {user_id, name}, ``places`` [{id,
kind "group" | "private", group_id or user_id, name}], ``messages`` [{id, place, user_id, name, time, text, reply_to}],
and optionally ``questions`` [{place, asker, question}] and ``searches`` [{place, asker, query}].
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, AliasChoices, BaseModel, Field, ValidationError

import cognitive_memory_core as core

QQ_NUMBER = re.compile(r"[1-9][0-9]{4,10}")


class NotATranscript(ValueError):
    """The file is not in the format."""


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
    id: str
    place: str
    user_id: str
    name: str
    time: Instant
    text: str
    reply_to: str | None = None


class _Question(BaseModel):
    place: str
    asker: str
    text: str = Field(validation_alias=AliasChoices("question", "query"))


class _Sheet(BaseModel):
    """A conversation in the format of the file."""

    name: str = "对话"
    bot: dict[Literal["user_id", "name"], str] = {}
    places: list[_Place]
    messages: list[_Message]
    questions: list[_Question] = []
    searches: list[_Question] = []


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


T = TypeVar("T")
PROBES = 20  # events and lines of other places asked for in each place
TELLING = 8  # characters; a shorter line may stand in anybody's context


@dataclass
class PlaceResult:
    """The result for one place: how many searches, hits and refusals, and the shown texts that belong elsewhere."""

    place: Place
    asked: int = 0
    shown: int = 0
    refused: int = 0
    leaks: list[str] = field(default_factory=list[str])


async def checked(memory: core.CognitiveMemory, transcript: Transcript) -> list[PlaceResult]:
    """Query a memory, into which the transcript was played, in every place."""
    events: list[core.Event] = []
    while found := await memory.events(core.Scene.operator(), limit=200, offset=len(events)):
        events += found
    return [await _checked_in(place, memory, transcript, events) for place in transcript.places]


async def _checked_in(
    place: Place, memory: core.CognitiveMemory, transcript: Transcript, events: Sequence[core.Event]
) -> PlaceResult:
    """Search in a place for events and lines of others, and in every other group by its number, as a model might."""
    result, said_in = PlaceResult(place), {str(line.number): line for line in transcript.lines}
    scene = scene_in(place, next((line.user for line in transcript.lines if line.place == place), place.number))
    own = "\n".join(line.text for line in transcript.lines if may_see(place, line))
    foreign = [line.text for line in transcript.lines if not may_see(place, line)]
    telling = [text for text in foreign if len(text) >= TELLING and text not in own]
    elsewhere = [event.text for event in events if not _may_see_event(place, event)]
    for text in (*spread(elsewhere, PROBES), *spread(foreign, PROBES)):
        hits = await memory.search_events(scene, text, kinds=("message",), top_k=20)
        hits += await memory.search_events(scene, text, top_k=20)
        context = (await memory.context(scene, text)).text
        result.asked += 3
        result.shown += len(hits)
        result.leaks += [line for line in telling if line in context]
        for event in (hit.event for hit in hits):
            said = [said_in[number] for number in event.message_ids if number in said_in]
            if not (_may_see_event(place, event) and all(may_see(place, line) for line in said)):
                result.leaks.append(event.text)
    for other in transcript.places:
        if other.kind == place.kind == "group" and other != place:
            try:
                await memory.search_events(scene, "最近", group_id=str(other.number))
                result.leaks.append(f"没有拒绝对 {other.number} 的点名搜索")
            except core.NotPermitted:
                result.refused += 1
    return result


def scene_in(place: Place, user: int) -> core.Scene:
    """Return the scene of a person in a place."""
    if place.kind == "group":
        return core.Scene.group(str(place.number), str(user), group_name=place.name)
    return core.Scene.private(str(user))


def may_see(place: Place, line: TranscriptLine) -> bool:
    """Return whether a line may be shown in a place."""
    return line.place == place or (place.kind == "private" and line.user == place.number)


def _may_see_event(place: Place, event: core.Event) -> bool:
    number = str(place.number)
    if place.kind == "group":
        return event.group_id == number
    return event.sender_id == number or (not event.group_id and event.user_id == number)


def spread(items: Sequence[T], wanted: int) -> Sequence[T]:
    """Return items evenly spread over the whole sequence."""
    step = max(len(items) // wanted, 1)
    return items[::step][:wanted]
