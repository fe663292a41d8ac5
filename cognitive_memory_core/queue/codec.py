"""Encodes and decodes jobs. An existing file is only renamed or patched, so that fields of other versions survive."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, cast

import orjson
from pydantic import AwareDatetime, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from .. import sentences
from ..disk import MAX_BYTES
from ..domain.instants import datetime_of
from ..domain.job import FailedJob, Job
from ..domain.message import Message
from ..domain.notes import Memo
from ..domain.scope import DEFAULT_AGENT, Scene, Scope
from ..domain.turn import Dialogue, Turn, TurnLimits
from ..errors import BadArgument, LimitReached, PermanentError
from ..text.cleaning import one_line, writable_text

SUFFIX = ".json"
INSTANT_WIDTH = 17  # sixteen digits and a hyphen
LATEST = 9_000_000_000_000_000  # microseconds, the year 2255: later values are invalid
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
JOB_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")  # valid in a file name on every system
_OURS = re.compile(r"([0-9]{16})-([0-9A-Za-z_-]{1,64})\.(0|[1-9][0-9]{0,5})\.json")


class JobName(NamedTuple):
    """The fields of a job that its file name encodes, each name in one way."""

    instant: int
    job_id: str
    attempts: int

    def __str__(self) -> str:
        return f"{self.instant:016d}-{self.job_id}.{self.attempts}{SUFFIX}"


def parsed(name: str) -> JobName | None:
    """Parse a file name of this queue; None for any other."""
    match = _OURS.fullmatch(name)
    if match is None or int(match[1]) > LATEST:
        return None
    return JobName(int(match[1]), match[2], int(match[3]))


def microseconds(instant: datetime) -> int:
    """Return an instant as microseconds since 1970, clamped to [0, :data:`LATEST`]."""
    return min(max((instant - _EPOCH) // _MICROSECOND, 0), LATEST)


def moment(instant: int) -> datetime:
    """Return the instant of microseconds since 1970."""
    return _EPOCH + instant * _MICROSECOND


VERSION = 1
OLDER_ZONE = timezone(timedelta(hours=8))  # local times of the older system are of Asia/Shanghai
Body = dict[str, Any]  # a JSON object, before it is a Job
_adapter = lru_cache(TypeAdapter[Turn | Dialogue])  # built for the first job, too
_EARLIER_NAMES = {"memo": ("action_summary", "end_summary"), "observations": ("new_info",)}
_REQUIRED = {"dialogue": ("messages",), "turn": ("memo", "observations", "message_ids")}  # in every file, by its kind
_LISTS = ("observations", "message_ids", "recent_messages")
_OLDER_TIMES = ("timestamp_local", "timestamp_utc", "timestamp_epoch", "timestamp")  # the first that can be read counts


def written_instant(instant: datetime) -> str:
    """Return an instant in ISO 8601; one whose offset has seconds is converted to UTC."""
    offset = instant.utcoffset() or timedelta()
    return (instant.astimezone(timezone.utc) if offset % timedelta(minutes=1) else instant).isoformat()


def _refuse_contradiction(body: Mapping[str, Any], scene: Body) -> None:
    """Raise BadArgument if a file of this program contradicts itself or lacks a field, because it is damaged then."""
    place_id = scene.get("group_id" if scene.get("kind") == "group" else "user_id")
    if scene["scope"] != {"agent": scene.get("agent"), "kind": scene.get("kind"), "place_id": place_id}:
        raise BadArgument(sentences.caller.bad_value("scene.scope", scene["scope"], "这个 scene 的地点"))
    for name in _REQUIRED["dialogue" if body.get("kind") == "dialogue" else "turn"]:
        if name not in body:
            raise BadArgument(sentences.caller.bad_value(name, None, "文本或列表"))


def _foreign(body: Mapping[str, Any]) -> Body:
    """Return the fields of another program's or an older version's file under their current names.

    In the older system's flat format the speaker is ``sender_id``, or ``user_id`` if that is missing; an id of 0 means
    nobody.
    """
    fields = cast("Body", _as_ours(body))
    for name, earlier in _EARLIER_NAMES.items():
        said = next((fields[one] for one in (name, *earlier) if one in fields), None)
        if said is not None:
            fields[name] = said
    for name in _LISTS:
        if isinstance(fields.get(name), str):
            fields[name] = [fields[name]] if fields[name] else []
    if "scene" in body:
        if isinstance(fields.get("scene"), dict):
            fields["scene"] = {"agent": DEFAULT_AGENT, **fields["scene"]}
        return fields
    older = {name: value for name, value in fields.items() if value not in ("", "0")}
    fields["scene"] = {
        "kind": "private",
        "agent": DEFAULT_AGENT,
        "user_id": older.get("sender_id") or older.get("user_id", ""),
        "user_name": older.get("sender_name") or older.get("user_name", ""),
    }
    if older.get("group_id") and older.get("request_type") != "private":
        fields["scene"] |= {"kind": "group", "group_id": older["group_id"], "group_name": older.get("group_name", "")}
    if isinstance(ids := fields.get("message_ids"), list):
        fields["message_ids"] = [one for one in cast("list[object]", ids) if one not in ("", "0")]
    times = (_OLDER_INSTANT.validate_python(body.get(name)) for name in _OLDER_TIMES)
    return {**fields, "kind": "turn", "happened_at": next(filter(None, times), None)}


def _as_ours(value: object) -> object:
    """Return JSON without nulls, and with numbers as texts, because other programs write ids and names as numbers."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return {name: _as_ours(one) for name, one in fields.items() if one is not None}
    if isinstance(value, list):
        return [_as_ours(one) for one in cast("list[object]", value)]
    return str(value) if type(value) is int else value


