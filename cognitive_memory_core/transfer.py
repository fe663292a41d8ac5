"""Export and import: JSON Lines, version 1, one object a line, streamed both ways."""

from __future__ import annotations

import asyncio
import codecs
import logging
import os
from array import array
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from . import sentences
from .domain.event import Event
from .domain.ids import checked_id
from .domain.interval import checked_instant
from .domain.message import Message
from .domain.note import Memo, Pin
from .domain.scope import Scene, Scope
from .errors import BadArgument, MistakeError, StorageRefused
from .ports.ledger import Alias, Archive, ArchiveRow, EmbeddedEvent, OptOut
from .text.names import clean_name

log = logging.getLogger(__name__)
BATCH = 500
LOCAL = "hashing-"  # how the fingerprint of the local embedder begins
LONGEST_LINE = 1_000_000  # bytes; a line over it is a bad line

ShortId = Annotated[str, AfterValidator(lambda value: checked_id(value, "id"))]
PersonId = Annotated[str, AfterValidator(lambda value: checked_id(value, "id") if value else "")]
Instant = Annotated[AwareDatetime, AfterValidator(lambda value: checked_instant(value, "time"))]
Content = Annotated[str, Field(min_length=1, max_length=8000)]
PlaceKind = Literal["group", "private"]


class _Line(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore", frozen=True)

    def written(self) -> str:
        """Give the line as it is exported."""
        return self.model_dump_json()


class _Head(_Line):
    format: Literal["cognitive-memory"]
    version: Literal[1]


class _Detail(_Line):
    pain: str = ""
    solution: str = ""
    outcome: str = ""


class EventLine(_Line):
    """An event; ``vector`` counts only beside ``embedding``, its fingerprint."""

    type: Literal["event"] = "event"
    id: ShortId
    agent: ShortId = "default"
    text: Content
    kind: Literal["event", "preference", "knowledge", "experience"] = "event"
    request_type: PlaceKind
    group_id: PersonId = ""
    user_id: PersonId = ""
    sender_id: PersonId = ""
    subjects: tuple[ShortId, ...] = ()
    perspective: str | None = None
    happened_at: Instant
    is_absolute: bool = True
    detail: _Detail | None = None
    vector: tuple[float, ...] | None = None
    embedding: str = ""
    message_ids: tuple[ShortId, ...] = ()
    count: Annotated[int, Field(ge=1)] = 1
    last_seen_at: Instant | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    sender_name: str = ""

    def row(self) -> EmbeddedEvent:
        """Give what the line says."""
        fields = self.model_dump(exclude={"type", "detail", "vector", "embedding"})
        detail = {} if self.detail is None else self.detail.model_dump()
        event = Event(**fields, **detail)
        _checked_place(event.scope)
        if self.vector is None or not self.embedding:
            return EmbeddedEvent(event)
        return EmbeddedEvent(event, self.embedding, array("f", self.vector))

    @classmethod
    def of(cls, row: EmbeddedEvent) -> EventLine:
        """Write an event, with its vector where it was paid for; the local embedder's cost nothing to make again."""
        event, is_paid = row.event, row.vector is not None and not row.fingerprint.startswith(LOCAL)
        detail = _Detail(pain=event.pain, solution=event.solution, outcome=event.outcome)
        said = {name: getattr(event, name) for name in cls.model_fields if hasattr(event, name)}
        return cls.model_construct(
            **said,
            detail=detail if event.kind == "experience" else None,
            vector=tuple(row.vector) if is_paid and row.vector else None,
            embedding=row.fingerprint if is_paid else "",
        )

    def written(self) -> str:
        """Give the line as it is exported; what is optional stands only where it says something."""
        optional = {"vector": self.vector, "embedding": self.embedding, "detail": self.detail}
        return self.model_dump_json(exclude={name for name, value in optional.items() if not value})


class MessageLine(_Line):
    """A logged message."""

    type: Literal["message"] = "message"
    id: ShortId
    agent: ShortId = "default"
    text: str
    request_type: PlaceKind
    group_id: PersonId = ""
    user_id: ShortId
    user_name: str = ""
    group_name: str = ""
    sent_at: Instant
    reply_to: str | None = None
    is_bot: bool = False
    addressed_to_bot: bool = False

    def row(self) -> Message:
        """Give what the line says."""
        place = "" if self.request_type == "private" else self.group_id
        scene = Scene(self.request_type, self.agent, place, self.user_id, self.user_name, self.group_name)
        flags = self.model_dump(include={"reply_to", "is_bot", "addressed_to_bot"})
        return Message(self.id, scene, self.text, self.sent_at, **flags)

    @classmethod
    def of(cls, message: Message) -> MessageLine:
        """Write a message."""
        scene = message.scene
        return cls(
            id=message.id,
            agent=scene.agent,
            text=message.text,
            request_type="group" if scene.kind == "group" else "private",
            group_id=scene.group_id,
            user_id=scene.user_id,
            user_name=scene.user_name,
            group_name=scene.group_name,
            sent_at=message.sent_at,
            reply_to=message.reply_to,
            is_bot=message.is_bot,
            addressed_to_bot=message.addressed_to_bot,
        )


class _PlacedLine(_Line):
    agent: ShortId = "default"
    place: PlaceKind
    place_id: ShortId

    @property
    def scope(self) -> Scope:
        """Where it belongs."""
        return _checked_place(Scope(self.agent, self.place, self.place_id))


class MemoLine(_PlacedLine):
    """A memo."""

    type: Literal["memo"] = "memo"
    id: ShortId
    text: Content
    written_at: Instant
    user_id: PersonId = ""

    def row(self) -> Memo:
        """Give what the line says."""
        return Memo(self.id, self.scope, self.text, self.written_at, self.user_id)

    @classmethod
    def of(cls, memo: Memo) -> MemoLine:
        """Write a memo."""
        scope = memo.scope
        return cls(
            agent=scope.agent,
            place=scope.kind,
            place_id=scope.place_id,
            id=memo.id,
            text=memo.text,
            written_at=memo.written_at,
            user_id=memo.user_id,
        )


class PinLine(_PlacedLine):
    """A pin; ``owner_id`` is "" for the whole group's."""

    type: Literal["pin"] = "pin"
    id: ShortId
    text: Content
    owner_id: PersonId = ""
    pinned_at: Instant

    def row(self) -> Pin:
        """Give what the line says."""
        return Pin(self.id, self.scope, self.text, self.owner_id, self.pinned_at)

    @classmethod
    def of(cls, pin: Pin) -> PinLine:
        """Write a pin."""
        scope = pin.scope
        return cls(
            agent=scope.agent,
            place=scope.kind,
            place_id=scope.place_id,
            id=pin.id,
            text=pin.text,
            owner_id=pin.owner_id,
            pinned_at=pin.pinned_at,
        )


class AliasLine(_PlacedLine):
    """A name that a person had in a place."""

    type: Literal["alias"] = "alias"
    user_id: ShortId
    name: Content
    first_seen_at: Instant
    last_seen_at: Instant

    def row(self) -> Alias:
        """Give what the line says."""
        return Alias(self.scope, self.user_id, clean_name(self.name), self.first_seen_at, self.last_seen_at)

    @classmethod
    def of(cls, alias: Alias) -> AliasLine:
        """Write a alias."""
        scope = alias.scope
        return cls(
            agent=scope.agent,
            place=scope.kind,
            place_id=scope.place_id,
            user_id=alias.user_id,
            name=alias.name,
            first_seen_at=alias.first_seen_at,
            last_seen_at=alias.last_seen_at,
        )


class ConsentLine(_Line):
    """A person's wish to be left out."""

    type: Literal["consent"] = "consent"
    user_id: ShortId
    at: Instant

    def row(self) -> OptOut:
        """Give what the line says."""
        return OptOut(self.user_id, self.at)


Line = Annotated[EventLine | MessageLine | MemoLine | PinLine | AliasLine | ConsentLine, Field(discriminator="type")]
_LINES: TypeAdapter[Line] = TypeAdapter(Line)


async def exported(archive: Archive, path: Path, *, user_id: str | None = None) -> int:
    """Write all rows, or one person's, to a file that is there whole or not at all; answers how many."""
    draft = path.with_name(f".{path.name}.part")
    count = 0
    try:
        with await asyncio.to_thread(_created, draft) as file:
            await asyncio.to_thread(
                file.write, _Head(format="cognitive-memory", version=1).model_dump_json().encode() + b"\n"
            )
            async for rows in _batches(archive.rows(user_id=user_id)):
                await asyncio.to_thread(_write, file, rows)
                count += len(rows)
            await asyncio.to_thread(_sync, file)
        await asyncio.to_thread(os.replace, draft, path)
    except OSError as refused:
        raise StorageRefused(sentences.storage_refused(path, refused.strerror)) from refused
    finally:
        with suppress(OSError):  # where it could not be made there is nothing to take away
            await asyncio.to_thread(draft.unlink, missing_ok=True)
    return count


async def imported(archive: Archive, path: Path) -> int:
    """Read an export; a bad line is logged with its number and left out. Answers how many rows were new."""
    count = 0
    try:
        with await asyncio.to_thread(path.open, "rb") as file:
            number = 1
            if not await asyncio.to_thread(_head_fits, file):
                raise BadArgument(sentences.bad_export(path))
            while lines := await asyncio.to_thread(_next_lines, file):
                rows = await asyncio.to_thread(_rows, lines, number)
                number += len(lines)
                count += await archive.absorb(rows) if rows else 0
    except OSError as unreadable:
        raise BadArgument(sentences.unreadable_file(path, unreadable.strerror)) from unreadable
    return count


async def _batches(rows: AsyncIterator[ArchiveRow]) -> AsyncIterator[list[ArchiveRow]]:
    batch: list[ArchiveRow] = []
    async for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _write(file: BinaryIO, rows: Sequence[ArchiveRow]) -> None:
    file.write(b"".join(_line_of(row).written().encode("utf-8", "replace") + b"\n" for row in rows))


def _created(path: Path) -> BinaryIO:
    """Open a new file that nobody else may read: it will hold what was said in private."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _line_of(row: ArchiveRow) -> Line:
    match row:
        case EmbeddedEvent():
            return EventLine.of(row)
        case Message():
            return MessageLine.of(row)
        case Memo():
            return MemoLine.of(row)
        case Pin():
            return PinLine.of(row)
        case Alias():
            return AliasLine.of(row)
        case OptOut():
            return ConsentLine(user_id=row.user_id, at=row.at)


def _head_fits(file: BinaryIO) -> bool:
    try:
        _Head.model_validate_json(file.readline(1000).removeprefix(codecs.BOM_UTF8))
    except ValidationError:
        return False
    return True


def _next_lines(file: BinaryIO) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < BATCH and (line := file.readline(LONGEST_LINE)):
        while not line.endswith(b"\n") and (rest := file.readline(LONGEST_LINE)):
            line = b"\n" if rest.endswith(b"\n") else rest  # too long: walked over, kept as a bad line
        lines.append(line)
    return lines


def _rows(lines: Sequence[bytes], before: int) -> list[ArchiveRow]:
    rows: list[ArchiveRow] = []
    for number, line in enumerate(lines, before + 1):
        try:
            rows.append(_LINES.validate_json(line).row())
        except (ValidationError, MistakeError, OverflowError) as bad:
            log.warning("import: line %d left out: %s", number, _reason(bad))
    return rows


def _reason(bad: Exception) -> str:
    if isinstance(bad, ValidationError):
        first = bad.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(bad)


def _checked_place(scope: Scope) -> Scope:
    """Refuse a place whose ids no scene could have."""
    if scope.kind == "group":
        Scene.group(scope.place_id, "0", agent=scope.agent)
    else:
        Scene.private(scope.place_id, agent=scope.agent)
    return scope
