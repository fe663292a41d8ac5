"""Routes on the beliefs of groups."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from ..bodies.beliefs import BeliefList
from ..dependencies import Id, Operator

router = APIRouter()
Limit = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int, Query(ge=0, le=1_000_000)]


@router.get("/list/{group_id}")
async def list_beliefs(
    group_id: Id,
    operator: Operator,
    status: Annotated[Literal["active", "deprecated", "all"], Query()] = "active",
    limit: Limit = 20,
    offset: Offset = 0,
) -> BeliefList:
    """Return the beliefs of a group, strongest first."""
    page = await operator.memory.beliefs(operator.scene(group_id), status=status, limit=limit, offset=offset)
    return BeliefList.of(group_id, page)
