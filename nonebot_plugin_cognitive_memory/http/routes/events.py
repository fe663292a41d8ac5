"""Routes on events."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

import cognitive_memory_core as core

from ... import replies
from ...replies import http_guide as guide
from ..bodies.events import EVENT_ID, ChangedEvent, EventBody, EventList, EventText, Forgotten, OneEvent
from ..dependencies import LONGEST_ID, EventChanged, Operator, OperatorAccess
from ..routers import DescribedRouter, refusals

router = DescribedRouter()
EventId = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description=guide.EVENT_ID, examples=[EVENT_ID])]
CHANGED = {**refusals(404), 409: {"model": ChangedEvent, "description": guide.STATUSES[409]}}
Kind = Literal["event", "preference", "knowledge", "experience", "message"]


class WantedEvents(BaseModel):
    """Which events a request wants: with ``q`` a search, without it the list of a place or a person."""

    q: str | None = Field(default=None, min_length=1, max_length=4_000, description=guide.QUESTION)
    group_id: str | None = Field(default=None, min_length=1, max_length=LONGEST_ID, description=guide.NARROW_GROUP)
    user_id: str | None = Field(default=None, min_length=1, max_length=LONGEST_ID, description=guide.NARROW_USER)
    kinds: list[Kind] = Field(default=[], max_length=5, description=guide.KINDS)
    time_from: str | None = Field(default=None, max_length=40, description=guide.TIME_FROM)
    time_to: str | None = Field(default=None, max_length=40, description=guide.TIME_TO)
    limit: int = Field(default=20, ge=1, le=200, description=guide.LIMIT)
    offset: int = Field(default=0, ge=0, le=1_000_000, description=guide.OFFSET)


@router.get("/events", responses=refusals(404))
async def list_events(operator: Operator, wanted: Annotated[WantedEvents, Query()]) -> EventList:
    """Return events; 404 for a group of which the agent has nothing."""
    if not wanted.q and (wanted.kinds or wanted.time_from or wanted.time_to):
        raise core.BadArgument(replies.http.ONLY_SEARCHED)
    answer = await _found(operator, wanted) if wanted.q else await _listed(operator, wanted)
    if wanted.group_id and not answer.events:
        await operator.known_group(wanted.group_id)
    return answer


@router.put("/events/{event_id}", responses=CHANGED)
async def correct_event(event_id: EventId, operator: Operator, wanted: EventText) -> OneEvent:
    """Replace the text of an event, which gets a new id; 409 with the present event if it is retired."""
    scene, listings = operator.scene(), operator.memory.listings
    try:
        corrected = await operator.memory.correct_event(scene, event_id, wanted.text)
    except core.UnknownEvent:
        raise EventChanged(await listings.present(scene, event_id)) from None
    return OneEvent(event=EventBody.model_validate(await listings.event(scene, corrected.id)))


@router.put("/events/{event_id}/restore", responses=CHANGED)
async def restore_event(event_id: EventId, operator: Operator) -> OneEvent:
    """Restore an event that was forgotten at most 30 days ago; 409 with the present event if it was corrected."""
    await _check_uncorrected(operator, event_id)
    restored = await operator.memory.restore_event(operator.scene(), event_id)
    return OneEvent(event=EventBody.model_validate(await operator.memory.listings.event(operator.scene(), restored.id)))


@router.delete("/events/{event_id}", responses=CHANGED)
async def forget_event(event_id: EventId, operator: Operator) -> Forgotten:
    """Forget an event; it can be restored for 30 days. 409 with the present event if it was corrected."""
    await _check_uncorrected(operator, event_id)
    await operator.memory.forget_event(operator.scene(), event_id)
    return Forgotten(id=event_id)


async def _check_uncorrected(operator: OperatorAccess, event_id: str) -> None:
    present = await operator.memory.listings.present(operator.scene(), event_id)
    if present.id != event_id:
        raise EventChanged(present)


async def _found(operator: OperatorAccess, wanted: WantedEvents) -> EventList:
    """Return a page of a search: ``limit`` of its best hits from ``offset`` on."""
    hits = await operator.memory.search_events(
        operator.scene(),
        wanted.q or "",
        user_id=wanted.user_id,
        group_id=wanted.group_id,
        kinds=wanted.kinds,
        top_k=wanted.offset + wanted.limit,
        time_from=wanted.time_from,
        time_to=wanted.time_to,
    )
    return EventList.found(hits[wanted.offset :])


async def _listed(operator: OperatorAccess, wanted: WantedEvents) -> EventList:
    place = operator.scene(wanted.group_id).scope if wanted.group_id else None
    listing = core.EventListing(place=place, user_id=wanted.user_id or "")
    listed = await operator.memory.listings.events(operator.scene(), listing, wanted.limit, wanted.offset)
    return EventList.listed(listed)