def _as_seed_instant(value: object) -> object:
    """Return the instant of a text, in the zone of the older system if it names none; None if it is not a time."""
    if not isinstance(value, str) or value.isdigit():
        return value
    try:
        instant = datetime_of(value)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=OLDER_ZONE)


SeedInstant = Annotated[AwareDatetime | None, BeforeValidator(_as_seed_instant)]
_LATE = ConfigDict(defer_build=True)  # built for the first job: an opening need not wait for it
_OLDER_INSTANT: TypeAdapter[datetime | None] = TypeAdapter(SeedInstant, config=_LATE)


ERROR_LENGTH = 500
_DEEPEST = 64
HOLDERS = ("message_ids", "recent_messages", "messages")  # keys under which a job keeps messages or their ids
_OWN = ("message_ids", "messages")  # keys of the messages that a job learns from; the others are context
_UNLABELLED: Body = {"observations": [], "source_message": "", "recent_messages": [], "message_ids": [], "messages": []}
_SECRET = re.compile(
    r"""(?i)(?:\b(?:api[_-]?key|authorization|password|secret|token)["']?\s?[=:]\s?["']?(?:bearer\s)?|\bbearer\s|\bsk-)"""
    r"""[^\s"',;]+"""
)
_BOM = b"\xef\xbb\xbf"  # written by Windows editors


def encoded(job: Job, beside: Mapping[str, object] = MappingProxyType({})) -> bytes:
    """Encode a job with further fields, which win over its own; unencodable characters become U+FFFD.

    Raises LimitReached if the file would be too large to read.
    """
    kind = "turn" if isinstance(job.work, Turn) else "dialogue"
    head = {"schema_version": VERSION, "id": job.id, "kind": kind, "accepted_at": job.accepted_at}
    body = {**head, **vars(job.work), **beside}
    dumped = partial(orjson.dumps, default=written_instant, option=orjson.OPT_PASSTHROUGH_DATETIME)
    try:
        data = dumped(body)
    except orjson.JSONEncodeError:
        data = dumped(_writable(body))
    if len(data) > MAX_BYTES:
        raise LimitReached(sentences.storage_errors.JOB_TOO_LARGE.format(size=len(data), limit=MAX_BYTES))
    return data


def body_of(data: bytes) -> Body:
    """Parse a job file's object; raises PermanentError with a one-line reason if there is none."""
    body = json_of(data)
    if not isinstance(body, dict):
        raise _not_understood(sentences.storage_errors.NOT_AN_OBJECT)
    return cast("Body", body)


def json_of(data: bytes) -> object:
    """Parse JSON of bounded depth; raises PermanentError for anything else."""
    try:
        value: object = orjson.loads(data.removeprefix(_BOM))
    except orjson.JSONDecodeError as error:
        raise _not_understood(error) from None
    if data.count(b"{") + data.count(b"[") > _DEEPEST and _is_too_deep(value):
        raise _not_understood(sentences.storage_errors.TOO_DEEP)
    return value


