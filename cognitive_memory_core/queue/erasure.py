"""Removes a person or a place from the bytes of a file of any origin.

A file that is not JSON in UTF-8 is removed if it mentions them. Each function returns the remaining bytes: empty if the
file must be deleted, None if it is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

import orjson

from .. import sentences
from ..disk import decodings
from ..domain.scope import Scope
from ..errors import PermanentError
from ..text.names import is_said_by_hidden, writable_text
from ..text.people import BARE_ID
from . import format as codec
from .format import Body, moment

Hide = Callable[[str], str]
_BEARERS = (("user_id", "user_name"), ("sender_id", "sender_name"))
_NAMES = frozenset(name for _, name in _BEARERS)
_KEPT = frozenset(  # the meaning of a job depends on these, and they do not name a person
    {
        "schema_version",
        "id",
        "kind",
        "agent",
        "group_id",
        "user_id",
        "sender_id",
        "message_ids",
        "reply_to",
        "request_type",
        "accepted_at",
        "failed_at",
        "happened_at",
        "sent_at",
        "timestamp",
        "timestamp_utc",
        "timestamp_epoch",
        "timestamp_local",
    }
)
_TEXTS = frozenset(
    {
        *("scene", "memo", "action_summary", "end_summary", "observations", "new_info", "perspective", "force"),
        *("source_message", "recent_messages", "messages", "request_id", "trimmed", "text", "error", "group_name"),
        *("is_bot", "addressed_to_bot", "summary", "location"),
    }
)
_KNOWN = _KEPT | _NAMES | _TEXTS  # known keys; a key among them is not somebody's name
_SOME_TIME = moment(0)  # for jobs that are parsed for people and places, not for times
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


def without_person(data: bytes, *, user_id: str, hide: Hide) -> bytes | None:
    """Remove a person from a job; an invalid job that mentions them is removed completely."""
    text = data.decode("utf-8", "replace")
    if not any(char in text for char in "\\\ufffd\0") and user_id not in text and hide(text) == text:
        return None  # nothing is escaped, so the text can be searched as it is
    try:
        body = codec.body_of(data)
    except PermanentError:
        return b"" if _mentions(data, user_id, hide) else None
    rest = _JobErasure(user_id, hide).job(body)
    if rest is None:
        return b""
    left = data if rest == body else orjson.dumps(rest)
    try:
        codec.job_of(rest, "0", _SOME_TIME)
    except PermanentError:
        if _mentions(left, user_id, hide):
            return b""
    return None if rest == body else left


def without_message(data: bytes, *, message_id: str) -> bytes | None:
    """Remove a withdrawn message from a job; a job without any words of a person is removed completely."""
    if message_id.encode("utf-8", "replace") not in data and b"\\" not in data:
        return None
    try:
        body = codec.body_of(data)
    except PermanentError:
        return None
    held = {key: cast("list[object]", body[key]) for key in codec.HOLDERS if isinstance(body.get(key), list)}
    kept = {key: [item for item in items if codec.id_in(item, key) != message_id] for key, items in held.items()}
    lost = {key: items for key, items in kept.items() if items != held[key]}
    if not lost:
        return None
    lines = lost.get("messages", [{}])
    is_silent = all(not isinstance(line, dict) or cast("Body", line).get("is_bot") for line in lines)
    is_emptied = lost.get("message_ids") == [] or is_silent
    return b"" if is_emptied else orjson.dumps({**body, **lost})


def without_place(data: bytes, *, scope: Scope) -> bytes | None:
    """Remove a job of a place; an invalid job is removed if it mentions the place."""
    try:
        is_there = codec.job_of(codec.body_of(data), "0", _SOME_TIME).scope == scope
    except PermanentError:
        is_there = _mentions(data, scope.place_id, partial(_without_id, scope.place_id))
    return b"" if is_there else None


def summaries_without(data: bytes, *, memo_ids: Collection[str], place: Scope, hide: Hide) -> bytes | None:
    """Remove memos by id or place from a list of summaries, and hide a person in the others.

    What is no list is removed completely if it mentions any of them.
    """
    try:
        rows = codec.json_of(data)
    except PermanentError:
        rows = None
    if not isinstance(rows, list):
        is_named = _mentions(data, place.place_id, lambda text: hide(_without_id(place.place_id, text)))
        texts = [*_plausible_texts(data)]
        return b"" if is_named or any(f'"{one}"' in text for one in memo_ids for text in texts) else None
    erasure, listed = _JobErasure("", hide), cast("list[object]", rows)
    rest = [erasure.of(row, "") for row in listed if not _is_summary_of(row, memo_ids, place)]
    return None if rest == rows else orjson.dumps(rest, option=orjson.OPT_INDENT_2)


def names_of(data: bytes, user_id: str) -> set[str]:
    """Return the names that a person has in a job, as written there."""
    if user_id not in data.decode("utf-8", "replace"):
        return set()
    try:
        return set(_names_in(codec.body_of(data), user_id))
    except PermanentError:
        return set()


@dataclass(frozen=True)
class _JobErasure:
    user_id: str
    hide: Hide

    def job(self, body: Body) -> Body | None:
        """Return a job without the person; None if it is the person's own, or no one's words would remain."""
        scene, is_theirs = body.get("scene"), self.is_theirs(body)
        is_dialogue = body.get("kind") == "dialogue" and isinstance(body.get("messages"), list)
        is_dialogue = is_dialogue and isinstance(scene, dict) and cast("Body", scene).get("kind") == "group"
        if is_theirs and not is_dialogue:
            return None
        rest = cast("Body", self.of({**body, "scene": None} if is_theirs else body, ""))
        if is_dialogue and (is_theirs or rest["messages"] != body["messages"]):
            lines = [cast("Body", line) for line in rest["messages"] if isinstance(line, dict)]
            scenes = [line["scene"] for line in lines if not line.get("is_bot") and isinstance(line.get("scene"), dict)]
            return {**rest, "scene": scenes[-1] if is_theirs else rest["scene"]} if scenes else None
        return rest

    def is_theirs(self, item: object) -> bool:
        """Return whether a turn, line or scene belongs to the person, in any of its forms."""
        if not self.user_id or not isinstance(item, dict):
            return False
        fields = cast("Body", item)
        return self.user_id in _owners(fields) or self.is_theirs(fields.get("scene"))

    def of(self, value: object, key: str) -> object:
        """Return the value under a key with the person removed."""
        is_id = key.endswith("id") and value == self.user_id
        is_number = isinstance(value, int) and str(value) == self.user_id and len(self.user_id) >= BARE_ID
        if is_id or is_number:
            return sentences.context.SOMEBODY
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, dict):
            fields = cast("Body", value)
            kept = _KEPT | _NAMES if _owners(fields) else _KEPT
            return {
                name if name in _KNOWN else self.hide(name): inner if name in kept else self.of(inner, name)
                for name, inner in fields.items()
                if not self.is_theirs(inner)
            }
        if isinstance(value, list):
            is_said = key in ("recent_messages", "messages")
            return [
                self.of(item, key)
                for item in cast("list[object]", value)
                if not (is_said and isinstance(item, str) and is_said_by_hidden(item, self.hide))
                and not self.is_theirs(item)
            ]
        return value


def _owners(fields: Body) -> list[str]:
    """Return the ids under which a turn, line or scene states its person."""
    return [str(fields[key]) for key, _ in _BEARERS if fields.get(key)]


def _is_summary_of(row: object, memo_ids: Collection[str], place: Scope) -> bool:
    """Return whether a summary must be removed; decided by ids alone, because several people may share a name."""
    if not isinstance(row, dict):
        return False
    fields = cast("Body", row)
    location = fields.get("location")
    kind, name = ("", "")
    if isinstance(location, dict):
        kind, name = (str(cast("Body", location).get(key)) for key in ("type", "name"))
    return (kind == place.kind and name == place.place_id) or str(fields.get("id")) in memo_ids


def _mentions(data: bytes, identifier: str, hide: Hide) -> bool:
    """Return whether bytes contain the id or a text that ``hide`` changes, in any plausible encoding."""
    return any(f'"{identifier}"' in text or hide(text) != text for text in _plausible_texts(data))


def _plausible_texts(data: bytes) -> Iterator[str]:
    """Yield the texts that bytes may stand for, with escapes resolved."""
    for text in decodings(data):
        yield writable_text(_ESCAPED.sub(lambda match: chr(int(match[1], 16)), text))


def _without_id(identifier: str, text: str) -> str:
    """Remove an id from a text; a short id is kept, because it could be a count."""
    found = rf"(?<![0-9A-Za-z]){re.escape(identifier)}(?![0-9A-Za-z])"
    return re.sub(found, "", text) if len(identifier) >= BARE_ID else text


def _names_in(value: object, user_id: str) -> Iterator[str]:
    if isinstance(value, dict):
        fields = cast("Body", value)
        yield from (str(fields[name]) for key, name in _BEARERS if str(fields.get(key)) == user_id and fields.get(name))
        for inner in fields.values():
            yield from _names_in(inner, user_id)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _names_in(inner, user_id)
