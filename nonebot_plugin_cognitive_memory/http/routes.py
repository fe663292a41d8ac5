"""What every address of the HTTP interface does; :data:`ROUTES` lists them in the order in which they are matched."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path as File
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Path, Query
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

import cognitive_memory_core as core

from .. import replies
from ..erasure import FILE, exported
from ..replies import http_guide as guide
from .bodies import (
    BELIEF_ID,
    EVENT_ID,
    LONGEST_ID,
    LONGEST_TEXT,
    PIN_ID,
    Answer,
    BeliefHistory,
    BeliefList,
    BeliefSearchResult,
    ChangedEvent,
    ChangeList,
    ContextBody,
    EventBody,
    EventList,
    EvolutionAnswer,
    FailedJobList,
    Forgotten,
    LineBody,
    LineList,
    NewPin,
    NewText,
    OneBelief,
    OneEvent,
    OnePin,
    OneProfile,
    PersonList,
    PinList,
    PlaceList,
    ProfileBody,
    Question,
    Refusal,
    ReportBody,
    Retried,
    Retry,
    RevisionList,
    RevisionWanted,
    StatusBody,
    Strength,
)


class NothingThere(core.MistakeError):
    """The agent has stored nothing of the group, person or job that a request names."""


class EventChanged(core.MistakeError):
    """The event of a request was corrected or forgotten meanwhile; ``event`` is its present state."""

    def __init__(self, event: core.Event) -> None:
        """Store the present event."""
        super().__init__(replies.http.CHANGED)
        self.event = event


@dataclass(frozen=True)
class Backing:
    """The memory and settings that the routes of an application read; stored as ``app.state.backing``."""

    memory: Callable[[], core.CognitiveMemory]
    settings: Callable[[], core.Settings]


@dataclass(frozen=True)
class OperatorAccess:
    """An open memory, with the agent to whose memory a request is restricted."""

    memory: core.CognitiveMemory
    settings: core.Settings
    agent: str

    def scene(self, group_id: str | None = None) -> core.Scene:
        """Return the operator's scene, in a group if one is given."""
        return core.Scene.operator(self.agent, group_id=group_id)

    def place(self, group_id: str | None, user_id: str | None) -> core.Scene:
        """Return the scene that the ids of a request name; raise BadArgument without an id.

        With both ids it is a member's in the group, with ``user_id`` alone the person's private chat, with ``group_id``
        alone the operator's in the group.
        """
        if group_id and user_id:
            return core.Scene.group(group_id, user_id, agent=self.agent)
        if user_id:
            return core.Scene.private(user_id, agent=self.agent)
        if not group_id:
            raise core.BadArgument(replies.http.PLACE_WANTED)
        return self.scene(group_id)

    async def check_group(self, group_id: str | None, found: object = None) -> None:
        """Raise NothingThere if nothing was found in a group and the agent has stored nothing else of it."""
        if found or not group_id:
            return
        stored = await self.memory.activity(self.scene(group_id), days=1)
        beliefs = await self.memory.beliefs(self.scene(group_id), status="all", limit=1)
        if not (stored.events or stored.messages or beliefs.total):
            raise NothingThere(replies.http.UNKNOWN_GROUP)

    async def check_person(self, user_id: str | None, found: object) -> None:
        """Raise NothingThere if nothing was found of a person of whom the agent knows neither a name nor an event."""
        if found or not user_id:
            return
        person, listing = await self.memory.listings.person(self.scene(), user_id), core.EventListing(user_id=user_id)
        if not (person.name or person.has_opted_out or await self.memory.listings.events(self.scene(), listing, 1, 0)):
            raise NothingThere(replies.http.UNKNOWN_PERSON)

    async def failed_jobs(self) -> list[core.FailedJob]:
        """Return the agent's failed jobs, and those whose files cannot be read, which name no agent."""
        failed = await self.memory.failed_jobs()
        return [one for one in failed if one.job is None or one.job.work.scene.agent == self.agent]

    async def check_uncorrected(self, event_id: str) -> None:
        """Raise EventChanged for an event that was corrected meanwhile."""
        present = await self.memory.listings.present(self.scene(), event_id)
        if present.id != event_id:
            raise EventChanged(present)


