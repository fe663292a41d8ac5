"""Pins: facts that people wrote down themselves, always injected where they were pinned."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace

from . import sentences
from .domain.note import Pin
from .domain.scope import Scene
from .domain.turn import shortened
from .errors import BadArgument, LimitReached, UnknownPin
from .ports.ambient import Clock
from .ports.ledger import NoteBook
from .text.identity.names import clean_text

PIN_LENGTH = 500


class Pinboard:
    """The pins that a scene may see: the group's, and the asker's own there; an operator sees all of a place."""

    def __init__(self, notes: NoteBook, clock: Clock) -> None:
        """Pin into a notebook."""
        self._notes = notes
        self._clock = clock
        self._turn = asyncio.Lock()

    async def pins(self, scene: Scene) -> list[Pin]:
        """Give the pins that the scene may see, oldest first."""
        return [pin for pin in await self._notes.pins(scene.scope) if _visible(pin, scene)]

    async def pin(self, scene: Scene, text: str, *, for_group: bool, limit: int) -> Pin:
        """Pin a fact; an exact duplicate of the same owner is the pin that stands."""
        text = _checked(text)
        owner_id = "" if for_group or scene.kind == "operator" else scene.user_id
        async with self._turn:
            own = [pin for pin in await self._notes.pins(scene.scope) if pin.owner_id == owner_id]
            standing = next((pin for pin in own if pin.text == text), None)
            if standing is not None:
                return standing
            if len(own) >= limit:
                raise LimitReached(sentences.pins_full(limit))
            pin = Pin(secrets.token_hex(8), scene.scope, text, owner_id, self._clock.now(), scene.user_id)
            await self._notes.write_pin(pin)
        return pin

    async def update(self, scene: Scene, pin_id: str, text: str) -> Pin:
        """Replace the text of a pin that the scene may see."""
        async with self._turn:
            pin = replace(await self._get(scene, pin_id), text=_checked(text), author_id=scene.user_id)
            await self._notes.write_pin(pin)
        return pin

    async def unpin(self, scene: Scene, pin_id: str) -> None:
        """Take a pin down that the scene may see."""
        async with self._turn:
            await self._notes.erase_pin((await self._get(scene, pin_id)).id)

    async def _get(self, scene: Scene, pin_id: str) -> Pin:
        found = next((pin for pin in await self.pins(scene) if pin.id == pin_id), None)
        if found is None:
            raise UnknownPin(sentences.unknown_pin())
        return found


def _visible(pin: Pin, scene: Scene) -> bool:
    return scene.kind == "operator" or pin.owner_id in ("", scene.user_id)


def _checked(text: object) -> str:
    if not isinstance(text, str) or not clean_text(text).strip():
        raise BadArgument(sentences.bad_value("text", text, "非空文本"))
    return shortened(clean_text(text).strip(), PIN_LENGTH)
