"""Reads conversations to be played, and checks that no place is shown what was said in another.

Ids of people and groups are QQ numbers. The format: ``bot`` {user_id, name}, ``places`` [{id, kind "group" | "private",
group_id or user_id, name}], ``messages`` [{id, place, user_id, name, time, text, reply_to}], and optionally
``questions`` [{place, asker, question}].
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from typing_extensions import Self

import cognitive_memory_core as core

Number = Annotated[int, Field(ge=10_000, lt=100_000_000_000)]
Instant = Annotated[datetime, AfterValidator(lambda at: at if at.tzinfo else at.replace(tzinfo=timezone.utc))]


class NotATranscript(ValueError):
    """The file is not in the format."""


class Place(BaseModel):
    """A group, or the private chat with a person."""

    model_config = ConfigDict(frozen=True)
    id: str
    kind: Literal["group", "private"]
    group_id: Number | None = None
    user_id: Number | None = None
    name: str = ""

    @property
    def number(self) -> int:
        """The number of the group or the person."""
        return (self.group_id if self.kind == "group" else self.user_id) or 0

    def scene(self, user_id: int) -> core.Scene:
        """Return the scene of a person here."""
        if self.kind == "group":
            return core.Scene.group(str(self.number), str(user_id), group_name=self.name)
        return core.Scene.private(str(user_id))

    def may_show(self, line: TranscriptLine) -> bool:
        """Return whether a line may be shown here."""
        return line.place == self.id or (self.kind == "private" and line.user_id == self.number)

    def may_show_event(self, event: core.Event) -> bool:
        """Return whether an event may be shown here."""
        number = str(self.number)
        if self.kind == "group":
            return event.group_id == number
        return event.sender_id == number or (not event.group_id and event.user_id == number)


class TranscriptLine(BaseModel):
    """One message as the bot will receive it."""

    id: str
    place: str
    user_id: Number
    name: str
    time: Instant
    text: str
    reply_to: str | None = None


class TranscriptQuestion(BaseModel):
    """Something that a person asks in a place."""

    place: str
    asker: Number
    question: str


class TranscriptBot(BaseModel):
    """The account that listens; what it says in the file is not played."""

    user_id: Number = 3_850_617_294
    name: str = "机器人"


class Transcript(BaseModel):
    """A conversation in several places; its messages are ordered by time."""

    name: str = "对话"
    bot: TranscriptBot = TranscriptBot()
    places: list[Place]
    messages: list[TranscriptLine]
    questions: list[TranscriptQuestion] = []

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        known = {place.id for place in self.places if place.number}
        if not {one.place for one in (*self.messages, *self.questions)} <= known:
            raise ValueError("unlisted place")
        self.messages.sort(key=lambda line: line.time)
        return self

    @property
    def lines(self) -> list[TranscriptLine]:
        """The lines that are played: those of people."""
        return [line for line in self.messages if line.user_id != self.bot.user_id]

    @property
    def asked(self) -> list[TranscriptLine]:
        """What is asked after the last line: the questions; without any, what people asked each other."""
        answered = [line for line in self.lines if line.text.endswith(("？", "?"))]
        wanted = self.questions or [
            TranscriptQuestion(place=line.place, asker=line.user_id, question=line.text) for line in answered
        ]
        return [
            TranscriptLine(
                id=f"question {number}",
                place=one.place,
                user_id=one.asker,
                name=self.name_of(one.asker),
                time=self.lines[-1].time + timedelta(hours=1, minutes=number),
                text=one.question,
            )
            for number, one in enumerate(spread(wanted, QUESTIONS))
        ]

    def name_of(self, user_id: int) -> str:
        """Return the name by which a person spoke last, else the number."""
        return {line.user_id: line.name for line in self.lines}.get(user_id, str(user_id))

    def place_of(self, said: TranscriptLine) -> Place:
        """Return where something was said."""
        return next(place for place in self.places if place.id == said.place)


def read_transcript(path: Path) -> Transcript:
    """Read a conversation; raises NotATranscript, with one sentence as reason, if it cannot be played."""
    try:
        transcript = Transcript.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as refused:
        reason = str(refused)
        if isinstance(refused, ValidationError):
            reason = "缺少或写错了 " + (".".join(map(str, refused.errors()[0]["loc"])) or "places")
        raise NotATranscript(f"{path} 不是能回放的对话（{reason}），格式见 docs/cli.md「回放自己的对话」") from refused
    if not transcript.lines:
        raise NotATranscript(f"{path} 里没有一句人说的话")
    return transcript


T = TypeVar("T")
QUESTIONS = 3
PROBES = 20  # events and lines of other places asked for in each place
TELLING = 8  # characters; a shorter line may stand in anybody's context


async def checked(memory: core.CognitiveMemory, transcript: Transcript, place: Place) -> tuple[int, int, list[str]]:
    """Search in a place of a transcript, which was played into the memory, for what was said elsewhere.

    Every other group is also asked for by its number, as a model might. Return how many searches there were, how many
    of these were refused, and what was shown although it belongs elsewhere.
    """
    events: list[core.Event] = []
    while found := await memory.events(core.Scene.operator(), limit=200, offset=len(events)):
        events += found
    lines, asked, refused, leaks = transcript.lines, 0, 0, list[str]()
    scene = place.scene(next((line.user_id for line in lines if line.place == place.id), place.number))
    own = "\n".join(line.text for line in lines if place.may_show(line))
    foreign = [line.text for line in lines if not place.may_show(line)]
    elsewhere = [event.text for event in events if not place.may_show_event(event)]
    for text in (*spread(elsewhere, PROBES), *spread(foreign, PROBES)):
        hits = await memory.search_events(scene, text, kinds=("message",), top_k=20)
        hits += await memory.search_events(scene, text, top_k=20)
        context = (await memory.context(scene, text)).text
        asked += 3
        leaks += [hit.event.text for hit in hits if not place.may_show_event(hit.event)]
        leaks += [one for one in foreign if len(one) >= TELLING and one not in own and one in context]
    for other in transcript.places:
        if other.kind == place.kind == "group" and other != place:
            try:
                await memory.search_events(scene, "最近", group_id=str(other.number))
                leaks.append(f"没有拒绝对 {other.number} 的点名搜索")
            except core.NotPermitted:
                refused += 1
    return asked, refused, leaks


def spread(items: Sequence[T], wanted: int) -> Sequence[T]:
    """Return items evenly spread over the whole sequence."""
    return items[:: max(len(items) // wanted, 1)][:wanted]