def _given(description: str, **described: Any) -> Any:
    return Query(min_length=1, max_length=LONGEST_ID, description=description, **described)


async def operator_access(
    request: Request,
    agent: Annotated[str | None, _given(guide.AGENT)] = None,
) -> OperatorAccess:
    """Return access to the memory; raise UnavailableError (status 503) if it is not open or is disabled."""
    backing: Backing = request.app.state.backing
    memory, settings = backing.memory(), backing.settings()
    if not memory.is_running:
        raise core.UnavailableError(memory.reason)
    return OperatorAccess(memory, settings, agent or settings.agent)


def _id(length: int = LONGEST_ID, **described: Any) -> Any:
    return Path(min_length=1, max_length=length, **described)


Operator = Annotated[OperatorAccess, Depends(operator_access)]
GroupId = Annotated[str, _id(description=guide.GROUP_ID, examples=["10001"])]
MemoryId = Annotated[str, _id(description=guide.MEMORY_ID, examples=[BELIEF_ID])]
EventId = Annotated[str, _id(description=guide.EVENT_ID, examples=[EVENT_ID])]
PinId = Annotated[str, _id(description=guide.PIN_ID, examples=[PIN_ID])]
EntityType = Annotated[Literal["user", "member", "group"], Path(description=guide.ENTITY_TYPE, examples=["member"])]
EntityId = Annotated[str, _id(2 * LONGEST_ID + 1, description=guide.ENTITY_ID, examples=["10001/2000001"])]
Limit = Annotated[int, Query(ge=1, le=200, description=guide.LIMIT)]
Offset = Annotated[int, Query(ge=0, le=1_000_000, description=guide.OFFSET)]
DaysRead = Annotated[int, Query(ge=1, le=366, description=guide.DAYS_READ)]
DaysShown = Annotated[int, Query(ge=1, le=366, description=guide.DAYS_SHOWN)]
Kind = Literal["event", "preference", "knowledge", "experience", "message"]


async def get_status(operator: Operator) -> Answer:
    """Return counts, queue, index, errors and the day's spending."""
    status = await operator.memory.status()
    return StatusBody.of(status=status, calls_today=status.calls_today, tokens_today=status.tokens_today)


async def list_failed_jobs(operator: Operator) -> Answer:
    """Return the agent's failed jobs."""
    return FailedJobList.of(jobs=await operator.failed_jobs())


async def retry_jobs(operator: Operator, wanted: Retry | None = None) -> Answer:
    """Queue the failed job that the body names again, or all of the agent's."""
    job_id = wanted.job_id if wanted else None
    jobs = [one for one in await operator.failed_jobs() if job_id in (None, one.id)]
    if job_id is not None and not jobs:
        raise NothingThere(replies.http.UNKNOWN_JOB)
    return Retried.of(retried=sum([await operator.memory.revive(one.id) for one in jobs]))


async def get_report(
    operator: Operator,
    days: DaysShown = 30,
    examine: Annotated[bool, Query(description=guide.EXAMINE)] = True,
) -> Answer:
    """Return the quality of what the agent remembers, and what it costs."""
    report = await operator.memory.report(operator.scene(), days=days, examine=examine)
    return ReportBody.of(report=report, totals=report)


class WantedEvents(BaseModel):
    """Which events a request wants: with ``q`` a search, without it the list of a place or a person."""

    q: str | None = Field(default=None, min_length=1, max_length=LONGEST_TEXT, description=guide.QUESTION)
    group_id: str | None = Field(default=None, min_length=1, max_length=LONGEST_ID, description=guide.NARROW_GROUP)
    user_id: str | None = Field(default=None, min_length=1, max_length=LONGEST_ID, description=guide.NARROW_USER)
    kinds: list[Kind] = Field(default=[], max_length=5, description=guide.KINDS)
    time_from: str | None = Field(default=None, max_length=40, description=guide.TIME_FROM)
    time_to: str | None = Field(default=None, max_length=40, description=guide.TIME_TO)
    limit: int = Field(default=20, ge=1, le=200, description=guide.LIMIT)
    offset: int = Field(default=0, ge=0, le=1_000_000, description=guide.OFFSET)


