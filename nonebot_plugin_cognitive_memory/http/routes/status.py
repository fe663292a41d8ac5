"""Routes on the state of the memory."""

from __future__ import annotations

from fastapi import APIRouter

from ..bodies.status import StatusBody
from ..dependencies import Operator

router = APIRouter()


@router.get("/status")
async def get_status(operator: Operator) -> StatusBody:
    """Return counts, queue, index, errors and the day's spending."""
    return StatusBody.of(await operator.memory.status())
