"""Bodies on pins."""

from __future__ import annotations

from pydantic import BaseModel, Field

import cognitive_memory_core as core

from ...replies import http_guide as guide
from .body import Answer, Instant, RequestBody, example

LONGEST = 4_000  # characters that are accepted; the memory shortens a pin to fewer
PIN_ID = "5a60718293a4b5c6"
_PIN = {
    "id": PIN_ID,
    "text": guide.PINNED,
    "group_id": "10001",
    "user_id": "",
    "owner_id": "",
    "pinned_at": "2026-03-06T12:30:00Z",
}


class PinBody(BaseModel):
    """A pin: of a group, or of the private chat with ``user_id``; ``owner_id`` is "" if it is the whole group's."""

    id: str
    text: str
    group_id: str
    user_id: str
    owner_id: str
    pinned_at: Instant

    @classmethod
    def of(cls, pin: core.Pin) -> PinBody:
        """Build the body from a pin."""
        return cls(
            id=pin.id,
            text=pin.text,
            group_id=pin.scope.group_id,
            user_id="" if pin.scope.kind == "group" else pin.scope.place_id,
            owner_id=pin.owner_id,
            pinned_at=pin.pinned_at,
        )


class PinList(Answer):
    """The pins of a place, oldest first."""

    model_config = example(success=True, pins=[_PIN])
    pins: tuple[PinBody, ...]

    @classmethod
    def of(cls, pins: list[core.Pin]) -> PinList:
        """Build the body from pins."""
        return cls(pins=tuple(map(PinBody.of, pins)))


class OnePin(Answer):
    """A pin."""

    model_config = example(success=True, pin=_PIN)
    pin: PinBody

    @classmethod
    def of(cls, pin: core.Pin) -> OnePin:
        """Build the body from a pin."""
        return cls(pin=PinBody.of(pin))


class PinText(RequestBody):
    """The new text of a pin."""

    model_config = example(text=guide.PINNED)
    text: str = Field(min_length=1, max_length=LONGEST)


class NewPin(RequestBody):
    """A new pin and its place."""

    model_config = example(text=guide.PINNED, group_id="10001")
    text: str = Field(min_length=1, max_length=LONGEST)
    group_id: str | None = Field(default=None, min_length=1, max_length=128, description=guide.GROUP_ID)
    user_id: str | None = Field(default=None, min_length=1, max_length=128, description=guide.USER_ID)
