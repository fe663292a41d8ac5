"""Routes on pins."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from ...replies import http_guide as guide
from ..bodies.events import Forgotten
from ..bodies.pins import PIN_ID, NewPin, OnePin, PinList, PinText
from ..dependencies import LONGEST_ID, Operator
from ..routers import DescribedRouter, refusals
from .places import place

router = DescribedRouter()
PinId = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description=guide.PIN_ID, examples=[PIN_ID])]


@router.get("/pins", responses=refusals(404))
async def list_pins(
    operator: Operator,
    group_id: Annotated[
        str | None, Query(min_length=1, max_length=LONGEST_ID, description=guide.GROUP_ID, examples=["10001"])
    ] = None,
    user_id: Annotated[str | None, Query(min_length=1, max_length=LONGEST_ID, description=guide.USER_ID)] = None,
) -> PinList:
    """Return the pins of a place; 404 for a group of which the agent has nothing."""
    pins = await operator.memory.pins(place(operator, group_id, user_id))
    if group_id and not pins:
        await operator.known_group(group_id)
    return PinList.of(pins)


@router.post("/pins", responses=refusals(404, 409))
async def add_pin(operator: Operator, wanted: NewPin) -> OnePin:
    """Store a pin; 404 for a group of which the agent has nothing."""
    if wanted.group_id:
        await operator.known_group(wanted.group_id)
    scene = place(operator, wanted.group_id, wanted.user_id)
    return OnePin.of(await operator.memory.pin(scene, wanted.text))


@router.put("/pins/{pin_id}", responses=refusals(404))
async def change_pin(pin_id: PinId, operator: Operator, wanted: PinText) -> OnePin:
    """Replace the text of a pin."""
    return OnePin.of(await operator.memory.update_pin(operator.scene(), pin_id, wanted.text))


@router.delete("/pins/{pin_id}", responses=refusals(404))
async def remove_pin(pin_id: PinId, operator: Operator) -> Forgotten:
    """Remove a pin."""
    await operator.memory.unpin(operator.scene(), pin_id)
    return Forgotten(id=pin_id)
