"""Bodies of requests and answers; other programs rely on the names of their fields.

Answers are read from the core's nouns by the names of their fields. An example of each body follows from the examples
of its fields.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)
from typing_extensions import Self

import cognitive_memory_core as core

from .. import replies
from ..replies import http_guide as guide

LONGEST_ID, LONGEST_TEXT = 128, 4_000  # characters
BELIEF_ID, _OLD_ID = "b1f0c3d4e5a60718293a4b5c6d7e8f02", "b1f0c3d4e5a60718293a4b5c6d7e8f01"
EVENT_ID, PIN_ID = "e5a60718293a4b5c6d7e8f0000000001", "5a60718293a4b5c6"
_JOB_ID, _REVISION_ID = "0c3d4e5a60718293a4b5c6d7e8f00001", "20260305T103000.123456Z"
_NOW, _BEFORE = "2026-03-06T12:30:00Z", "2026-03-01T00:00:00Z"
Instant = Annotated[datetime, AfterValidator(lambda at: at.astimezone(timezone.utc))]
Action = Literal["create", "update", "delete", "restore", "strength"]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
OptionalId = Annotated[str | None, Field(min_length=1, max_length=LONGEST_ID)]


def shown(example: Any, read_from: Any = None, **more: Any) -> Any:
    """Return a field with its example; it is read from another attribute if ``read_from`` names one."""
    return Field(examples=[example], validation_alias=read_from, **more)


def _private_person(scope: core.Scope) -> str:
    return scope.place_id if scope.kind == "private" else ""


class Noun(BaseModel):
    """A noun of the core, with the fields that other programs read; instants are in UTC."""

    model_config = ConfigDict(from_attributes=True)


class Answer(Noun):
    """An answer to a request that succeeded."""

    success: bool = True

    @classmethod
    def of(cls, **fields: object) -> Self:
        """Return the answer with these fields, which may be nouns of the core."""
        return cls.model_validate(fields)


def answer(name: str, description: str, **fields: Any) -> type[Answer]:
    """Return the class of an answer; its fields are given by their types, or by type and :func:`shown`."""
    typed: Any = {key: one if isinstance(one, tuple) else (one, ...) for key, one in fields.items()}
    return create_model(name, __base__=Answer, __doc__=description, **typed)


class Refusal(BaseModel):
    """An answer to a request that was refused, with one sentence about why."""

    success: bool = False
    error: str = shown(guide.REFUSAL)


class RequestBody(BaseModel):
    """The body of a request; unknown fields are rejected, because most of them are misspelt."""

    model_config = ConfigDict(extra="forbid")


class QuoteBody(Noun):
    """A line that an event rests on, verbatim; ``message_id`` is "" if it is no line of the log."""

    message_id: str = shown("m1")
    sender_id: str = shown("2000001")
    sender_name: str = shown(guide.NAME)
    text: str = shown(guide.TEA_LINE)
    sent_at: Instant | None = shown(_NOW)


class EventBody(Noun):
    """An event, its one voice as ``said_by`` and its lines as ``quotes``.

    ``score`` is set in search results; ``pain``, ``solution`` and ``outcome`` are set for experiences; ``retired_at``
    is set for one that was forgotten or corrected.
    """

    id: str = shown(EVENT_ID)
    text: str = shown(guide.LIKES_TEA)
    kind: str = shown("preference")
    user_id: str = shown("2000001")
    group_id: str = shown("10001")
    sender_id: str = shown("2000001")
    sender_name: str = shown(guide.NAME)
    said_by: str = shown("2000001", read_from="sender_id")
    quotes: tuple[QuoteBody, ...]
    subjects: tuple[str, ...] = shown(["2000001"])
    message_ids: tuple[str, ...] = shown(["m1"])
    happened_at: Instant = shown(_NOW)
    is_absolute: bool = shown(True)
    count: int = shown(1)
    pain: str = shown("")
    solution: str = shown("")
    outcome: str = shown("")
    score: float | None = None
    retired_at: Instant | None = None


EventList = answer("EventList", "Events: hits, best first, or a list, newest first.", events=tuple[EventBody, ...])


OneEvent = answer("OneEvent", "An event.", event=EventBody)


class ChangedEvent(Refusal):
    """The answer to a change of an event that was changed meanwhile, with the event that stands for it now."""

    error: str = shown(replies.http.CHANGED)
    event: EventBody


Forgotten = answer("Forgotten", "The id of the forgotten event or removed pin.", id=(str, shown(EVENT_ID)))


class NewText(RequestBody):
    """The new text of an event or a pin."""

    text: Text = shown(guide.LIKES_TEA)


class PinBody(Noun):
    """A pin: of a group, or of the private chat with ``user_id``; ``owner_id`` is "" if it is the whole group's."""

    id: str = shown(PIN_ID)
    text: str = shown(guide.PINNED)
    group_id: str = shown("10001", read_from=AliasPath("scope", "group_id"))
    user_id: Annotated[str, BeforeValidator(_private_person)] = shown("", read_from="scope")
    owner_id: str = shown("")
    pinned_at: Instant = shown(_NOW)


