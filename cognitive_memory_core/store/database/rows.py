"""Conversion between domain objects and rows."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from functools import lru_cache, wraps
from typing import Any, TypeVar

from ...domain.belief import Belief, Change
from ...domain.event import Event, Quote, duplicate_key
from ...domain.ids import derived_id
from ...domain.interval import FIRST_YEAR, LAST_YEAR
from ...domain.message import Message
from ...domain.note import Memo, Pin
from ...domain.scope import Scene, Scope
from ...ports.models import Vector
from ...text.caches import cleared_on_erasure
from ...text.time.instants import EARLIEST, LATEST

EVENT_FIELDS = (
    "id",
    "text",
    "kind",
    "user_id",
    "group_id",
    "sender_id",
    "subjects",
    "message_ids",
    "request_type",
    "perspective",
    "happened_at",
    "is_absolute",
    "count",
    "last_seen_at",
    "agent",
    "confidence",
    "pain",
    "solution",
    "outcome",
    "sender_name",
    "retired_at",
    "replaces",
    "quotes",
)
EVENT_COLUMNS = (*EVENT_FIELDS, "scope", "at_us", "duplicate_key", "others_words")
MESSAGE_FIELDS = (
    "id",
    "text",
    "sent_at",
    "reply_to",
    "is_bot",
    "addressed_to_bot",
    "agent",
    "request_type",
    "group_id",
    "user_id",
    "user_name",
    "group_name",
    "is_admin",
)
MESSAGE_COLUMNS = (*MESSAGE_FIELDS, "sender_id", "scope", "at_us")
MEMO_COLUMNS = ("id", "scope", "text", "written_at", "user_id", "at_us")
PIN_COLUMNS = ("id", "scope", "text", "owner_id", "pinned_at", "at_us", "author_id")
BELIEF_COLUMNS = (
    "id",
    "scope",
    "statement",
    "version",
    "parent_id",
    "chain_id",
    "status",
    "tags",
    "strength",
    "change_summary",
    "created_at",
    "updated_at",
    "weighed_at",
    "message_ids",
    "event_ids",
    "supporters",
    "is_current",
    "is_barred",
    "duplicate_key",
)
CHANGE_COLUMNS = (
    "id",
    "scope",
    "action",
    "belief_id",
    "version",
    "old_id",
    "old_statement",
    "new_statement",
    "change_reason",
    "changed_at",
    "changed_by",
    "at_us",
)
DECISION_COLUMNS = ("id", "scope", "kind", "is_accepted", "decided_at", "decided_by")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_MOST_COUNTED = 2**53
Row = Sequence[Any]
T = TypeVar("T")


def _of_row(convert: Callable[[Row], T]) -> Callable[[Row], T]:
    """Make a conversion raise SQLite's DataError for a row that it cannot convert, because the file is damaged then."""

    @wraps(convert)
    def converted(row: Row) -> T:
        try:
            return convert(row)
        except (TypeError, ValueError) as damage:
            raise sqlite3.DataError(f"{convert.__name__}: {damage}") from damage

    return converted


@contextmanager
def bytes_replaced(connection: sqlite3.Connection) -> Generator[None, None, None]:
    """Replace bytes that are not UTF-8 by U+FFFD in texts read during the ``with`` block, instead of raising."""
    kept = connection.text_factory
    connection.text_factory = _decoded
    try:
        yield
    finally:
        connection.text_factory = kept


def _decoded(written: bytes) -> str:
    return written.decode("utf-8", "replace")


def micros(instant: datetime) -> int:
    """Return an instant as microseconds since 1970 in UTC."""
    return (instant - _EPOCH) // _MICROSECOND


def instant_of(microseconds: int) -> datetime:
    """Return the UTC instant of microseconds since 1970, clamped to the range that every time zone can represent."""
    return _EPOCH + timedelta(microseconds=min(max(microseconds, micros(EARLIEST)), micros(LATEST)))


def moment_of(text: str) -> datetime:
    """Parse an instant with its offset, clamped to the range that every time zone can represent."""
    instant = datetime.fromisoformat(text)
    if instant.year < FIRST_YEAR:
        return EARLIEST
    return LATEST if instant.year > LAST_YEAR else instant


