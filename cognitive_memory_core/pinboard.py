"""Pins: facts that people enter themselves, always injected in the place where they were pinned."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace

from . import sentences
from .domain.note import Pin
from .domain.scope import Scene
from .domain.turn import shortened
from .errors import BadArgument, LimitReached, UnknownPin
from .ports.clock import Clock
from .store.notes import NoteBook
from .text.names import clean_text

PIN_LENGTH = 500


class Pinboard:
    """Reads and writes the pins that a scene may see: the group's and the asker's own.

    An operator sees all pins of the scene's group; without a group an operator changes any pin of the agent by its id.
    """

    def __init__(self, notes: NoteBook, clock: Clock) -> None:
        """Create over a book of pins."""
        self._notes = notes
        self._clock = clock
        self._turn = asyncio.Lock()

    async def pins(self, scene: Scene) -> list[Pin]:
        """Return the pins that the scene may see, oldest first."""
        return [pin for pin in await self._notes.pins(scene.scope) if _visible(pin, scene)]

    async def pin(self, scene: Scene, text: str, *, for_group: bool, limit: int) -> Pin:
        """Store a pin; for an exact duplicate of the same owner, return the existing pin.

        Raises LimitReached if the owner already has ``limit`` pins here, BadArgument for a blank text.
        """
        text = _checked(text)
        owner_id = "" if for_group or scene.kind == "operator" else scene.user_id
        async with self._turn:
            own = [pin for pin in await self._notes.pins(scene.scope) if pin.owner_id == owner_id]
            standing = next((pin for pin in own if pin.text == text), None)
            if standing is not None:
                return standing
            if len(own) >= limit:
                raise LimitReached(sentences.caller.PINS_FULL.format(limit=limit))
            pin = Pin(secrets.token_hex(8), scene.scope, text, owner_id, self._clock.now(), scene.user_id)
            await self._notes.write_pin(pin)
        return pin

    async def update(self, scene: Scene, pin_id: str, text: str) -> Pin:
        """Replace the text of a pin that the scene may see; raises UnknownPin otherwise."""
        async with self._turn:
            pin = replace(await self._get(scene, pin_id), text=_checked(text), author_id=scene.user_id)
            await self._notes.write_pin(pin)
        return pin

    async def unpin(self, scene: Scene, pin_id: str) -> None:
        """Delete a pin; raises UnknownPin if the id is unknown or the scene (place and asker) may not see the pin."""
        async with self._turn:
            await self._notes.erase_pin((await self._get(scene, pin_id)).id)

    async def _get(self, scene: Scene, pin_id: str) -> Pin:
        found = await self._notes.find_pin(pin_id)
        if found is None or not _reachable(found, scene):
            raise UnknownPin(sentences.caller.UNKNOWN_PIN)
        return found


def _visible(pin: Pin, scene: Scene) -> bool:
    return scene.kind == "operator" or pin.owner_id in ("", scene.user_id)


def _reachable(pin: Pin, scene: Scene) -> bool:
    if scene.kind == "operator" and not scene.group_id:
        return pin.scope.agent == scene.agent
    return pin.scope == scene.scope and _visible(pin, scene)


def _checked(text: object) -> str:
    if not isinstance(text, str) or not clean_text(text).strip():
        raise BadArgument(sentences.caller.bad_value("text", text, "非空文本"))
    return shortened(clean_text(text).strip(), PIN_LENGTH)