PinList = answer("PinList", "The pins of a place, oldest first.", pins=tuple[PinBody, ...])


OnePin = answer("OnePin", "A pin.", pin=PinBody)


class NewPin(RequestBody):
    """A new pin and its place."""

    text: Text = shown(guide.PINNED)
    group_id: OptionalId = Field(default=None, description=guide.GROUP_ID, examples=["10001"])
    user_id: OptionalId = Field(default=None, description=guide.USER_ID)


class PersonBody(Noun):
    """A person with the name seen last, the number of what they said that is remembered, and when they were seen."""

    user_id: str = shown("2000001")
    name: str = shown(guide.NAME)
    events: int = shown(3)
    last_at: Instant | None = shown(_NOW)
    has_opted_out: bool = shown(False)
    is_sharing: bool = shown(False)


PersonList = answer("PersonList", "People, the last seen first.", people=tuple[PersonBody, ...])


class PlaceBody(Noun):
    """A group, or the private chat with ``user_id``: its name, its counts, and when the newest line or event was."""

    group_id: str = shown("10001", read_from=AliasPath("scope", "group_id"))
    user_id: Annotated[str, BeforeValidator(_private_person)] = shown("", read_from="scope")
    name: str = shown(guide.GROUP_NAME)
    events: int = shown(3)
    messages: int = shown(40)
    last_at: Instant | None = shown(_NOW)


PlaceList = answer("PlaceList", "Places, the latest first.", places=tuple[PlaceBody, ...])


class LineBody(Noun):
    """A line of the log: of the person, or of the bot to the person (``is_bot``); ``event_id``: what was made of it."""

    id: str = shown("m1")
    group_id: str = shown("10001", read_from=AliasPath("scene", "group_id"))
    user_id: str = shown("2000001", read_from=AliasPath("scene", "user_id"))
    user_name: str = shown(guide.NAME, read_from=AliasPath("scene", "user_name"))
    text: str = shown(guide.TEA_LINE)
    sent_at: Instant = shown(_NOW)
    reply_to: str | None = shown(None)
    is_bot: bool = shown(False)
    event_id: str | None = shown(EVENT_ID, default=None)


LineList = answer("LineList", "Lines of the log, newest first.", messages=tuple[LineBody, ...])