def job_of(body: Mapping[str, Any], job_id: str, arrived_at: datetime) -> Job:
    """Build the job from a file's object and the id in the file name; raises PermanentError for an invalid object.

    ``arrived_at`` is used if the object states no time of acceptance.
    """
    version = body.get("schema_version")
    if isinstance(version, int) and version > VERSION:
        raise _not_understood(sentences.storage_errors.NEWER_VERSION.format(version=version))
    try:
        scene, fields = body.get("scene"), body
        if isinstance(scene, dict) and "scope" in scene:
            _refuse_contradiction(body, cast("Body", scene))
        else:
            fields = _foreign(body)
        accepted_at = _OLDER_INSTANT.validate_python(fields.get("accepted_at")) or arrived_at
        work = _adapter(Dialogue if fields.get("kind") == "dialogue" else Turn).validate_python(fields)
        if "scene" in body:
            return Job(job_id, work, accepted_at)
        bounded = work.within(TurnLimits())  # the older system had no limits
        return Job(job_id, bounded, fields["happened_at"] or arrived_at)
    except ValidationError as refused:
        first = refused.errors(include_url=False)[0]
        reason = sentences.settings.refusal(first["type"], first.get("ctx", {}))
        where = ".".join(str(part) for part in first["loc"])
        raise _not_understood(f"{where}：{reason}" if where else reason) from None
    except BadArgument as refused:
        raise _not_understood(refused) from None


def label_of(body: Mapping[str, Any], job_id: str, arrived_at: datetime) -> tuple[Scope, Memo | None]:
    """Read only what the index keeps; the rest of the object is validated when the job is claimed."""
    job = job_of({**body, **_UNLABELLED}, job_id, arrived_at)
    return job.scope, job.memo


def buried(body: Body, error: str, failed_at: datetime) -> bytes:
    """Encode a failed job: its object, to which its error is added, on one line and with secrets removed."""
    said = one_line(_SECRET.sub("…", error), ERROR_LENGTH)
    return orjson.dumps({**body, "error": said, "failed_at": written_instant(failed_at)})


def failure_of(body: Mapping[str, Any], job_id: str, attempts: int, moved_at: datetime) -> FailedJob:
    """Read a failed job's object; ``moved_at`` is used if the file states no time."""
    said, failed_at = body.get("error"), moved_at
    error = one_line(said, ERROR_LENGTH) if isinstance(said, str) else ""
    with suppress(ValidationError):
        failed_at = _OLDER_INSTANT.validate_python(body.get("failed_at")) or moved_at
    try:
        job = job_of(body, job_id, moved_at)
    except PermanentError as unreadable:
        return FailedJob(job_id, error or str(unreadable), attempts, failed_at)
    return FailedJob(job_id, error or sentences.storage_errors.REASON_UNKNOWN, attempts, failed_at, job)


def learned_from(body: Body) -> set[str]:
    """Return the ids of the messages that a job learns from: those of a turn, or the lines of a dialogue."""
    held = [(key, item) for key in _OWN if isinstance(body.get(key), list) for item in body[key]]
    return {found for key, item in held if (found := id_in(item, key))}


def id_in(item: object, key: str) -> str | None:
    """Return the id of a message that a job keeps under a key; None if it has none."""
    if key == "message_ids":
        return str(item)
    return str(cast("Body", item).get("id")) if isinstance(item, dict) else None


def _writable(value: object) -> object:
    if isinstance(value, str):
        return writable_text(value)
    if isinstance(value, dict):
        return {key: _writable(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_writable(item) for item in cast("Sequence[object]", value)]
    return _writable(vars(value)) if isinstance(value, Message | Scene) else value


def _is_too_deep(value: object, levels: int = _DEEPEST) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = cast("Body", value).values() if isinstance(value, dict) else cast("list[object]", value)
    return levels == 0 or any(_is_too_deep(item, levels - 1) for item in inner)


def _not_understood(reason: object) -> PermanentError:
    return PermanentError(one_line(sentences.storage_errors.JOB_NOT_UNDERSTOOD.format(reason=reason), ERROR_LENGTH))
