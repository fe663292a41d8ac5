"""The format of an export, version 1: one JSON object per line, a model for each type of line."""

from __future__ import annotations

from array import array
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter

from .. import sentences
from ..domain.event import Event
from ..domain.ids import checked_id
from ..domain.interval import checked_instant
from ..domain.message import Message
from ..domain.note import Memo, Pin
from ..domain.profile import EntityType, Profile, ProfileKey, Revision, is_revision_id
from ..domain.scope import Scene, Scope
from ..errors import BadArgument
from ..ports.ledger import Alias, ArchiveRow, EmbeddedEvent, OptOut, Shared
from ..text.identity.names import clean_name

LOCAL = "hashing-"  # first characters of the local embedder's fingerprint

ShortId = Annotated[str, AfterValidator(lambda value: checked_id(value, "id"))]
PersonId = Annotated[str, AfterValidator(lambda value: checked_id(value, "id") if value else "")]
Instant = Annotated[AwareDatetime, AfterValidator(lambda value: checked_instant(value, "time"))]
Content = Annotated[str, Field(min_length=1, max_length=8000)]
PlaceKind = Literal["group", "private"]
LongContent = Annotated[str, Field(max_length=64_000)]
ExportedRow = ArchiveRow | Profile | Revision


def _checked_revision(value: str) -> str:
    if not is_revision_id(value):
        raise BadArgument(sentences.caller.unknown_revision(value))
    return value


class _ExportLine(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="ignore", frozen=True)

    def written(self) -> str:
        """Return the line as JSON."""
        return self.model_dump_json()


class Head(_ExportLine):
    """The first line of every export."""

    format: Literal["cognitive-memory"]
    version: Literal[1]


class _Detail(_ExportLine):
    pain: str = ""
    solution: str = ""
    outcome: str = ""


class EventLine(_ExportLine):
    """An event; ``vector`` is used only together with ``embedding``, its fingerprint."""

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
        """Convert the line to an event, with its vector if it has one."""
        fields = self.model_dump(exclude={"type", "detail", "vector", "embedding"})
        detail = {} if self.detail is None else self.detail.model_dump()
        event = Event(**fields, **detail)
        _checked_place(event.scope)
        if self.vector is None or not self.embedding:
            return EmbeddedEvent(event)
        return EmbeddedEvent(event, self.embedding, array("f", self.vector))

    @classmethod
    def of(cls, row: EmbeddedEvent) -> EventLine:
        """Convert an event to a line, with its vector only if a paid model made it; local vectors cost nothing."""
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
        """Return the line as JSON without empty optional fields."""
        optional = {"vector": self.vector, "embedding": self.embedding, "detail": self.detail}
        return self.model_dump_json(exclude={name for name, value in optional.items() if not value})


class MessageLine(_ExportLine):
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
        """Convert the line to a message."""
        place = "" if self.request_type == "private" else self.group_id
        scene = Scene(self.request_type, self.agent, place, self.user_id, self.user_name, self.group_name)
        flags = self.model_dump(include={"reply_to", "is_bot", "addressed_to_bot"})
        return Message(self.id, scene, self.text, self.sent_at, **flags)

    @classmethod
    def of(cls, message: Message) -> MessageLine:
        """Convert a message to a line."""
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


class _PlacedLine(_ExportLine):
    agent: ShortId = "default"
    place: PlaceKind
    place_id: ShortId

    @property
    def scope(self) -> Scope:
        """Return the scope that the line belongs to."""
        return _checked_place(Scope(self.agent, self.place, self.place_id))