class ProfileBody(Noun):
    """A profile, present or past; ``summary`` is Markdown.

    ``sources`` are the ids of the events that each line, without its bullet, or tag rests on.
    """

    entity_type: str = shown("member", read_from=AliasPath("key", "entity_type"))
    group_id: str = shown("10001", read_from=AliasPath("key", "group_id"))
    user_id: str = shown("2000001", read_from=AliasPath("key", "user_id"))
    name: str = shown(guide.NAME)
    tags: tuple[str, ...] = shown([guide.TAG])
    summary: str = shown(guide.SUMMARY)
    updated_at: Instant = shown(_NOW)
    sources: dict[str, tuple[str, ...]] = shown({guide.SUMMARY.removeprefix("- "): [EVENT_ID]})


OneProfile = answer("OneProfile", "A profile.", profile=ProfileBody)


class RevisionBody(Noun):
    """A past profile and the id by which it is restored."""

    id: str = shown(_REVISION_ID)
    profile: ProfileBody


RevisionList = answer("RevisionList", "The past profiles, newest first.", revisions=tuple[RevisionBody, ...])


class RevisionWanted(RequestBody):
    """The id of the past profile to restore."""

    revision_id: Annotated[str, Field(min_length=1, max_length=LONGEST_ID)] = shown(_REVISION_ID)


class BeliefBody(Noun):
    """One version of a belief; ``created_at`` is when its first version began, ``supporters`` counts people."""

    memory_id: str = shown(BELIEF_ID, read_from="id")
    statement: str = shown(guide.NEW_STATEMENT)
    version: int = shown(2)
    created_at: Instant = shown(_BEFORE)
    updated_at: Instant = shown(_NOW)
    parent_id: str | None = shown(_OLD_ID)
    status: Literal["active", "deprecated"] = shown("active")
    tags: tuple[str, ...] = shown(list(guide.TAGS))
    strength: float = shown(0.85)
    change_summary: str = shown(guide.CHANGE_REASON)
    supporters: Annotated[int, BeforeValidator(len)] = shown(3)


BeliefList = answer(
    "BeliefList",
    "A page of a group's beliefs; ``total`` is the number of all of them.",
    group_id=(str, shown("10001")),
    total=(int, shown(1)),
    memories=tuple[BeliefBody, ...],
)


OneBelief = answer("OneBelief", "A belief after a change.", memory=BeliefBody)


class FoundBelief(Noun):
    """A belief that a search found, with its score in [0, 1]."""

    memory_id: str = shown(BELIEF_ID, read_from=AliasPath("belief", "id"))
    statement: str = shown(guide.NEW_STATEMENT, read_from=AliasPath("belief", "statement"))
    score: float = shown(0.92)
    version: int = shown(2, read_from=AliasPath("belief", "version"))
    updated_at: Instant = shown(_NOW, read_from=AliasPath("belief", "updated_at"))


BeliefSearchResult = answer(
    "BeliefSearchResult",
    "What a search found, best first.",
    query=(str, shown(guide.FRIDAY)),
    results=tuple[FoundBelief, ...],
)


BeliefHistory = answer(
    "BeliefHistory",
    "All versions of a belief, oldest first.",
    memory_id=(str, shown(BELIEF_ID)),
    current_version=(int, shown(2)),
    history=tuple[BeliefBody, ...],
)


class ChangeBody(Noun):
    """One entry of the change log; ``changed_by`` is "" if an evolution run made the change."""

    timestamp: Instant = shown(_NOW, read_from="changed_at")
    action: Action = shown("update")
    memory_id: str = shown(BELIEF_ID, read_from="belief_id")
    version: int = shown(2)
    old_statement: str = shown(guide.FRIDAY)
    new_statement: str = shown(guide.NEW_STATEMENT)
    change_reason: str = shown(guide.CHANGE_REASON)
    changed_by: str = shown("")


ChangeList = answer(
    "ChangeList",
    "The change log of a group within a period of days, oldest entry first.",
    group_id=(str, shown("10001")),
    period=(str, shown("2026-02-27 to 2026-03-06")),
    changes=tuple[ChangeBody, ...],
)


class EvolutionStats(Noun):
    """The numbers of beliefs that a run kept, updated, created and deleted."""

    kept: int = shown(0)
    updated: int = shown(1)
    created: int = shown(0)
    deleted: int = shown(0)


