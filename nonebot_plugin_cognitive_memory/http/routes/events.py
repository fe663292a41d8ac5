"""Routes on events."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

import cognitive_memory_core as core

from ... import replies
from ...replies import http_guide as guide
from ..bodies.events import EVENT_ID, EventList, Forgotten
from ..dependencies import LONGEST_ID, Operator, OperatorAccess
from ..routers import DescribedRouter, refusals

router = DescribedRouter()
EventId = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description=guide.EVENT_ID, examples=[EVENT_ID])]
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


@router.delete("/events/{event_id}", responses=refusals(404))
async def forget_event(event_id: EventId, operator: Operator) -> Forgotten:
    """Forget an event; it can be restored for 30 days."""
    await operator.memory.forget_event(operator.scene(), event_id)
    return Forgotten(id=event_id)


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
