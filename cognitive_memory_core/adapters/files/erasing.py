"""Taking a person or a place out of the bytes of a file, whoever wrote it and in whichever form.

Each function answers the bytes that are left: none where nothing of the file may stay, None where it stays as it is.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

import orjson

from ... import sentences
from ...domain.scope import Scope
from ...errors import PermanentError
from ...text.identity.speakers import is_said_by_hidden
from ...text.safety.redaction import LONG_ID
from . import codec
from .codec import Body
from .names import moment

Hide = Callable[[str], str]
_BEARERS = (("user_id", "user_name"), ("sender_id", "sender_name"))
_NAMES = frozenset(name for _, name in _BEARERS)
_KEPT = frozenset(  # what a job means hangs on these, and nobody can be told by them
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
_KNOWN = _KEPT | _NAMES | _TEXTS  # keys that are no text, whatever somebody calls themselves
_SOME_TIME = moment(0)  # of a job that is read for who and where, not for when
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_LAST_COMMA = re.compile(r",(\s*[\]}])(?=[\s\]},]*\Z)")  # at the end of all: inside a text it is somebody's words
TORN = 0.01  # of the characters at most may be unreadable in what is still a text
_LOOKED_AT = 1_000  # bytes
_QUOTED = re.compile(r'(?="([^"\n]{1,200})")')
_QUOTING = frozenset('"\\')
_UTF_16 = ("utf-16", "utf-16-le", "utf-16-be")
_ENCODINGS = ("utf-8", "gb18030", "utf-16-le", "utf-16-be")  # what editors here write


def without_person(data: bytes, *, user_id: str, hide: Hide) -> bytes | None:
    """Take a person out of a job; one that makes no sense and tells of them goes as a whole."""
    if not _may_tell(data, user_id, hide):
        return None
    body = _mended(data)
    if not isinstance(body, dict):
        return b"" if _tells(data, user_id, hide) else None
    body = cast("Body", body)
    rest = _JobErasure(user_id, hide).job(body)
    if rest is None:
        return b""
    left = data if rest == body else codec.packed(rest)
    if not _makes_sense(rest) and _tells(left, user_id, hide):
        return b""
    return None if rest == body else left


def without_place(data: bytes, *, scope: Scope) -> bytes | None:
    """Take a job of a place away; one that makes no sense goes where it tells of the place."""
    try:
        is_there = codec.job_of(codec.body_of(data), "0", _SOME_TIME).scope == scope
    except PermanentError:
        is_there = _tells(data, scope.place_id, partial(_without_id, scope.place_id))
    return b"" if is_there else None


def summaries_without(data: bytes, *, memo_ids: Collection[str], place: Scope, hide: Hide) -> bytes | None:
    """Take memos by id or place out of a list of summaries, and hide a person in the others."""
    rows = _mended(data)
    if not isinstance(rows, list):
        return _hidden_in_text(data, memo_ids, place, hide)
    rest = rows_without(cast("list[object]", rows), memo_ids=memo_ids, place=place, hide=hide)
    return None if rest == rows else orjson.dumps(rest, option=orjson.OPT_INDENT_2)


def rows_without(rows: Iterable[object], *, memo_ids: Collection[str], place: Scope, hide: Hide) -> list[object]:
    """Return the rows that are left, without a person."""
    erasure = _JobErasure("", hide)
    return [erasure.of(row, "") for row in rows if not _is_summary_of(row, memo_ids, place)]


def names_of(data: bytes, user_id: str) -> set[str]:
    """Return the names that a person bears in a job, as they stand there."""
    if user_id not in data.decode("utf-8", "replace"):
        return set()
    try:
        return set(_borne(codec.body_of(data), user_id))
    except PermanentError:
        return set()


@dataclass(frozen=True)
class _JobErasure:
    user_id: str
    hide: Hide

    def job(self, body: Body) -> Body | None:
        """Return a job without them; None when it is theirs, or nothing that a person said is left."""
        is_theirs, is_dialogue = self.is_theirs(body), _is_group_dialogue(body)
        if is_theirs and not is_dialogue:
            return None
        rest = cast("Body", self.of({**body, "scene": None} if is_theirs else body, ""))
        if is_dialogue and (is_theirs or rest["messages"] != body["messages"]):
            scenes = [line["scene"] for line in rest["messages"] if _has_person(line)]
            return {**rest, "scene": scenes[-1] if is_theirs else rest["scene"]} if scenes else None
        return rest

    def is_theirs(self, item: object) -> bool:
        """Return whether a turn, a line or a scene is of the person, in whichever form."""
        if not self.user_id or not isinstance(item, dict):
            return False
        fields = cast("Body", item)
        return self.user_id in _owners(fields) or self.is_theirs(fields.get("scene"))

    def of(self, value: object, key: str) -> object:
        """Return what stands under a key without them."""
        if isinstance(value, str):
            return self.hide(value) if not (key.endswith("id") and value == self.user_id) else sentences.somebody()
        if isinstance(value, dict):
            return self._fields(cast("Body", value))
        if isinstance(value, list):
            return [self.of(item, key) for item in cast("list[object]", value) if not self._goes(item, key)]
        is_their_number = isinstance(value, int) and str(value) == self.user_id and len(self.user_id) >= LONG_ID
        return sentences.somebody() if is_their_number else value

    def _fields(self, fields: Body) -> Body:
        kept = _KEPT | _NAMES if _owners(fields) else _KEPT
        return {
            key if key in _KNOWN else self.hide(key): value if key in kept else self.of(value, key)
            for key, value in fields.items()
            if not self.is_theirs(value)
        }

    def _goes(self, item: object, key: str) -> bool:
        if isinstance(item, str):
            return key in ("recent_messages", "messages") and is_said_by_hidden(item, self.hide)
        return self.is_theirs(item)


def _owners(fields: Body) -> list[str]:
    """Return who is named as the person of a turn, line or scene."""
    return [str(fields[key]) for key, _ in _BEARERS if fields.get(key)]


def _is_group_dialogue(body: Body) -> bool:
    """Return whether several people speak in a job."""
    scene = body.get("scene")
    is_group = isinstance(scene, dict) and cast("Body", scene).get("kind") == "group"
    return is_group and body.get("kind") == "dialogue" and isinstance(body.get("messages"), list)


def _has_person(line: object) -> bool:
    if not isinstance(line, dict):
        return False
    fields = cast("Body", line)
    return not fields.get("is_bot") and isinstance(fields.get("scene"), dict)


def _is_summary_of(row: object, memo_ids: Collection[str], place: Scope) -> bool:
    """Decide by ids alone: several people may share a name."""
    if not isinstance(row, dict):
        return False
    fields = cast("Body", row)
    location = fields.get("location")
    kind, name = ("", "")
    if isinstance(location, dict):
        kind, name = (str(cast("Body", location).get(key)) for key in ("type", "name"))
    return (kind == place.kind and name == place.place_id) or str(fields.get("id")) in memo_ids


def _makes_sense(body: Body) -> bool:
    try:
        codec.job_of(body, "0", _SOME_TIME)
    except PermanentError:
        return False
    return True


def _mended(data: bytes) -> object:
    """Read JSON also as editors leave it: in another encoding, with a comma too many; None when it is none."""
    for text in (None, *_texts_of(data)):
        for form in (data,) if text is None else (text.encode(), _LAST_COMMA.sub(r"\1", text).encode()):
            try:
                return codec.json_of(form)
            except PermanentError:
                continue
    return None


def _texts_of(data: bytes) -> Iterator[str]:
    """Return what bytes say in the encodings that they can be of, the likeliest first."""
    has_halves = b"\x00" in data[:_LOOKED_AT] or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-8", *(_UTF_16 if has_halves else ("gb18030",))):
        try:
            yield data.decode(encoding).removeprefix("\ufeff")
        except ValueError:
            continue


def _hidden_in_text(data: bytes, memo_ids: Collection[str], place: Scope, hide: Hide) -> bytes | None:
    """Hide in what is a text and no list; what holds a memo that must go, or cannot be decoded, goes as a whole."""
    place_id = place.place_id

    def hidden(text: str) -> str:
        return hide(_without_id(place_id, text))

    going = {place_id, *memo_ids}
    if not _tells(data, place_id, hidden) and not any(going & _quoted(text) for text in _readings(data)):
        return None
    texts = [_ESCAPED.sub(_unescaped, text) for text in (*_texts_of(data), *_torn_text(data))]
    text = next((text for text in texts if hide(text) != text), None)  # in other encodings the same bytes say nothing
    if text is None or going & _quoted(text):
        return b""
    rest = codec.writable_text(hide(text)).encode()
    return b"" if _tells(rest, place_id, hidden) else rest


def _quoted(text: str) -> set[str]:
    return set(_QUOTED.findall(text))


def _torn_text(data: bytes) -> Iterator[str]:
    """Return the text of bytes that were cut off inside a character."""
    text = data.decode("utf-8", "replace")
    if text.count("\ufffd") <= TORN * len(text):
        yield text


def _unescaped(match: re.Match[str]) -> str:
    """Write a character out, but for those that JSON must escape."""
    char = chr(int(match[1], 16))
    return char if char.isprintable() and char not in _QUOTING else match[0]


def _may_tell(data: bytes, user_id: str, hide: Hide) -> bool:
    """Return whether a job must be parsed, by a fast look: escaped text could be anything."""
    text = data.decode("utf-8", "replace")
    return any(char in text for char in "\\\ufffd\0") or user_id in text or hide(text) != text


def _tells(data: bytes, identifier: str, hide: Hide) -> bool:
    """Return whether bytes that nobody can read as a job hold the id or what is to be hidden."""
    return any(f'"{identifier}"' in text or hide(text) != text for text in _readings(data))


def _readings(data: bytes) -> Iterator[str]:
    """Return what bytes may say: as UTF-8, or where they are none in every encoding; escapes resolved."""
    try:
        texts = [data.decode("utf-8")]
    except UnicodeDecodeError:
        texts = [data.decode(encoding, "replace") for encoding in _ENCODINGS]
    for text in texts:
        yield codec.writable_text(_ESCAPED.sub(lambda match: chr(int(match[1], 16)), text))


def _without_id(identifier: str, text: str) -> str:
    """Leave an id out that is long enough to be no count."""
    found = rf"(?<![0-9A-Za-z]){re.escape(identifier)}(?![0-9A-Za-z])"
    return re.sub(found, "", text) if len(identifier) >= LONG_ID else text


def _borne(value: object, user_id: str) -> Iterator[str]:
    if isinstance(value, dict):
        fields = cast("Body", value)
        yield from (str(fields[name]) for key, name in _BEARERS if str(fields.get(key)) == user_id and fields.get(name))
        for inner in fields.values():
            yield from _borne(inner, user_id)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _borne(inner, user_id)