class EvolutionChange(Noun):
    """One change of a run. Only a new belief has ``statement``, others have old, new or both; the rest is left out."""

    action: Action = shown("update")
    old_id: str | None = shown(_OLD_ID, default=None)
    new_id: str | None = shown(BELIEF_ID, read_from="belief_id", default=None)
    statement: str | None = Field(default=None, validation_alias="new_statement")
    old_statement: str | None = shown(guide.FRIDAY, default=None)
    new_statement: str | None = shown(guide.NEW_STATEMENT, default=None)
    change_reason: str = shown(guide.CHANGE_REASON)
    version: int = shown(2)

    @model_validator(mode="after")
    def _without_the_rest(self) -> Self:
        if self.action == "create":
            self.old_statement = self.new_statement = None
        else:
            self.statement = None
        if self.action == "delete":
            self.new_id = self.new_statement = None
        return self


class EvolutionAnswer(Answer):
    """What a run did. If nothing changed, ``message`` says why. ``rejected`` counts rejected proposals by reason."""

    group_id: str = shown("10001")
    evolution_time: Instant = shown(_NOW)
    message: str = shown(guide.EVOLVED)
    stats: EvolutionStats
    changes: tuple[EvolutionChange, ...]
    rejected: dict[str, int] = shown({})


class Strength(RequestBody):
    """The strength that a belief gets."""

    strength: Annotated[float, Field(ge=0, le=1)] = shown(0.8)


class Question(RequestBody):
    """The question of a turn, its place and its person; ``budget`` is the maximum number of tokens."""

    query: str = Field(max_length=LONGEST_TEXT, description=guide.QUESTION, examples=[guide.ASKED])
    group_id: OptionalId = Field(default=None, description=guide.GROUP_ID, examples=["10001"])
    user_id: OptionalId = Field(default=None, description=guide.USER_ID, examples=["2000001"])
    budget: int | None = Field(default=None, ge=0, le=100_000)


class ContextBody(Answer):
    """The context that a model gets for this turn; ``degraded`` names the parts that were unavailable."""

    text: str = shown(guide.CONTEXT)
    sections: tuple[core.Section, ...] = shown([{"title": guide.SECTION, "lines": [guide.LIKES_TEA]}])
    tokens: int = shown(32)
    degraded: tuple[str, ...] = shown([])


StatusBody = answer(
    "StatusBody",
    "The status of the memory, with the day's model calls and tokens.",
    status=core.Status,
    calls_today=int,
    tokens_today=int,
)


class ReportTotals(Noun):
    """Sums over the report; ``price`` is null where no model has a price."""

    events: int
    not_absolute: int = Field(validation_alias="vague")
    never_recalled: int
    price: float | None


ReportBody = answer("ReportBody", "The report and its totals.", report=core.QualityReport, totals=ReportTotals)


class FailedJobBody(Noun):
    """A failed job with its last error and what to do about it; the place is unknown if its file is unreadable."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)
    id: str = shown(_JOB_ID)
    error: str = shown(guide.FAILURE)
    advice: str = shown(guide.ADVICE)
    attempts: int = shown(1)
    failed_at: Instant = shown(_NOW)
    group_id: str | None = shown("10001", read_from=AliasPath("job", "work", "scene", "group_id"), default=None)
    user_id: str | None = shown("2000001", read_from=AliasPath("job", "work", "scene", "user_id"), default=None)


FailedJobList = answer("FailedJobList", "The failed jobs, oldest first.", jobs=tuple[FailedJobBody, ...])


class Retry(RequestBody):
    """The failed job to queue again; all of them if no id is given."""

    job_id: OptionalId = Field(default=None, examples=[_JOB_ID])


Retried = answer("Retried", "The number of jobs that were queued again.", retried=(int, shown(1)))