def bound(*values: Any) -> tuple[Any, ...]:
    """Prepare values for SQLite: lone surrogates, which UTF-8 cannot encode, are replaced in text."""
    return tuple([_storable(value) if isinstance(value, str) and not value.isascii() else value for value in values])


def digest(text: str) -> str:
    """Return the hash of a text's :func:`duplicate_key`; an index by this hash finds equal statements."""
    return derived_id(duplicate_key(text))


def event_values(event: Event) -> tuple[Any, ...]:
    """Return an event's values in the order of :data:`EVENT_COLUMNS`."""
    return bound(
        event.id,
        event.text,
        event.kind,
        event.user_id,
        event.group_id,
        event.sender_id,
        json.dumps(event.subjects),
        json.dumps(event.message_ids),
        event.request_type,
        event.perspective,
        event.happened_at.isoformat(),
        event.is_absolute,
        min(event.count, _MOST_COUNTED),
        _text(event.last_seen_at),
        event.agent,
        event.confidence,
        event.pain,
        event.solution,
        event.outcome,
        event.sender_name,
        _text(event.retired_at),
        event.replaces,
        _quotes_written(event.quotes),
        event.scope.key,
        micros(event.happened_at),
        digest(event.text),
        not event.is_own_words,
    )


@_of_row
def event_of(row: Row) -> Event:
    """Convert a row of :data:`EVENT_FIELDS` to an event."""
    fields: dict[str, Any] = dict(zip(EVENT_FIELDS, row, strict=True))
    fields["subjects"] = _ids(fields["subjects"])
    fields["message_ids"] = _ids(fields["message_ids"])
    fields["happened_at"] = moment_of(fields["happened_at"])
    fields["is_absolute"] = bool(fields["is_absolute"])
    fields["last_seen_at"] = _instant(fields["last_seen_at"])
    fields["retired_at"] = _instant(fields["retired_at"])
    fields["quotes"] = _quotes_read(fields["quotes"])
    return Event(**fields)


@cleared_on_erasure
@lru_cache(maxsize=2048)  # the rows of an active place are found again and again; a row that changed is another row
def found_event(row: tuple[Any, ...]) -> Event:
    """Convert a row of :data:`EVENT_FIELDS` that a search found."""
    return event_of(row)


def message_values(message: Message) -> tuple[Any, ...]:
    """Return a message's values in the order of :data:`MESSAGE_COLUMNS`."""
    scene = message.scene
    return bound(
        message.id,
        message.text,
        message.sent_at.isoformat(),
        message.reply_to,
        message.is_bot,
        message.addressed_to_bot,
        scene.agent,
        scene.scope.kind,
        scene.group_id,
        scene.user_id,
        scene.user_name,
        scene.group_name,
        scene.is_admin,
        message.sender_id,
        scene.scope.key,
        micros(message.sent_at),
    )


@_of_row
def message_of(row: Row) -> Message:
    """Read a message from :data:`MESSAGE_FIELDS`."""
    identifier, text, sent_at, reply_to, is_bot, addressed, *place = row
    return Message(
        identifier,
        _scene(tuple(place)),
        text,
        moment_of(sent_at),
        reply_to=reply_to or None,
        is_bot=bool(is_bot),
        addressed_to_bot=bool(addressed),
    )


@cleared_on_erasure
@lru_cache(maxsize=2048)
def found_message(row: tuple[Any, ...]) -> Message:
    """Convert a row of :data:`MESSAGE_FIELDS` that a search found."""
    return message_of(row)


def vector_of(blob: bytes) -> Vector:
    """Read a vector of 32-bit floats."""
    vector: Vector = array("f")
    vector.frombytes(blob)
    return vector


def memo_values(memo: Memo) -> tuple[Any, ...]:
    """Return a memo's values in the order of :data:`MEMO_COLUMNS`."""
    when = memo.written_at
    return bound(memo.id, memo.scope.key, memo.text, when.isoformat(), memo.user_id, micros(when))


@_of_row
def memo_of(row: Row) -> Memo:
    """Convert a row of :data:`MEMO_COLUMNS` to a memo (a note on what the bot did in a turn)."""
    identifier, scope, text, written_at, user_id, _ = row
    return Memo(identifier, Scope.of_key(scope), text, moment_of(written_at), user_id)