async def list_events(operator: Operator, wanted: Annotated[WantedEvents, Query()]) -> Answer:
    """Return a page of the best hits of a search, or of a list; 404 for a group or person the agent has nothing of."""
    memory, scene = operator.memory, operator.scene()
    if wanted.q:
        hits = await memory.search_events(
            scene,
            wanted.q,
            user_id=wanted.user_id,
            group_id=wanted.group_id,
            kinds=wanted.kinds,
            top_k=wanted.offset + wanted.limit,
            time_from=wanted.time_from,
            time_to=wanted.time_to,
        )
        scored = ((EventBody.model_validate(hit.event), hit.score) for hit in hits[wanted.offset :])
        events: Sequence[object] = [event.model_copy(update={"score": score}) for event, score in scored]
    else:
        if wanted.kinds or wanted.time_from or wanted.time_to:
            raise core.BadArgument(replies.http.ONLY_SEARCHED)
        place = operator.scene(wanted.group_id).scope if wanted.group_id else None
        listing = core.EventListing(place=place, user_id=wanted.user_id or "")
        events = await memory.listings.events(scene, listing, wanted.limit, wanted.offset)
    await operator.check_group(wanted.group_id, events)
    await operator.check_person(wanted.user_id, events)
    return EventList.of(events=events)


EARLIEST, LATEST = date(1970, 1, 1), date(2200, 1, 1)  # days that are looked for
NameOrId = Annotated[str, Query(max_length=LONGEST_ID, description=guide.NAME_OR_ID)]


async def list_people(operator: Operator, q: NameOrId = "", limit: Limit = 20, offset: Offset = 0) -> Answer:
    """Return people, or those whose id or name matches."""
    return PersonList.of(people=await operator.memory.listings.people(operator.scene(), q, limit, offset))


async def list_places(operator: Operator, q: NameOrId = "", limit: Limit = 20, offset: Offset = 0) -> Answer:
    """Return places, or those whose id or name matches."""
    listing = core.PlaceListing(text=q)
    return PlaceList.of(places=await operator.memory.listings.places(operator.scene(), listing, limit, offset))