class MemoLine(_PlacedLine):
    """A memo."""

    type: Literal["memo"] = "memo"
    id: ShortId
    text: Content
    written_at: Instant
    user_id: PersonId = ""

    def row(self) -> Memo:
        """Convert the line to a memo."""
        return Memo(self.id, self.scope, self.text, self.written_at, self.user_id)

    @classmethod
    def of(cls, memo: Memo) -> MemoLine:
        """Convert a memo to a line."""
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
    """A pin; ``owner_id`` is "" for a pin of the whole group, ``author_id`` is "" if the author is unknown."""

    type: Literal["pin"] = "pin"
    id: ShortId
    text: Content
    owner_id: PersonId = ""
    author_id: PersonId = ""
    pinned_at: Instant

    def row(self) -> Pin:
        """Convert the line to a pin."""
        return Pin(self.id, self.scope, self.text, self.owner_id, self.pinned_at, self.author_id)

    @classmethod
    def of(cls, pin: Pin) -> PinLine:
        """Convert a pin to a line."""
        scope = pin.scope
        return cls(
            agent=scope.agent,
            place=scope.kind,
            place_id=scope.place_id,
            id=pin.id,
            text=pin.text,
            owner_id=pin.owner_id,
            author_id=pin.author_id,
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
        """Convert the line to an alias."""
        return Alias(self.scope, self.user_id, clean_name(self.name), self.first_seen_at, self.last_seen_at)

    @classmethod
    def of(cls, alias: Alias) -> AliasLine:
        """Convert an alias to a line."""
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


class ConsentLine(_ExportLine):
    """A person's choice: to be left out since ``at``, or to share their profile everywhere since ``shared_at``."""

    type: Literal["consent"] = "consent"
    user_id: ShortId
    at: Instant | None = None
    shared_at: Instant | None = None

    def row(self) -> OptOut | Shared:
        """Convert the line to an opt-out or a share."""
        if self.at is not None:
            return OptOut(self.user_id, self.at)
        return Shared(self.user_id, checked_instant(self.shared_at, "shared_at"))

    @classmethod
    def of(cls, wish: OptOut | Shared) -> ConsentLine:
        """Convert an opt-out or a share to a line."""
        if isinstance(wish, OptOut):
            return cls(user_id=wish.user_id, at=wish.at)
        return cls(user_id=wish.user_id, shared_at=wish.at)

    def written(self) -> str:
        """Return the line as JSON without the choice that was not made."""
        return self.model_dump_json(exclude_none=True)


class _PortraitLine(_ExportLine):
    agent: ShortId = "default"
    entity_type: EntityType
    group_id: PersonId = ""
    user_id: PersonId = ""
    name: Annotated[str, Field(max_length=1_000)] = ""
    tags: tuple[Annotated[str, Field(max_length=1_000)], ...] = ()
    summary: LongContent = ""
    updated_at: Instant
    source_event_id: Annotated[str, Field(max_length=128)] = ""

    @property
    def profile(self) -> Profile:
        """Return the line's profile."""
        said = self.model_dump(include={"name", "tags", "summary", "updated_at", "source_event_id"})
        return Profile(key=self._key, **said)

    @property
    def _key(self) -> ProfileKey:
        match self.entity_type:
            case "user":
                return ProfileKey.user(self.user_id, self.agent)
            case "member":
                return ProfileKey.member(self.group_id, self.user_id, self.agent)
            case "group":
                return ProfileKey.group(self.group_id, self.agent)


class ProfileLine(_PortraitLine):
    """A profile."""

    type: Literal["profile"] = "profile"

    def row(self) -> Profile:
        """Convert the line to a profile."""
        return self.profile

    @classmethod
    def of(cls, profile: Profile) -> ProfileLine:
        """Convert a profile to a line."""
        return cls(**_fields_of(profile))


class RevisionLine(_PortraitLine):
    """A past version of a profile."""

    type: Literal["revision"] = "revision"
    id: Annotated[str, AfterValidator(_checked_revision)]

    def row(self) -> Revision:
        """Convert the line to a revision."""
        return Revision(self.id, self.profile)

    @classmethod
    def of(cls, revision: Revision) -> RevisionLine:
        """Convert a revision to a line."""
        return cls(id=revision.id, **_fields_of(revision.profile))


Line = Annotated[
    EventLine | MessageLine | MemoLine | PinLine | AliasLine | ConsentLine | ProfileLine | RevisionLine,
    Field(discriminator="type"),
]
LINES: TypeAdapter[Line] = TypeAdapter(Line)


def line_of(row: ExportedRow) -> Line:  # noqa: PLR0911  # a return for each type of line
    """Convert a row to its type of line."""
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
        case OptOut() | Shared():
            return ConsentLine.of(row)
        case Profile() | Revision():
            return _portrait_line(row)


def _portrait_line(row: Profile | Revision) -> ProfileLine | RevisionLine:
    return ProfileLine.of(row) if isinstance(row, Profile) else RevisionLine.of(row)


def _fields_of(profile: Profile) -> dict[str, Any]:
    key = profile.key
    return {
        "agent": key.agent,
        "entity_type": key.entity_type,
        "group_id": key.group_id,
        "user_id": key.user_id,
        "name": profile.name,
        "tags": profile.tags,
        "summary": profile.summary,
        "updated_at": profile.updated_at,
        "source_event_id": profile.source_event_id,
    }


def _checked_place(scope: Scope) -> Scope:
    """Return the scope; raises for ids that no scene could have."""
    if scope.kind == "group":
        Scene.group(scope.place_id, "0", agent=scope.agent)
    else:
        Scene.private(scope.place_id, agent=scope.agent)
    return scope
