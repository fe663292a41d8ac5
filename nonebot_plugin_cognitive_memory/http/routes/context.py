"""The route on the context of a turn."""

from __future__ import annotations

from ..bodies.context import ContextBody, Question
from ..dependencies import Operator
from ..routers import DescribedRouter
from .places import place

router = DescribedRouter()


@router.post("/context")
async def build_context(operator: Operator, wanted: Question) -> ContextBody:
    """Return the context for a turn in a group, in a private chat, or of a member in a group."""
    scene = place(operator, wanted.group_id, wanted.user_id)
    return ContextBody.of(await operator.memory.context(scene, wanted.query, budget=wanted.budget))
