"""Bodies of requests and answers; other programs rely on the names of their fields.

Answers are read from the core's nouns by the names of their fields.
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

from ..replies import http_guide as guide

LONGEST_ID, LONGEST_TEXT = 128, 4_000  # characters
BELIEF_ID = "b1f0c3d4e5a60718293a4b5c6d7e8f02"
EVENT_ID, PIN_ID = "e5a60718293a4b5c6d7e8f0000000001", "5a60718293a4b5c6"
_JOB_ID, _REVISION_ID = "0c3d4e5a60718293a4b5c6d7e8f00001", "20260305T103000.123456Z"
Instant = Annotated[datetime, AfterValidator(lambda at: at.astimezone(timezone.utc))]
Action = Literal["create", "update", "delete", "restore", "strength"]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
OptionalId = Annotated[str | None, Field(min_length=1, max_length=LONGEST_ID)]


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
    """Return the class of an answer; its fields are given by their types."""
    typed: Any = {key: (one, ...) for key, one in fields.items()}
    return create_model(name, __base__=Answer, __doc__=description, **typed)


class Refusal(BaseModel):
    """An answer to a request that was refused, with one sentence about why."""

    success: bool = False
    error: str


class RequestBody(BaseModel):
    """The body of a request; unknown fields are rejected, because most of them are misspelt."""

    model_config = ConfigDict(extra="forbid")


class EventBody(Noun):
    """An event, its one voice as ``said_by`` and its lines as ``quotes``.

    ``score`` is set in search results; ``pain``, ``solution`` and ``outcome`` are set for experiences; ``retired_at``
    is set for one that was forgotten or corrected.
    """

    id: str
    text: str
    kind: str
    user_id: str
    group_id: str
    sender_id: str
    sender_name: str
    said_by: str = Field(validation_alias="sender_id")
    quotes: tuple[core.Quote, ...]
    subjects: tuple[str, ...]
    message_ids: tuple[str, ...]
    happened_at: Instant
    is_absolute: bool
    count: int
    pain: str
    solution: str
    outcome: str
    score: float | None = None
    retired_at: Instant | None = None


EventList = answer("EventList", "Events: hits, best first, or a list, newest first.", events=tuple[EventBody, ...])


OneEvent = answer("OneEvent", "An event.", event=EventBody)


class ChangedEvent(Refusal):
    """The answer to a change of an event that was changed meanwhile, with the event that stands for it now."""

    event: EventBody


Forgotten = answer("Forgotten", "The id of the forgotten event or removed pin.", id=str)


class NewText(RequestBody):
    """The new text of an event or a pin."""

    text: Text = Field(examples=[guide.LIKES_TEA])


class ScopedBody(Noun):
    """A noun of a place: a group, or the private chat with ``user_id``."""

    group_id: str = Field(validation_alias=AliasPath("scope", "group_id"))
    user_id: Annotated[str, BeforeValidator(lambda scope: scope.place_id if scope.kind == "private" else "")] = Field(
        validation_alias="scope"
    )


class PinBody(ScopedBody):
    """A pin: of a group, or of the private chat with ``user_id``; ``owner_id`` is "" if it is the whole group's."""

    id: str
    text: str
    owner_id: str
    pinned_at: Instant


PinList = answer("PinList", "The pins of a place, oldest first.", pins=tuple[PinBody, ...])


OnePin = answer("OnePin", "A pin.", pin=PinBody)


class NewPin(RequestBody):
    """A new pin and its place."""

    text: Text = Field(examples=[guide.PINNED])
    group_id: OptionalId = Field(default=None, description=guide.GROUP_ID, examples=["10001"])
    user_id: OptionalId = Field(default=None, description=guide.USER_ID)


PersonList = answer("PersonList", "People, the last seen first.", people=tuple[core.PersonEntry, ...])


class PlaceBody(ScopedBody):
    """A group, or the private chat with ``user_id``: its name, its counts, and when the newest line or event was."""

    name: str
    events: int
    messages: int
    last_at: Instant | None


PlaceList = answer("PlaceList", "Places, the latest first.", places=tuple[PlaceBody, ...])


class LineBody(Noun):
    """A line of the log: of the person, or of the bot to the person (``is_bot``); ``event_id``: what was made of it."""

    id: str
    group_id: str = Field(validation_alias=AliasPath("scene", "group_id"))
    user_id: str = Field(validation_alias=AliasPath("scene", "user_id"))
    user_name: str = Field(validation_alias=AliasPath("scene", "user_name"))
    text: str
    sent_at: Instant
    reply_to: str | None
    is_bot: bool
    event_id: str | None = None


LineList = answer("LineList", "Lines of the log, newest first.", messages=tuple[LineBody, ...])


class ProfileBody(Noun):
    """A profile, present or past; ``summary`` is Markdown.

    ``sources`` are the ids of the events that each line, without its bullet, or tag rests on, and ``words`` are the
    words behind it, if a model worded it.
    """

    entity_type: str = Field(validation_alias=AliasPath("key", "entity_type"))
    group_id: str = Field(validation_alias=AliasPath("key", "group_id"))
    user_id: str = Field(validation_alias=AliasPath("key", "user_id"))
    name: str
    tags: tuple[str, ...]
    summary: str
    updated_at: Instant
    sources: dict[str, tuple[str, ...]]
    words: dict[str, core.Quote] = {}


OneProfile = answer("OneProfile", "A profile.", profile=ProfileBody)


class RevisionBody(Noun):
    """A past profile and the id by which it is restored."""

    id: str
    profile: ProfileBody


RevisionList = answer("RevisionList", "The past profiles, newest first.", revisions=tuple[RevisionBody, ...])