def pin_values(pin: Pin) -> tuple[Any, ...]:
    """Return a pin's values in the order of :data:`PIN_COLUMNS`."""
    when = pin.pinned_at
    return bound(pin.id, pin.scope.key, pin.text, pin.owner_id, when.isoformat(), micros(when), pin.author_id)


@_of_row
def pin_of(row: Row) -> Pin:
    """Convert a row of :data:`PIN_COLUMNS` to a pin (a fact shown in every turn of its place)."""
    identifier, scope, text, owner_id, pinned_at, _, author_id = row
    return Pin(identifier, Scope.of_key(scope), text, owner_id, moment_of(pinned_at), author_id)


def belief_values(belief: Belief) -> tuple[Any, ...]:
    """Return a belief's values in the order of :data:`BELIEF_COLUMNS`."""
    return bound(
        belief.id,
        belief.scope.key,
        belief.statement,
        belief.version,
        belief.parent_id,
        belief.chain_id,
        belief.status,
        json.dumps(belief.tags, ensure_ascii=False),
        belief.strength,
        belief.change_summary,
        belief.created_at.isoformat(),
        belief.updated_at.isoformat(),
        _text(belief.weighed_at),
        json.dumps(belief.message_ids),
        json.dumps(belief.event_ids),
        json.dumps(belief.supporters),
        belief.is_current,
        belief.is_barred,
        digest(belief.statement),
    )


@_of_row
def belief_of(row: Row) -> Belief:
    """Read a belief from :data:`BELIEF_COLUMNS`."""
    fields: dict[str, Any] = dict(zip(BELIEF_COLUMNS, row, strict=True))
    del fields["duplicate_key"]
    fields["scope"] = Scope.of_key(fields["scope"])
    for name in ("tags", "message_ids", "event_ids", "supporters"):
        fields[name] = _ids(fields[name])
    for name in ("created_at", "updated_at"):
        fields[name] = moment_of(fields[name])
    fields["weighed_at"] = _instant(fields["weighed_at"])
    for name in ("is_current", "is_barred"):
        fields[name] = bool(fields[name])
    return Belief(**fields)


def change_values(change: Change) -> tuple[Any, ...]:
    """Return a change's values in the order of :data:`CHANGE_COLUMNS`."""
    when = change.changed_at
    texts = (change.old_statement, change.new_statement, change.change_reason)
    place = (change.id, change.scope.key, change.action, change.belief_id, change.version, change.old_id)
    return bound(*place, *texts, when.isoformat(), change.changed_by, micros(when))


@_of_row
def change_of(row: Row) -> Change:
    """Read a change from :data:`CHANGE_COLUMNS`."""
    fields: dict[str, Any] = dict(zip(CHANGE_COLUMNS, row, strict=True))
    del fields["at_us"]
    fields["scope"] = Scope.of_key(fields["scope"])
    fields["changed_at"] = moment_of(fields["changed_at"])
    return Change(**fields)


@cleared_on_erasure
@lru_cache(maxsize=2048)  # the same people speak again and again
def _scene(row: tuple[Any, ...]) -> Scene:
    agent, place, group_id, user_id, user_name, group_name, is_admin = row
    if place == "private":
        return Scene.private(user_id, user_name=user_name, agent=agent)
    if not user_id:
        return Scene.operator(agent, group_id=group_id)
    return Scene.group(
        group_id, user_id, user_name=user_name, group_name=group_name, agent=agent, is_admin=bool(is_admin)
    )


def _ids(written: str) -> tuple[str, ...]:
    return () if written == "[]" else tuple(json.loads(written))


def _quotes_written(quotes: Sequence[Quote]) -> str:
    rows = [[one.message_id, one.sender_id, one.text, one.sender_name, _text(one.sent_at)] for one in quotes]
    return json.dumps(rows, ensure_ascii=False)


def _quotes_read(written: str) -> tuple[Quote, ...]:
    if written == "[]":
        return ()
    return tuple(
        Quote(message_id, sender_id, text, name, _instant(sent_at))
        for message_id, sender_id, text, name, sent_at in json.loads(written)
    )


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


def _instant(text: str | None) -> datetime | None:
    return None if text is None else moment_of(text)
