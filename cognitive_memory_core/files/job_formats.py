"""The formats of job files: version 1, and the flat format of an older system.

Version 1 has the fields of :class:`JobHead` and those of the turn or dialogue in one object. The flat format is
converted to version 1 before it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, cast

from pydantic import AwareDatetime, BaseModel, BeforeValidator, TypeAdapter

from .. import sentences
from ..domain.iso_times import datetime_of
from ..domain.job import Job
from ..domain.scope import DEFAULT_AGENT
from ..domain.turn import Dialogue, Turn, TurnLimits
from ..errors import BadArgument

VERSION = 1
SEED_ZONE = timezone(timedelta(hours=8))  # local times of seed 001 are of Asia/Shanghai
Body = dict[str, Any]  # a JSON object, before it is a Job
_TURN, _DIALOGUE = TypeAdapter(Turn), TypeAdapter(Dialogue)
_EARLIER_NAMES = {"memo": ("action_summary", "end_summary"), "observations": ("new_info",)}
_DIALOGUE_FIELDS: tuple[str, ...] = ("messages",)  # in every file of a dialogue
_TURN_FIELDS = ("memo", "observations", "message_ids")  # in every file of a turn
_LISTS = ("observations", "message_ids")
_SEED_TIMES = ("timestamp_local", "timestamp_utc", "timestamp_epoch", "timestamp")  # the first that can be read counts


def written_job(job: Job) -> Body:
    """Return a job as an object of version 1; its values are not yet converted to JSON types."""
    kind = "turn" if isinstance(job.work, Turn) else "dialogue"
    head = {"schema_version": VERSION, "id": job.id, "kind": kind, "accepted_at": job.accepted_at}
    return {**head, "trimmed": job.trimmed, **vars(job.work)}


def written_instant(instant: datetime) -> str:
    """Return an instant in ISO 8601; one whose offset has seconds is converted to UTC."""
    offset = instant.utcoffset() or timedelta()
    return (instant.astimezone(timezone.utc) if offset % timedelta(minutes=1) else instant).isoformat()


def read_job(body: Mapping[str, Any], job_id: str, arrived_at: datetime) -> Job:
    """Return the job of an object of any version; ``arrived_at`` is used if it states no time of acceptance."""
    if "scene" not in body:
        return _read_seed(body, job_id, arrived_at)
    _refuse_contradiction(body)
    head, fields = (
        JobHead.model_validate(_non_null_fields(body)),
        {**_currently_named(body), "scene": _scene(body["scene"])},
    )
    lines = "messages" if body.get("kind") == "dialogue" else "recent_messages"
    if isinstance(fields.get(lines), list):
        fields[lines] = [_line(item) for item in cast("list[object]", fields[lines])]
    work = (_DIALOGUE if lines == "messages" else _TURN).validate_python(fields)
    return Job(job_id, work, head.accepted_at or arrived_at, head.trimmed)


def _refuse_contradiction(body: Mapping[str, Any]) -> None:
    """Raise BadArgument if a file of this program contradicts itself or lacks a field, because it is damaged then."""
    scene: Any = body["scene"]
    if not isinstance(scene, dict) or "scope" not in scene:
        return
    if contradicts_itself(cast("Body", scene)):
        raise BadArgument(sentences.caller.bad_value("scene.scope", cast("Body", scene)["scope"], "这个 scene 的地点"))
    required = _DIALOGUE_FIELDS if body.get("kind") == "dialogue" else _TURN_FIELDS
    lacking = [name for name in required if name not in body]
    if lacking:
        raise BadArgument(sentences.caller.bad_value(lacking[0], None, "文本或列表"))


def contradicts_itself(scene: Mapping[str, Any]) -> bool:
    """Return whether a scene's ``scope`` differs from its other fields; False if there is no ``scope``.

    Other programs write scenes without one.
    """
    if "scope" not in scene:
        return False
    place_id = scene.get("group_id" if scene.get("kind") == "group" else "user_id")
    return scene["scope"] != {"agent": scene.get("agent"), "kind": scene.get("kind"), "place_id": place_id}


def _read_seed(body: Mapping[str, Any], job_id: str, arrived_at: datetime) -> Job:
    """Build the job of the flat format, cut to the usual size limits, because the older system had none.

    The speaker is ``sender_id``, or ``user_id`` if that is missing; an id of 0 means nobody.
    """
    fields, seed = _currently_named(body), {name: _as_text(value or "") for name, value in body.items()}
    fields["scene"] = {
        "kind": "private",
        "agent": DEFAULT_AGENT,
        "user_id": seed.get("sender_id") or seed.get("user_id", ""),
        "user_name": seed.get("sender_name") or seed.get("user_name", ""),
    }
    if seed.get("group_id") and seed.get("request_type") != "private":
        fields["scene"] |= {"kind": "group", "group_id": seed["group_id"], "group_name": seed.get("group_name", "")}
    fields["message_ids"] = [one for one in _as_list(fields.get("message_ids")) if one]
    fields["recent_messages"] = _as_list(fields.get("recent_messages"))
    times = (_SEED_INSTANT.validate_python(body.get(name)) for name in _SEED_TIMES)
    fields["happened_at"] = happened_at = next(filter(None, times), None)
    bounded, trimmed = _TURN.validate_python(fields).within(TurnLimits())
    return Job(job_id, bounded, happened_at or arrived_at, trimmed)


def _currently_named(body: Mapping[str, Any]) -> Body:
    """Return the fields of a turn or dialogue under their current names, and single texts as lists where required."""
    fields = _non_null_fields(body)
    for name, earlier in _EARLIER_NAMES.items():
        said = next((fields[one] for one in (name, *earlier) if one in fields), None)
        if said is not None:
            fields[name] = said
    return fields | {name: _as_list(fields[name]) for name in _LISTS if name in fields}


def _line(value: object) -> object:
    if not isinstance(value, dict):
        return value
    line = _non_null_fields(cast("Body", value))
    return {**line, "scene": _scene(line.get("scene")), "reply_to": line.get("reply_to") or None}


def _scene(value: object) -> object:
    if not isinstance(value, dict):
        return value
    scene = {"agent": DEFAULT_AGENT, **_non_null_fields(cast("Body", value))}
    return {**scene, "group_id": ""} if scene.get("kind") == "private" else scene


def _non_null_fields(body: Mapping[str, Any]) -> Body:
    """Return the fields that are not null, with numbers converted to texts."""
    return {name: _as_text(value) for name, value in body.items() if value is not None}


def _as_text(value: object) -> object:
    """Return a number as a text, because other programs write ids and names as numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _as_list(value: object) -> Any:
    """Return a list of texts: a single text becomes a list of one, and a missing value an empty list."""
    items = [value] if isinstance(value, str) else value or []
    return [_as_text(item) for item in cast("list[object]", items)] if isinstance(items, list) else items


def _as_seed_instant(value: object) -> object:
    """Return the instant of a text, in the zone of the older system if it names none; None if it is not a time."""
    if not isinstance(value, str) or value.isdigit():
        return value
    try:
        instant = datetime_of(value)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=SEED_ZONE)


SeedInstant = Annotated[AwareDatetime | None, BeforeValidator(_as_seed_instant)]
_SEED_INSTANT: TypeAdapter[datetime | None] = TypeAdapter(SeedInstant)


class JobHead(BaseModel):
    """The fields of a job's JSON object other than those of its turn or dialogue."""

    accepted_at: AwareDatetime | None = None
    trimmed: bool = False


class FailureFile(BaseModel):
    """The fields that are added to the file of a buried job."""

    error: str = ""
    failed_at: SeedInstant = None
