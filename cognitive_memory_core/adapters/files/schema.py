"""The formats of job files: version 1, and the flat format of the system that seeds 000 and 001 describe."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from ...domain.job import Job
from ...domain.message import Message
from ...domain.scope import DEFAULT_AGENT, Scene, SceneKind
from ...domain.turn import Dialogue, Turn, TurnLimits

VERSION = 1
SEED_ZONE = timezone(timedelta(hours=8))  # seed 001 writes local times in Asia/Shanghai


def form_of(body: Mapping[str, Any]) -> type[TurnFile | DialogueFile | SeedFile]:
    """Return the format in which a job's object is written."""
    if "scene" not in body:
        return SeedFile
    return DialogueFile if body.get("kind") == "dialogue" else TurnFile


def written_job(job: Job) -> dict[str, object]:
    """Return a job as a version 1 object."""
    kind = "turn" if isinstance(job.work, Turn) else "dialogue"
    head = {"schema_version": VERSION, "id": job.id, "kind": kind, "accepted_at": written_instant(job.accepted_at)}
    work = _written_turn(job.work) if isinstance(job.work, Turn) else _written_dialogue(job.work)
    return {**head, "trimmed": job.trimmed, "scene": _written_scene(job.work.scene), **work}


def written_instant(instant: datetime) -> str:
    """Return an instant in ISO 8601; one whose offset has odd seconds, as old calendars have, is converted to UTC."""
    offset = instant.utcoffset() or timedelta()
    return (instant.astimezone(timezone.utc) if offset % timedelta(minutes=1) else instant).isoformat()


def _written_turn(turn: Turn) -> dict[str, object]:
    return {
        "memo": turn.memo,
        "observations": tuple(turn.observations),
        "perspective": None if turn.perspective is None else str(turn.perspective),
        "force": bool(turn.force),
        "source_message": turn.source_message,
        "recent_messages": [line if isinstance(line, str) else _written_line(line) for line in turn.recent_messages],
        "message_ids": tuple(turn.message_ids),
        "request_id": None if turn.request_id is None else str(turn.request_id),
        "happened_at": None if turn.happened_at is None else written_instant(turn.happened_at),
    }


def _written_dialogue(dialogue: Dialogue) -> dict[str, object]:
    return {"messages": [_written_line(line) for line in dialogue.messages]}


def _written_line(line: Message) -> dict[str, object]:
    return {
        "id": line.id,
        "scene": _written_scene(line.scene),
        "text": line.text,
        "sent_at": written_instant(line.sent_at),
        "reply_to": line.reply_to,
        "is_bot": line.is_bot,
        "addressed_to_bot": line.addressed_to_bot,
    }


def _written_scene(scene: Scene) -> dict[str, str]:
    return {
        "kind": scene.kind,
        "agent": scene.agent,
        "group_id": scene.group_id,
        "user_id": scene.user_id,
        "user_name": scene.user_name,
        "group_name": scene.group_name,
    }


def _as_text(value: object) -> object:
    """Convert a number to an id or name, and None or False to ""."""
    if value is None or value is False:
        return ""
    return str(value) if isinstance(value, int) else value


def _as_texts(value: object) -> object:
    """Convert a single text to a list, and nothing to an empty one."""
    return [value] if isinstance(value, str) else value or []


def _as_seed_id(value: object) -> object:
    """Convert an id of the seed, where 0 means nobody."""
    return _as_text(value or "")


def _as_seed_instant(value: object) -> object:
    """Add the seed system's zone to a local time; an unreadable time means unknown."""
    if not isinstance(value, str) or value.isdigit():
        return value
    try:
        instant = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=SEED_ZONE)


IdText = Annotated[str, BeforeValidator(_as_text)]
Ids = Annotated[list[IdText], BeforeValidator(_as_texts)]
Texts = Annotated[list[str], BeforeValidator(_as_texts)]
SeedId = Annotated[str, BeforeValidator(_as_seed_id)]
SeedInstant = Annotated[AwareDatetime | None, BeforeValidator(_as_seed_instant)]