class RevisionWanted(RequestBody):
    """The id of the past profile to restore."""

    revision_id: str = Field(min_length=1, max_length=LONGEST_ID, examples=[_REVISION_ID])


class BeliefBody(Noun):
    """One version of a belief; ``created_at`` is when its first version began, ``supporters`` counts people.

    ``message_ids`` are the lines on which it rests, and ``quotes`` those of who said it first, as far as the log has
    them.
    """

    memory_id: str = Field(validation_alias="id")
    statement: str
    version: int
    created_at: Instant
    updated_at: Instant
    parent_id: str | None
    status: Literal["active", "deprecated"]
    tags: tuple[str, ...]
    strength: float
    change_summary: str
    supporters: Annotated[int, BeforeValidator(len)]
    message_ids: tuple[str, ...]
    quotes: tuple[core.Quote, ...]


BeliefList = answer(
    "BeliefList",
    "A page of a group's beliefs; ``total`` is the number of all of them.",
    group_id=str,
    total=int,
    memories=tuple[BeliefBody, ...],
)


OneBelief = answer("OneBelief", "A belief after a change.", memory=BeliefBody)


class FoundBelief(Noun):
    """A belief that a search found, with its score in [0, 1] and its quotes."""

    memory_id: str = Field(validation_alias=AliasPath("belief", "id"))
    statement: str = Field(validation_alias=AliasPath("belief", "statement"))
    score: float
    version: int = Field(validation_alias=AliasPath("belief", "version"))
    updated_at: Instant = Field(validation_alias=AliasPath("belief", "updated_at"))
    quotes: tuple[core.Quote, ...] = Field(validation_alias=AliasPath("belief", "quotes"))


BeliefSearchResult = answer(
    "BeliefSearchResult",
    "What a search found, best first.",
    query=str,
    results=tuple[FoundBelief, ...],
)


BeliefHistory = answer(
    "BeliefHistory",
    "All versions of a belief, oldest first.",
    memory_id=str,
    current_version=int,
    history=tuple[BeliefBody, ...],
)


class ChangeBody(Noun):
    """One entry of the change log, with the quotes of both versions; ``changed_by`` is "" for an evolution run."""

    timestamp: Instant = Field(validation_alias="changed_at")
    action: Action
    memory_id: str = Field(validation_alias="belief_id")
    version: int
    old_statement: str
    new_statement: str
    change_reason: str
    changed_by: str
    old_quotes: tuple[core.Quote, ...]
    new_quotes: tuple[core.Quote, ...]


ChangeList = answer(
    "ChangeList",
    "The change log of a group within a period of days, oldest entry first.",
    group_id=str,
    period=str,
    changes=tuple[ChangeBody, ...],
)


class EvolutionStats(Noun):
    """The numbers of beliefs that a run kept, updated, created and deleted."""

    kept: int
    updated: int
    created: int
    deleted: int


class EvolutionChange(Noun):
    """One change of a run, with the quotes of what it states.

    Only a new belief has ``statement``, others have old, new or both; the rest is left out.
    """

    action: Action
    old_id: str | None = None
    new_id: str | None = Field(default=None, validation_alias="belief_id")
    statement: str | None = Field(default=None, validation_alias="new_statement")
    old_statement: str | None = None
    new_statement: str | None = None
    change_reason: str
    version: int
    quotes: tuple[core.Quote, ...] | None = Field(default=None, validation_alias="new_quotes")
    old_quotes: tuple[core.Quote, ...] | None = None
    new_quotes: tuple[core.Quote, ...] | None = None

    @model_validator(mode="after")
    def _without_the_rest(self) -> Self:
        if self.action == "create":
            self.old_statement = self.new_statement = self.old_quotes = self.new_quotes = None
        else:
            self.statement = self.quotes = None
        if self.action == "delete":
            self.new_id = self.new_statement = self.new_quotes = None
        return self


class EvolutionAnswer(Answer):
    """What a run did. If nothing changed, ``message`` says why. ``rejected`` counts rejected proposals by reason."""

    group_id: str
    evolution_time: Instant
    message: str
    stats: EvolutionStats
    changes: tuple[EvolutionChange, ...]
    rejected: dict[str, int]


class Strength(RequestBody):
    """The strength that a belief gets."""

    strength: float = Field(ge=0, le=1, examples=[0.8])


class Question(RequestBody):
    """The question of a turn, its place and its person; ``budget`` is the maximum number of tokens."""

    query: str = Field(max_length=LONGEST_TEXT, description=guide.QUESTION, examples=[guide.ASKED])
    group_id: OptionalId = Field(default=None, description=guide.GROUP_ID, examples=["10001"])
    user_id: OptionalId = Field(default=None, description=guide.USER_ID, examples=["2000001"])
    budget: int | None = Field(default=None, ge=0, le=100_000)


class ContextBody(Answer):
    """The context that a model gets for this turn; ``degraded`` names the parts that were unavailable."""

    text: str
    sections: tuple[core.Section, ...]
    tokens: int
    degraded: tuple[str, ...]


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
    id: str
    error: str
    advice: str
    attempts: int
    failed_at: Instant
    group_id: str | None = Field(default=None, validation_alias=AliasPath("job", "work", "scene", "group_id"))
    user_id: str | None = Field(default=None, validation_alias=AliasPath("job", "work", "scene", "user_id"))


FailedJobList = answer("FailedJobList", "The failed jobs, oldest first.", jobs=tuple[FailedJobBody, ...])


class Retry(RequestBody):
    """The failed job to queue again; all of them if no id is given."""

    job_id: OptionalId = Field(default=None, examples=[_JOB_ID])


Retried = answer("Retried", "The number of jobs that were queued again.", retried=int)
