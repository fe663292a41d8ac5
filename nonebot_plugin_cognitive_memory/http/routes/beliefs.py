"""Routes on the beliefs of groups: evolve, list, search, history, changes, retire, restore and set the strength."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import Path, Query

from ...replies import http_guide as guide
from ..bodies.beliefs import (
    BELIEF_ID,
    BeliefHistory,
    BeliefList,
    BeliefSearchResult,
    ChangeList,
    EvolutionAnswer,
    OneBelief,
    Strength,
)
from ..dependencies import LONGEST_ID, GroupId, Limit, Offset, Operator
from ..routers import DescribedRouter, refusals

router = DescribedRouter()
MemoryId = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description=guide.MEMORY_ID, examples=[BELIEF_ID])]
Status = Annotated[Literal["active", "deprecated", "all"], Query(description=guide.STATUS)]


@router.post("/evolve/{group_id}", responses=refusals(404, 409), response_model_exclude_none=True)
async def evolve_group(
    group_id: GroupId, operator: Operator, days: Annotated[int, Query(ge=1, le=366, description=guide.DAYS_READ)] = 1
) -> EvolutionAnswer:
    """Update the beliefs of a group; 409 while a run of this group is under way."""
    scene = await operator.known_group(group_id)
    run = await operator.memory.evolve(scene, days=days)
    return EvolutionAnswer.of(group_id, datetime.now(operator.settings.zone), run)


@router.get("/list/{group_id}", responses=refusals(404))
async def list_beliefs(
    group_id: GroupId, operator: Operator, status: Status = "active", limit: Limit = 20, offset: Offset = 0
) -> BeliefList:
    """Return the beliefs of a group, strongest first."""
    page = await operator.memory.beliefs(operator.scene(group_id), status=status, limit=limit, offset=offset)
    if not page.total:
        await operator.known_group(group_id)
    return BeliefList.of(group_id, page)


@router.get("/search/{group_id}", responses=refusals(404))
async def search_beliefs(
    group_id: GroupId,
    operator: Operator,
    q: Annotated[str, Query(min_length=1, max_length=4_000, description=guide.QUESTION, examples=[guide.FRIDAY])],
    limit: Limit = 5,
    threshold: Annotated[float, Query(ge=0, le=1, description=guide.THRESHOLD)] = 0.7,
) -> BeliefSearchResult:
    """Search the active beliefs of a group."""
    hits = await operator.memory.search_beliefs(operator.scene(group_id), q, limit=limit, threshold=threshold)
    if not hits:
        await operator.known_group(group_id)
    return BeliefSearchResult.of(q, hits)


@router.get("/history/{memory_id}", responses=refusals(404))
async def belief_history(memory_id: MemoryId, operator: Operator) -> BeliefHistory:
    """Return the versions of a belief, oldest first."""
    return BeliefHistory.of(memory_id, await operator.memory.belief_history(operator.scene(), memory_id))


@router.get("/changes/{group_id}", responses=refusals(404))
async def belief_changes(
    group_id: GroupId, operator: Operator, days: Annotated[int, Query(ge=1, le=366, description=guide.DAYS_SHOWN)] = 7
) -> ChangeList:
    """Return what was done to the beliefs of a group, oldest first."""
    changes = await operator.memory.belief_changes(operator.scene(group_id), days=days)
    if not changes:
        await operator.known_group(group_id)
    until = datetime.now(operator.settings.zone)
    return ChangeList.of(group_id, until - timedelta(days=days), until, changes)


@router.delete("/{memory_id}", responses=refusals(404, 409))
async def retire_belief(
    memory_id: MemoryId,
    operator: Operator,
    reason: Annotated[str, Query(max_length=300, description=guide.REASON)] = "",
) -> OneBelief:
    """Retire a belief; it can be restored."""
    return OneBelief.of(await operator.memory.retire_belief(operator.scene(), memory_id, reason))


@router.put("/{memory_id}/restore", responses=refusals(404, 409))
async def restore_belief(memory_id: MemoryId, operator: Operator) -> OneBelief:
    """Restore a retired belief, or an older version as the newest."""
    return OneBelief.of(await operator.memory.restore_belief(operator.scene(), memory_id))


@router.put("/{memory_id}/strength", responses=refusals(404, 409))
async def set_belief_strength(memory_id: MemoryId, operator: Operator, wanted: Strength) -> OneBelief:
    """Set the strength of a belief."""
    return OneBelief.of(await operator.memory.set_belief_strength(operator.scene(), memory_id, wanted.strength))