class _File(BaseModel):
    """A file's object; unknown fields are left in the file."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="ignore")


class _SceneFile(_File):
    kind: SceneKind
    agent: IdText = DEFAULT_AGENT
    group_id: IdText = ""
    user_id: IdText = ""
    user_name: IdText = ""
    group_name: IdText = ""

    def scene(self) -> Scene:
        group_id = "" if self.kind == "private" else self.group_id
        return Scene(self.kind, self.agent, group_id, self.user_id, self.user_name, self.group_name)


class _LineFile(_File):
    id: IdText
    scene: _SceneFile
    text: str
    sent_at: AwareDatetime
    reply_to: IdText | None = None
    is_bot: bool = False
    addressed_to_bot: bool = False

    def message(self) -> Message:
        return Message(
            self.id,
            self.scene.scene(),
            self.text,
            self.sent_at,
            reply_to=self.reply_to or None,
            is_bot=self.is_bot,
            addressed_to_bot=self.addressed_to_bot,
        )


class _Words(_File):
    """The fields of every turn, with their names in all versions."""

    memo: IdText = Field("", validation_alias=AliasChoices("memo", "action_summary", "end_summary"))
    observations: Texts = Field([], validation_alias=AliasChoices("observations", "new_info"))
    perspective: str | None = None
    force: bool = False
    source_message: IdText = ""
    message_ids: Ids = []
    request_id: IdText | None = None


class TurnFile(_Words):
    """A turn in version 1."""

    scene: _SceneFile
    accepted_at: AwareDatetime | None = None
    trimmed: bool = False
    recent_messages: list[_LineFile | str] = []
    happened_at: AwareDatetime | None = None

    def job(self, job_id: str, arrived_at: datetime) -> Job:
        """Build the job; a missing time of acceptance is the time of arrival."""
        turn = Turn(
            self.scene.scene(),
            memo=self.memo,
            observations=self.observations,
            perspective=self.perspective,
            force=self.force,
            source_message=self.source_message,
            recent_messages=[line if isinstance(line, str) else line.message() for line in self.recent_messages],
            message_ids=self.message_ids,
            request_id=self.request_id or None,
            happened_at=self.happened_at,
        )
        return Job(job_id, turn, self.accepted_at or arrived_at, self.trimmed)


class DialogueFile(_File):
    """A dialogue in version 1."""

    scene: _SceneFile
    accepted_at: AwareDatetime | None = None
    trimmed: bool = False
    messages: list[_LineFile]

    def job(self, job_id: str, arrived_at: datetime) -> Job:
        """Build the job; a missing time of acceptance is the time of arrival."""
        dialogue = Dialogue(self.scene.scene(), tuple(line.message() for line in self.messages))
        return Job(job_id, dialogue, self.accepted_at or arrived_at, self.trimmed)


class SeedFile(_Words):
    """A flat job of seed 000 (§ 4.2) or seed 001; the speaker is ``sender_id``, or ``user_id`` if that is missing."""

    user_id: SeedId = ""
    group_id: SeedId = ""
    sender_id: SeedId = ""
    sender_name: IdText = ""
    user_name: IdText = ""
    group_name: IdText = ""
    request_type: IdText = ""
    recent_messages: Texts = []
    timestamp_utc: SeedInstant = None
    timestamp_epoch: SeedInstant = None
    timestamp_local: SeedInstant = None
    timestamp: SeedInstant = None

    def job(self, job_id: str, arrived_at: datetime) -> Job:
        """Build the job, cut to the current limits, which the older system did not have."""
        happened_at = self.timestamp_local or self.timestamp_utc or self.timestamp_epoch or self.timestamp
        turn = Turn(
            self._scene(),
            memo=self.memo,
            observations=self.observations,
            perspective=self.perspective or None,
            force=self.force,
            source_message=self.source_message,
            recent_messages=self.recent_messages,
            message_ids=[item for item in self.message_ids if item],
            request_id=self.request_id or None,
            happened_at=happened_at,
        )
        bounded, trimmed = turn.within(TurnLimits())
        return Job(job_id, bounded, happened_at or arrived_at, trimmed)

    def _scene(self) -> Scene:
        speaker, name = self.sender_id or self.user_id, self.sender_name or self.user_name
        if self.group_id and self.request_type != "private":
            return Scene.group(self.group_id, speaker, user_name=name, group_name=self.group_name)
        return Scene.private(speaker, user_name=name)


class FailureFile(_File):
    """The fields that burying adds to an object."""

    error: IdText = ""
    failed_at: SeedInstant = None
