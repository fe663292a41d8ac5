"""The rows of an export (contract: format 1): how each is written and read."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from .. import sentences
from ..domain.belief import SUGGESTION_KINDS, Belief, Change, SuggestionDecision
from ..domain.consent import OptOut, PlaceSwitch, Shared
from ..domain.event import MEMORY_KINDS, Event
from ..domain.ids import checked_id, checked_text
from ..domain.instants import checked_instant
from ..domain.message import Message
from ..domain.notes import Memo, Pin
from ..domain.people import Alias
from ..domain.profile import Profile, ProfileKey, Revision, is_revision_id
from ..domain.scope import DEFAULT_AGENT, Scene, Scope, checked_scene
from ..errors import BadArgument
from ..ports import HASHING, EmbeddedEvent
from ..store.archive import ArchiveRow
from ..text.names import clean_name

ExportedRow = ArchiveRow | Profile | Revision
HEAD = b'{"format":"cognitive-memory","version":1}'
LOCAL = (HASHING, "usem3-")  # first characters of the fingerprints of vectors that are cheap to recompute
Row = TypeVar("Row")
_Fields = dict[str, object]
_Line = Mapping[str, Any]
_EXPERIENCE = ("pain", "solution", "outcome")
_UNSAID = frozenset(
    {"is_admin", "number", "sources", "replaces", "quotes", "old_quotes", "new_quotes"}
)  # unless they say something
_NEVER_EMPTY = frozenset({"id", "agent", "subjects", "message_ids", "event_ids", "supporters"})
_LONGEST = {"name": 1_000, "tags": 1_000, "summary": 64_000}  # characters
_LONGEST_OTHER = 8_000
_LATEST = 2100  # year; a later time is a clock's error, and would count as the newest for ever
_LARGEST = 2**31
PlacedRow = Memo | Pin | Alias | Belief | Change | SuggestionDecision | PlaceSwitch
_ROWS = (Event, Message, Profile, OptOut, Shared, Memo, Pin, Alias, Belief, Change, SuggestionDecision, PlaceSwitch)
_ADAPTERS: Mapping[type, TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in _ROWS}
_VECTOR = TypeAdapter(tuple[float, ...])


def is_head(line: bytes) -> bool:
    """Return whether a file that begins with this line is an export of this version."""
    try:
        head: object = from_json(line)
    except ValueError:
        return False
    wanted = cast("dict[str, object]", from_json(HEAD))
    return isinstance(head, dict) and wanted.items() <= cast("dict[str, object]", head).items()


def written(row: ExportedRow) -> bytes:
    """Write a row as a line, without its end."""
    return to_json(_flat(row))


def row_of(line: bytes) -> ExportedRow:
    """Read a line; raise ValueError, or an error of this library, whose text says what is wrong with the line."""
    fields: object = from_json(line)
    of_type = cast("_Line", fields).get("type") if isinstance(fields, dict) else None
    if not isinstance(of_type, str) or of_type not in _READ:
        raise BadArgument(sentences.caller.bad_value("type", of_type, sentences.caller.one_of([*_READ])))
    return _READ[of_type](cast("_Line", fields))


def _flat(row: ExportedRow) -> _Fields:  # a return for each type of line
    match row:
        case EmbeddedEvent():
            return _flat_event(row)
        case Message(scene=scene):
            place = {
                "request_type": "group" if scene.kind == "group" else "private",
                **_without(scene, "kind", "nickname"),  # names have lines of their own
            }
            return {"type": "message", **place, **_without(row, "scene")}
        case OptOut():
            return {"type": "consent", **vars(row)}
        case Shared():
            return {"type": "consent", "user_id": row.user_id, "shared_at": row.at}
        case Profile():
            return {"type": "profile", **vars(row.key), **_without(row, "key", "version")}
        case Revision():
            return {**_flat(row.profile), "type": "revision", "id": row.id}
        case _:
            scope = row.scope
            names: dict[type[object], str] = {SuggestionDecision: "decision", PlaceSwitch: "consent"}
            place = {"agent": scope.agent, "place": scope.kind, "place_id": scope.place_id}
            return {"type": names.get(type(row)) or type(row).__name__.lower(), **place, **_without(row, "scope")}


def _flat_event(row: EmbeddedEvent) -> _Fields:
    """Return the fields of an exported event, without a vector that is cheap to recompute."""
    written = {"type": "event", **_without(row.event, "retired_at", *_EXPERIENCE)}
    if row.event.kind == "experience":
        written["detail"] = {name: getattr(row.event, name) for name in _EXPERIENCE}
    if row.vector is not None and row.fingerprint and not row.fingerprint.startswith(LOCAL):
        written |= {"vector": tuple(row.vector), "embedding": row.fingerprint}
    return written


def _without(row: Any, *names: str) -> _Fields:
    named = ((one.name, getattr(row, one.name)) for one in fields(row) if one.name not in names)
    return {name: value for name, value in named if value or name not in _UNSAID}


def _event(line: _Line) -> EmbeddedEvent:
    detail = cast("_Line", line["detail"] if isinstance(line.get("detail"), dict) else {})
    experience = {name: detail.get(name, "") for name in _EXPERIENCE}
    place = {"request_type": line.get("request_type")}  # required: it decides who may read the event
    event = _read(Event, {**line, **place, **experience, "retired_at": None})
    for quote in event.quotes:
        _checked(quote)
    if event.kind not in MEMORY_KINDS or event.count < 1 or not 0 <= event.confidence <= 1:
        raise BadArgument(sentences.caller.bad_value("event", event, "完整的记忆"))
    _place(event.scope.kind, event.scope.place_id, event.agent)
    vector, embedding = line.get("vector"), line.get("embedding")
    if not vector or not embedding:
        return EmbeddedEvent(event)
    return EmbeddedEvent(event, checked_text(embedding, "embedding"), array("f", _VECTOR.validate_python(vector)))


def _message(line: _Line) -> Message:
    scene = {"group_id": "", **line, "kind": line.get("request_type"), "agent": line.get("agent", DEFAULT_AGENT)}
    if scene["kind"] == "private":
        scene["group_id"] = ""
    message = _ADAPTERS[Message].validate_python({**line, "scene": scene})
    checked_scene(message.scene, placed=True)
    _check("sent_at", message.sent_at)
    return message


def _placed(kind: type[PlacedRow], line: _Line) -> PlacedRow:
    """Read a row of a place."""
    scope = _place(line.get("place"), line.get("place_id"), line.get("agent", DEFAULT_AGENT))
    row = _read(kind, {"owner_id": "", **line, "scope": scope})
    match row:
        case Alias():
            _check("text", row.name)
            return replace(row, user_id=checked_id(row.user_id, "user_id"), name=clean_name(row.name))
        case Belief() | Change():
            is_told = isinstance(row, Change) or (bool(row.statement.strip()) and 0 <= row.strength <= 1)
            if not (is_told and scope.kind == "group" and row.version >= 1):
                raise BadArgument(sentences.caller.bad_value("belief", row, "完整的群记忆"))
        case SuggestionDecision() if row.kind not in SUGGESTION_KINDS or not row.event_ids:
            raise BadArgument(sentences.caller.bad_value("decision", row, "完整的决定"))
        case PlaceSwitch(switch="on"):
            raise BadArgument(sentences.caller.bad_value("switch", row.switch, " off、record_only 或 recall_only"))
        case _:
            pass
    return row


def _consent(line: _Line) -> OptOut | Shared | PlacedRow:
    if "switch" in line:
        return _placed(PlaceSwitch, line)
    checked_id(line.get("user_id"), "user_id")
    if line.get("at") is not None:
        return _read(OptOut, line)
    return _read(Shared, {**line, "at": line.get("shared_at")})


def _profile(line: _Line) -> Profile:
    empty = {"name": "", "tags": (), "summary": ""}
    agent = checked_id(line.get("agent", DEFAULT_AGENT), "agent")
    match line.get("entity_type"):
        case "user":
            key = ProfileKey.user(line.get("user_id", ""), agent)
        case "member":
            key = ProfileKey.member(line.get("group_id", ""), line.get("user_id", ""), agent)
        case "group":
            key = ProfileKey.group(line.get("group_id", ""), agent)
        case other:
            raise BadArgument(sentences.caller.bad_value("entity_type", other, " user、member 或 group"))
    return _read(Profile, {**empty, **line, "version": "", "key": key})


def _revision(line: _Line) -> Revision:
    name = line.get("id")
    if not isinstance(name, str) or not is_revision_id(name):
        raise BadArgument(sentences.caller.UNKNOWN_REVISION.format(revision_id=name))
    return Revision(name, _profile(line))


_READ: Mapping[str, Callable[[_Line], ExportedRow]] = {
    "event": _event,
    "message": _message,
    "consent": _consent,
    "profile": _profile,
    "revision": _revision,
    **{kind.__name__.lower(): partial(_placed, kind) for kind in (Memo, Pin, Alias, Belief, Change)},
    "decision": partial(_placed, SuggestionDecision),
}


def _place(kind: object, place_id: Any, agent: Any) -> Scope:
    """Return the place; reject one that no scene could have."""
    if kind == "group":
        return Scene.group(place_id, "0", agent=agent).scope
    if kind == "private":
        return Scene.private(place_id, agent=agent).scope
    raise BadArgument(sentences.caller.bad_value("place", kind, " group 或 private"))


def _read(kind: type[Row], fields: _Line) -> Row:
    """Make a row of its fields."""
    return _checked(_ADAPTERS[kind].validate_python(fields))


def _checked(row: Row) -> Row:
    """Return the row; reject ids, times and lengths that no row of this memory could have."""
    for name, value in _without(row).items():
        for item in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
            _check(name, item)
    return row


def _check(name: str, value: object) -> None:
    if isinstance(value, datetime):
        if checked_instant(value, name).year >= _LATEST and name != "until":
            raise BadArgument(sentences.caller.bad_value(name, value.year, f" {_LATEST} 年以前的时间"))
    elif isinstance(value, int) and abs(value) >= _LARGEST:
        raise BadArgument(sentences.caller.bad_value(name, value, f"小于 {_LARGEST} 的数"))
    elif name in _NEVER_EMPTY or (value and (name.endswith("_id") or name == "replaces")):
        checked_id(value, name)
    elif name == "text" and not value:
        raise BadArgument(sentences.caller.bad_value(name, value, "非空文本"))
    elif isinstance(value, str) and len(value) > _LONGEST.get(name, _LONGEST_OTHER):
        raise BadArgument(sentences.caller.bad_value(name, value, f"最多 {_LONGEST.get(name, _LONGEST_OTHER)} 个字符"))