async def list_messages(
    operator: Operator,
    group_id: Annotated[str | None, _given(guide.NARROW_GROUP)] = None,
    user_id: Annotated[str | None, _given(guide.SAID_BY)] = None,
    chat_with: Annotated[str | None, _given(guide.CHAT_WITH)] = None,
    day: Annotated[date | None, Query(description=guide.DAY, examples=["2026-03-06"])] = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Answer:
    """Return lines of the log, each with the event that was made of it; 404 for a group of which there is nothing."""
    listings, scene, window = operator.memory.listings, operator.scene(), None
    if day is not None:
        begins = datetime.combine(min(max(day, EARLIEST), LATEST), time(), tzinfo=operator.settings.zone)
        window = core.Interval(begins, begins + timedelta(days=1))
    kind, place_id = ("group", group_id) if group_id else ("private", chat_with)
    place = core.Scope(operator.agent, kind, place_id) if place_id else None
    found = await listings.lines(scene, core.LineListing(place, user_id or "", window), limit, offset)
    await operator.check_group(group_id, found)
    learned = await listings.learned_from(scene, [line.id for line in found])
    shown = ((LineBody.model_validate(line), learned.get((line.scene.scope.key, line.id))) for line in found)
    return LineList.of(messages=[line.model_copy(update={"event_id": event_id}) for line, event_id in shown])


async def correct_event(event_id: EventId, operator: Operator, wanted: NewText) -> Answer:
    """Replace the text of an event, which gets a new id; if it is retired, 409 with the event in its place."""
    scene, listings = operator.scene(), operator.memory.listings
    try:
        corrected = await operator.memory.correct_event(scene, event_id, wanted.text)
    except core.UnknownEvent:
        raise EventChanged(await listings.present(scene, event_id)) from None
    return OneEvent.of(event=await listings.event(scene, corrected.id))


async def restore_event(event_id: EventId, operator: Operator) -> Answer:
    """Restore an event that was forgotten at most 30 days ago; 409 with the present event if it was corrected."""
    await operator.check_uncorrected(event_id)
    restored = await operator.memory.restore_event(operator.scene(), event_id)
    return OneEvent.of(event=await operator.memory.listings.event(operator.scene(), restored.id))


async def forget_event(event_id: EventId, operator: Operator) -> Answer:
    """Forget an event; it can be restored for 30 days. 409 with the present event if it was corrected."""
    await operator.check_uncorrected(event_id)
    await operator.memory.forget_event(operator.scene(), event_id)
    return Forgotten.of(id=event_id)


async def list_revisions(entity_type: EntityType, entity_id: EntityId, operator: Operator) -> Answer:
    """Return the past profiles of an entity; 404 for one that never had a profile."""
    key = core.ProfileKey.asked(operator.scene(), entity_type, entity_id)
    revisions = await operator.memory.profile_revisions(operator.scene(), key)
    if not revisions:
        await get_profile(entity_type, entity_id, operator)
    profiles = [await _with_words(operator, one.profile) for one in revisions]
    return RevisionList.of(
        revisions=[{"id": one.id, "profile": profile} for one, profile in zip(revisions, profiles, strict=True)]
    )


async def restore_profile(
    entity_type: EntityType, entity_id: EntityId, wanted: RevisionWanted, operator: Operator
) -> Answer:
    """Restore a past profile."""
    key = core.ProfileKey.asked(operator.scene(), entity_type, entity_id)
    restored = await operator.memory.restore_profile(operator.scene(), key, wanted.revision_id)
    return OneProfile.of(profile=await _with_words(operator, restored))


async def get_profile(entity_type: EntityType, entity_id: EntityId, operator: Operator) -> Answer:
    """Return a profile; the id of a member is "group/user"."""
    profile = await operator.memory.get_profile(operator.scene(), entity_type, entity_id)
    if profile is None:
        raise NothingThere(replies.http.UNKNOWN_PROFILE)
    return OneProfile.of(profile=await _with_words(operator, profile))


async def _with_words(operator: OperatorAccess, profile: core.Profile) -> ProfileBody:
    """Return a profile with the words behind its lines and tags; without them if they cannot be read."""
    words: Mapping[str, core.Quote] = {}
    with suppress(core.UnavailableError):
        words = await operator.memory.profile_words(operator.scene(), profile)
    return ProfileBody.model_validate(profile).model_copy(update={"words": words})


async def list_pins(
    operator: Operator,
    group_id: Annotated[str | None, _given(guide.GROUP_ID, examples=["10001"])] = None,
    user_id: Annotated[str | None, _given(guide.USER_ID)] = None,
) -> Answer:
    """Return the pins of a place; 404 for a group of which the agent has nothing."""
    pins = await operator.memory.pins(operator.place(group_id, user_id))
    await operator.check_group(group_id, pins)
    return PinList.of(pins=pins)


async def add_pin(operator: Operator, wanted: NewPin) -> Answer:
    """Store a pin; 404 for a group of which the agent has nothing."""
    await operator.check_group(wanted.group_id)
    return OnePin.of(pin=await operator.memory.pin(operator.place(wanted.group_id, wanted.user_id), wanted.text))


async def change_pin(pin_id: PinId, operator: Operator, wanted: NewText) -> Answer:
    """Replace the text of a pin."""
    return OnePin.of(pin=await operator.memory.update_pin(operator.scene(), pin_id, wanted.text))


async def remove_pin(pin_id: PinId, operator: Operator) -> Answer:
    """Remove a pin."""
    await operator.memory.unpin(operator.scene(), pin_id)
    return Forgotten.of(id=pin_id)


async def build_context(operator: Operator, wanted: Question) -> Answer:
    """Return the context for a turn in a group, in a private chat, or of a member in a group."""
    scene = operator.place(wanted.group_id, wanted.user_id)
    return ContextBody.model_validate(await operator.memory.context(scene, wanted.query, budget=wanted.budget))


_exporting = asyncio.Lock()


async def export_memory(
    operator: Operator, user_id: Annotated[str | None, _given(guide.EXPORTED_USER)] = None
) -> FileResponse:
    """Send the agent's memory, or one person's part of it; 409 while another export runs."""
    if _exporting.locked():
        raise core.MistakeError(replies.http.EXPORTING)
    async with AsyncExitStack() as opening:
        await opening.enter_async_context(_exporting)
        path, rows = await opening.enter_async_context(exported(operator.memory, user_id, operator.agent))
        if user_id and not rows:
            raise NothingThere(replies.http.UNKNOWN_PERSON)
        return _Export(path, opening.pop_all())


class _Export(FileResponse):
    """Sends an export, and removes it however the sending ends."""

    def __init__(self, path: File, stack: AsyncExitStack) -> None:
        self._stack = stack
        super().__init__(path, media_type=JSON_LINES, filename=FILE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        last: list[Message] = []

        async def forward(message: Message) -> None:
            if message.get("more_body", True):
                await send(message)
            else:
                last.append(message)

        async with self._stack:
            await super().__call__(scope, receive, forward)
        for message in last:  # after the file is closed and removed: then the client knows that it has everything
            await send(message)


async def evolve_group(group_id: GroupId, operator: Operator, days: DaysRead = 1) -> Answer:
    """Update the beliefs of a group; 409 while a run of this group is under way."""
    await operator.check_group(group_id)
    run, at = await operator.memory.evolve(operator.scene(group_id), days=days), datetime.now(operator.settings.zone)
    return EvolutionAnswer.of(
        group_id=group_id, evolution_time=at, message=run.message, stats=run, changes=run.changes, rejected=run.rejected
    )


async def list_beliefs(
    group_id: GroupId,
    operator: Operator,
    status: Annotated[Literal["active", "deprecated", "all"], Query(description=guide.STATUS)] = "active",
    limit: Limit = 20,
    offset: Offset = 0,
) -> Answer:
    """Return the beliefs of a group, strongest first."""
    page = await operator.memory.beliefs(operator.scene(group_id), status=status, limit=limit, offset=offset)
    await operator.check_group(group_id, page.total)
    return BeliefList.of(group_id=group_id, total=page.total, memories=page.beliefs)


async def search_beliefs(
    group_id: GroupId,
    operator: Operator,
    q: Annotated[
        str, Query(min_length=1, max_length=LONGEST_TEXT, description=guide.QUESTION, examples=[guide.FRIDAY])
    ],
    limit: Limit = 5,
    threshold: Annotated[float, Query(ge=0, le=1, description=guide.THRESHOLD)] = 0.7,
) -> Answer:
    """Search the active beliefs of a group."""
    hits = await operator.memory.search_beliefs(operator.scene(group_id), q, limit=limit, threshold=threshold)
    await operator.check_group(group_id, hits)
    return BeliefSearchResult.of(query=q, results=hits)


async def belief_history(memory_id: MemoryId, operator: Operator) -> Answer:
    """Return the versions of a belief, oldest first."""
    versions = await operator.memory.belief_history(operator.scene(), memory_id)
    current = versions[-1].version if versions else 0
    return BeliefHistory.of(memory_id=memory_id, current_version=current, history=versions)


async def belief_changes(group_id: GroupId, operator: Operator, days: DaysShown = 7) -> Answer:
    """Return what was done to the beliefs of a group, oldest first; the period is written in the settings' zone."""
    changes = await operator.memory.belief_changes(operator.scene(group_id), days=days)
    await operator.check_group(group_id, changes)
    until = datetime.now(operator.settings.zone)
    period = f"{until - timedelta(days=days):%Y-%m-%d} to {until:%Y-%m-%d}"
    return ChangeList.of(group_id=group_id, period=period, changes=changes)


async def retire_belief(
    memory_id: MemoryId,
    operator: Operator,
    reason: Annotated[str, Query(max_length=300, description=guide.REASON)] = "",
) -> Answer:
    """Retire a belief; it can be restored."""
    return OneBelief.of(memory=await operator.memory.retire_belief(operator.scene(), memory_id, reason))


async def restore_belief(memory_id: MemoryId, operator: Operator) -> Answer:
    """Restore a retired belief, or an older version as the newest."""
    return OneBelief.of(memory=await operator.memory.restore_belief(operator.scene(), memory_id))


async def reword_belief(memory_id: MemoryId, operator: Operator, wanted: NewText) -> Answer:
    """Replace the words of a belief."""
    return OneBelief.of(memory=await operator.memory.reword_belief(operator.scene(), memory_id, wanted.text))


async def set_belief_strength(memory_id: MemoryId, operator: Operator, wanted: Strength) -> Answer:
    """Set the strength of a belief."""
    return OneBelief.of(memory=await operator.memory.set_belief_strength(operator.scene(), memory_id, wanted.strength))


PROFILE = "/profiles/{entity_type}/{entity_id:path}"
JSON_LINES = "application/x-ndjson"
COMMON = (401, 408, 413, 415, 422, 429, 503)  # statuses of refusals by every route
ROUTES: tuple[tuple[str, Callable[..., Any], type[Answer] | None, tuple[int, ...]], ...] = (  # statuses: own refusals
    ("GET /status", get_status, StatusBody, ()),
    ("GET /jobs/failed", list_failed_jobs, FailedJobList, ()),
    ("POST /jobs/retry", retry_jobs, Retried, (404,)),
    ("GET /report", get_report, ReportBody, ()),
    ("GET /events", list_events, EventList, (404,)),
    ("GET /people", list_people, PersonList, ()),
    ("GET /places", list_places, PlaceList, ()),
    ("GET /messages", list_messages, LineList, (404,)),
    ("PUT /events/{event_id}", correct_event, OneEvent, (404, 409)),
    ("PUT /events/{event_id}/restore", restore_event, OneEvent, (404, 409)),
    ("DELETE /events/{event_id}", forget_event, Forgotten, (404, 409)),
    (f"GET {PROFILE}/revisions", list_revisions, RevisionList, (404,)),
    (f"POST {PROFILE}/restore", restore_profile, OneProfile, (404,)),
    (f"GET {PROFILE}", get_profile, OneProfile, (404,)),
    ("GET /pins", list_pins, PinList, (404,)),
    ("POST /pins", add_pin, OnePin, (404, 409)),
    ("PUT /pins/{pin_id}", change_pin, OnePin, (404,)),
    ("DELETE /pins/{pin_id}", remove_pin, Forgotten, (404,)),
    ("POST /context", build_context, ContextBody, ()),
    ("GET /export", export_memory, None, (404, 409)),
    ("POST /evolve/{group_id}", evolve_group, EvolutionAnswer, (404, 409)),
    ("GET /list/{group_id}", list_beliefs, BeliefList, (404,)),
    ("GET /search/{group_id}", search_beliefs, BeliefSearchResult, (404,)),
    ("GET /history/{memory_id}", belief_history, BeliefHistory, (404,)),
    ("GET /changes/{group_id}", belief_changes, ChangeList, (404,)),
    ("DELETE /{memory_id}", retire_belief, OneBelief, (404, 409)),
    ("PUT /{memory_id}/restore", restore_belief, OneBelief, (404, 409)),
    ("PUT /{memory_id}", reword_belief, OneBelief, (404, 409)),
    ("PUT /{memory_id}/strength", set_belief_strength, OneBelief, (404, 409)),
)


def add_routes(api: FastAPI) -> None:
    """Add every route, with its Chinese title and description; one without raises KeyError."""
    for route, endpoint, answer, statuses in ROUTES:
        (method, _, path), (title, description) = route.partition(" "), guide.ROUTES[endpoint.__name__]
        responses: dict[int | str, dict[str, Any]] = {
            status: {"model": Refusal, "description": guide.STATUSES[status]} for status in (*COMMON, *statuses)
        }
        options: dict[str, Any] = {"response_model_exclude_none": True} if endpoint is evolve_group else {}
        if 409 in statuses and "event_id" in path:  # noqa: PLR2004  # a status
            responses[409]["model"] = ChangedEvent
        if endpoint is export_memory:
            responses[200] = {"content": {JSON_LINES: {"schema": {"type": "string"}}}, "description": description}
            options["response_class"] = FileResponse
        api.add_api_route(
            path,
            endpoint,
            methods=[method],
            summary=title,
            description=description,
            operation_id=endpoint.__name__,
            responses=responses,
            response_model=answer,
            **options,
        )
