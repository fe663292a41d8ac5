"""The route of the quality report."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from ...replies import http_guide as guide
from ..bodies.report import ReportBody
from ..dependencies import Operator
from ..routers import DescribedRouter

router = DescribedRouter()


@router.get("/report")
async def get_report(
    operator: Operator,
    days: Annotated[int, Query(ge=1, le=366, description=guide.DAYS_SHOWN)] = 30,
    examine: Annotated[bool, Query(description=guide.EXAMINE)] = True,
) -> ReportBody:
    """Return the quality of what the agent remembers, and what it costs."""
    return ReportBody.of(await operator.memory.report(operator.scene(), days=days, examine=examine))
