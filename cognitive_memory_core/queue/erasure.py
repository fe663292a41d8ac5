"""Removes a person or a place from the bytes of a file of any origin.

A file that is not JSON in UTF-8 is removed if it mentions them. Each function returns the remaining bytes: empty if the
file must be deleted, None if it is unchanged. What is left of a job has only the fields that this version knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from typing import cast

import orjson

from .. import sentences
from ..disk import decodings
from ..domain.message import Message
from ..domain.scope import Scope
from ..domain.turn import Dialogue, Turn, without_lines
from ..errors import LimitReached, PermanentError
from ..text.cleaning import writable_text
from ..text.ids import BARE_ID
from . import codec
from .codec import Body, moment

Hide = Callable[[str], str]
_ROW = frozenset({"id", "summary", "location", "type", "name", "timestamp"})  # keys of a memo's row: nobody's name
_SOME_TIME = moment(0)  # for jobs that are parsed for people and places, not for times
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_LABELLED = re.compile(r"\s*(?:\[[^\]\n]{0,64}\]\s*)?([^:：\n]{1,200})[:：]")  # a time in brackets may stand before


def without_person(data: bytes, *, user_id: str, hide: Hide) -> bytes | None:
    """Remove a person from a job; an invalid job that mentions them is removed completely."""
    text = data.decode("utf-8", "replace")
    if not any(char in text for char in "\\\ufffd\0") and user_id not in text and hide(text) == text:
        return None  # nothing is escaped, so the text can be searched as it is
    try:
        body = codec.body_of(data)
        job = codec.job_of(body, "0", _SOME_TIME)
    except PermanentError:
        return b"" if _mentions(data, user_id, hide) else None
    rest = _left_of(job.work, user_id, hide)
    if rest is None:
        return b""
    if rest == job.work and not _mentions(data, user_id, hide):
        return None
    kept = {name: body[name] for name in ("id", "failed_at") if name in body}
    error = {"error": hide(str(body["error"]))} if "error" in body else {}
    try:
        left = codec.encoded(replace(job, work=rest), {**kept, "accepted_at": body.get("accepted_at"), **error})
    except LimitReached:  # what stands for the person is longer than a name
        return b""
    return None if left == data else left


def _left_of(work: Turn | Dialogue, user_id: str, hide: Hide) -> Turn | Dialogue | None:
    """Return work without a person; None if it is the person's own, or no one's words would remain.

    Names are kept where they stand beside another person's id, because several people may share one.
    """

    def is_kept(line: Message | str) -> bool:
        return not _is_said_by_hidden(line, hide) if isinstance(line, str) else line.scene.user_id != user_id

    is_theirs = work.scene.user_id == user_id
    if isinstance(work, Turn):
        return None if is_theirs else without_lines(work, is_kept, hide)
    rest = without_lines(work, is_kept, hide)
    speakers = [line.scene for line in rest.messages if not line.is_bot]
    is_changed = is_theirs or len(rest.messages) < len(work.messages)
    if (is_changed and not speakers) or (is_theirs and rest.scene.kind != "group"):
        return None
    return replace(rest, scene=speakers[-1]) if is_theirs else rest


def _is_said_by_hidden(line: str, hide: Hide) -> bool:
    """Return whether a line like ``[10:32] name(id): text`` is labelled with a person whom ``hide`` hides."""
    match = _LABELLED.match(line)
    if match is None:
        return False
    label = match[1].strip()
    return label != sentences.context.SOMEBODY and hide(label) == sentences.context.SOMEBODY


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
    listed = cast("list[object]", rows)
    rest = [_hidden(row, hide) for row in listed if not _is_summary_of(row, memo_ids, place)]
    return None if rest == rows else orjson.dumps(rest, option=orjson.OPT_INDENT_2)


def names_of(data: bytes, user_id: str) -> set[str]:
    """Return the names that a person has in a job, as written there."""
    if user_id not in data.decode("utf-8", "replace"):
        return set()
    try:
        work = codec.job_of(codec.body_of(data), "0", _SOME_TIME).work
    except PermanentError:
        return set()
    lines = work.recent_messages if isinstance(work, Turn) else work.messages
    scenes = [work.scene, *(line.scene for line in lines if isinstance(line, Message))]
    return {scene.user_name for scene in scenes if scene.user_id == user_id and scene.user_name}


def _hidden(value: object, hide: Hide) -> object:
    """Return JSON with a person hidden in its texts and keys."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [_hidden(item, hide) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        fields = cast("Body", value)
        return {name if name in _ROW else hide(name): _hidden(inner, hide) for name, inner in fields.items()}
    return value


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
