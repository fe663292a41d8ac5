"""Jobs to bytes and back. A file once written is only renamed or patched, so fields of other versions survive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from itertools import product
from types import NoneType
from typing import Any, NamedTuple, cast

import orjson
from pydantic import ValidationError

from ... import sentences
from ...domain.interval import checked_instant
from ...domain.job import FailedJob, Job
from ...domain.message import Message
from ...domain.note import Memo
from ...domain.scope import Scope
from ...domain.turn import Dialogue, Turn
from ...errors import BadArgument, LimitReached, PermanentError
from ...text.identity.names import one_line
from .disk import MAX_BYTES
from .marks import Marks, marks_of
from .schema import VERSION, FailureFile, form_of, written_instant, written_job

ERROR_LENGTH = 500
Body = dict[str, Any]  # a JSON object, before it is a Job
_DEEPEST = 64
_HOLDERS = ("message_ids", "recent_messages", "messages")  # where a job's object keeps messages or their ids
_OWN = ("message_ids", "messages")  # the rest of them only gives these their sense
_UNLABELLED: Body = {"observations": [], "source_message": "", "recent_messages": [], "message_ids": [], "messages": []}
_SECRET = re.compile(
    r"""(?i)(?:\b(?:api[_-]?key|authorization|password|secret|token)["']?\s?[=:]\s?["']?(?:bearer\s)?|\bbearer\s|\bsk-)"""
    r"""[^\s"',;]+"""
)
_WRITTEN = ("schema_version", "scene", "trimmed", "accepted_at")  # what an index reads, and of which types it is
_WRITTEN_IN_TURNS = (*_WRITTEN, "memo", "force", "perspective", "request_id", "happened_at")
_SHAPES = frozenset(
    {
        (int, dict, bool, str),
        *((int, dict, bool, str, str, bool, *optional) for optional in product((str, NoneType), repeat=3)),
    }
)
_WRITTEN_SCENE = ("kind", "agent", "group_id", "user_id", "user_name", "group_name")
_TEXTS_ONLY = (str,) * len(_WRITTEN_SCENE)
_PLAIN_ID = re.compile(r"[!-~]{1,128}")
_INSTANTS = ("happened_at", "accepted_at")  # in the order in which they tell when a memo was made
_BOM = b"\xef\xbb\xbf"  # editors on Windows put it before what an operator edits by hand


def encoded(job: Job) -> bytes:
    """Write a job; what no UTF-8 text can hold becomes U+FFFD. LimitReached when nobody could read it back."""
    body = written_job(job)
    try:
        data = orjson.dumps(body)
    except orjson.JSONEncodeError:
        data = orjson.dumps(_writable(body))
    if len(data) > MAX_BYTES:
        raise LimitReached(sentences.job_too_large(len(data), MAX_BYTES))
    return data


def body_of(data: bytes) -> Body:
    """Read the object of a job's file; PermanentError with a reason of one line when there is none."""
    body = json_of(data)
    if not isinstance(body, dict):
        raise _not_understood(sentences.not_an_object())
    return cast("Body", body)


def json_of(data: bytes) -> object:
    """Read JSON of bounded depth, which can be written again; PermanentError when it is none."""
    try:
        value: object = orjson.loads(data.removeprefix(_BOM))
    except orjson.JSONDecodeError as error:
        raise _not_understood(error) from None
    if data.count(b"{") + data.count(b"[") > _DEEPEST and _is_too_deep(value):
        raise _not_understood(sentences.too_deep())
    return value


def job_of(body: Mapping[str, Any], job_id: str, arrived_at: datetime) -> Job:
    """Make the job of a file's object; its id stands in the file's name. PermanentError when it makes none."""
    version = body.get("schema_version")
    if isinstance(version, int) and version > VERSION:
        raise _not_understood(sentences.newer_version(version))
    try:
        return form_of(body).model_validate(body).job(job_id, arrived_at)
    except ValidationError as refused:
        raise _not_understood(_first_reason(refused)) from None
    except BadArgument as refused:
        raise _not_understood(refused) from None


class Label(NamedTuple):
    """What an index wants to know of a job."""

    scope: Scope
    memo: Memo | None
    message_ids: Marks


def label_of(body: Mapping[str, Any], job_id: str, arrived_at: datetime) -> Label:
    """Read only what an index wants to know of a job; all else is looked at when it is claimed."""
    marks = marks_of(held for key in _HOLDERS for item in _items(body, key) if (held := _id_in(item, key)) is not None)
    label = _label_as_written(body, job_id)
    if label is None:
        job = job_of({**body, **_UNLABELLED}, job_id, arrived_at)
        label = _shared(job.scope), memo_of(job)
    return Label(*label, marks)


def _label_as_written(body: Mapping[str, Any], job_id: str) -> tuple[Scope, Memo | None] | None:
    """Label an object that is written as :func:`encoded` writes it: most of a long queue is, and this costs a fifth.

    None for any other object: the full reading decides on it.
    """
    is_dialogue = body.get("kind") == "dialogue"
    if _types(body, _WRITTEN if is_dialogue else _WRITTEN_IN_TURNS) not in _SHAPES or body["schema_version"] != VERSION:
        return None
    scene: Body = body["scene"]
    if _types(scene, _WRITTEN_SCENE) != _TEXTS_ONLY or scene["kind"] not in ("group", "private"):
        return None
    place_id = scene["group_id" if scene["kind"] == "group" else "user_id"]
    if not all(map(_PLAIN_ID.fullmatch, (scene["agent"], place_id, scene["user_id"]))):
        return None
    try:
        instants = [checked_instant(datetime.fromisoformat(body[key]), key) for key in _INSTANTS if body.get(key)]
    except (BadArgument, ValueError):
        return None
    scope, text = _shared(Scope(scene["agent"], scene["kind"], place_id)), "" if is_dialogue else body["memo"].strip()
    return scope, Memo(job_id, scope, text, _plain(instants[0]), scene["user_id"]) if text else None


def _types(fields: Mapping[str, Any], keys: Sequence[str]) -> tuple[type, ...]:
    return tuple(map(type, map(fields.get, keys)))


def _items(body: Mapping[str, Any], key: str) -> list[Any]:
    items = body.get(key)
    return cast("list[Any]", items) if isinstance(items, list) else []


def message_ids_of(work: Turn | Dialogue) -> Marks:
    """Mark the messages that :func:`without_message` would find in the work's file."""
    if isinstance(work, Dialogue):
        return marks_of(writable_text(line.id) for line in work.messages)
    held = [line.id for line in work.recent_messages if isinstance(line, Message)]
    return marks_of(writable_text(message_id) for message_id in (*work.message_ids, *held))


def memo_of(job: Job) -> Memo | None:
    """Return the memo that waits in a job; its id is the job's."""
    if not isinstance(job.work, Turn) or not job.work.memo:
        return None
    return Memo(
        job.id, _shared(job.scope), writable_text(job.work.memo), _plain(job.happened_at), job.work.scene.user_id
    )


@lru_cache(maxsize=4096)
def _shared(scope: Scope) -> Scope:
    """Return one object for equal scopes: each object of a long backlog holds up the loop when garbage is collected."""
    return scope


def _plain(instant: datetime) -> datetime:
    """Return the instant with a zone that is no garbage collector's business, unlike those of pydantic."""
    offset = instant.utcoffset()
    return instant if offset is None else instant.replace(tzinfo=timezone(offset))


def buried(body: Body, error: str, failed_at: datetime) -> bytes:
    """Write the object of a failed job: as it was, with its error in one line that shows no key."""
    said = one_line(_SECRET.sub("…", error), ERROR_LENGTH)
    return packed({**body, "error": said, "failed_at": written_instant(failed_at)})


def packed(body: Body) -> bytes:
    """Write an object that :func:`body_of` has read, with all its fields."""
    return orjson.dumps(body)


def failure_of(body: Mapping[str, Any], job_id: str, attempts: int, moved_at: datetime) -> FailedJob:
    """Read the object of a failed job; ``moved_at`` stands in for a time that nobody wrote down."""
    try:
        written = FailureFile.model_validate(body)
    except ValidationError:
        written = FailureFile()
    error, failed_at = one_line(written.error, ERROR_LENGTH), written.failed_at or moved_at
    try:
        job = job_of(body, job_id, moved_at)
    except PermanentError as unreadable:
        return FailedJob(job_id, error or str(unreadable), attempts, failed_at)
    return FailedJob(job_id, error or sentences.reason_unknown(), attempts, failed_at, job)


def without_message(body: Body, message_id: str) -> Body | None:
    """Take a withdrawn message out of a job's object; None when nothing that a person said is left of the job."""
    held = {key: _items(body, key) for key in _HOLDERS if isinstance(body.get(key), list)}
    kept = {key: [item for item in items if _id_in(item, key) != message_id] for key, items in held.items()}
    lost = {key: items for key, items in kept.items() if items != held[key]}
    is_emptied = lost.get("message_ids") == [] or not any(map(_is_of_a_person, lost.get("messages", [{}])))
    return None if is_emptied else {**body, **lost}


def learned_from(body: Body) -> Iterable[str]:
    """List the messages that a job's object names as its own: those of a turn, or the lines of a dialogue."""
    for key in _OWN:
        items = body.get(key)
        if isinstance(items, list):
            yield from filter(None, (_id_in(item, key) for item in cast("list[object]", items)))


def _id_in(item: object, key: str) -> str | None:
    if key == "message_ids":
        return str(item)
    return str(cast("Body", item).get("id")) if isinstance(item, dict) else None


def _is_of_a_person(line: object) -> bool:
    return isinstance(line, dict) and not cast("Body", line).get("is_bot")


def _writable(value: object) -> object:
    if isinstance(value, str):
        return writable_text(value)
    if isinstance(value, dict):
        return {key: _writable(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_writable(item) for item in cast("Sequence[object]", value)]
    return value


def writable_text(text: str) -> str:
    """Join halves of characters that belong together, and replace those that stand alone."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [item for outer in level for item in _inner(outer)]
        if not level:
            return False
    return True


def _inner(outer: object) -> list[object]:
    """Return the lists and objects right inside one."""
    items: Iterable[object] = ()
    if isinstance(outer, dict):
        items = cast("Body", outer).values()
    elif isinstance(outer, list):
        items = cast("list[object]", outer)
    return [item for item in items if isinstance(item, dict | list)]


def _first_reason(refused: ValidationError) -> str:
    first = refused.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}：{sentences.refusal(first['type'], first.get('ctx', {}))}"


def _not_understood(reason: object) -> PermanentError:
    return PermanentError(one_line(sentences.job_not_understood(reason), ERROR_LENGTH))
