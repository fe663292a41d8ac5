"""Pins and past profiles, which people read and change through the façade."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import replace

from . import sentences
from .domain.erasure import keys_of
from .domain.note import Pin
from .domain.profile import Profile, ProfileKey, Revision, said_in
from .domain.scope import Scene
from .domain.turn import shortened
from .errors import BadArgument, LimitReached, NotPermitted, UnknownPin
from .opened import Opened
from .ports.clock import Clock
from .store.erasure.eraser import Eraser
from .store.notes import NoteBook
from .text.names import clean_text, one_line
from .text.statements.withdrawn_claims import without_retold

PIN_LENGTH = 500


class Pinboard:
    """Reads and writes the pins that a scene may see: the group's and the asker's own.

    An operator sees all pins of the scene's group; without a group an operator changes any pin of the agent by its id.
    """

    def __init__(self, notes: NoteBook, clock: Clock, turn: asyncio.Lock) -> None:
        """Create over a book of pins; changes take turns."""
        self._notes = notes
        self._clock = clock
        self._turn = turn

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


class ProfileHistory:
    """Lists and restores past profiles."""

    def __init__(self, opened: Opened) -> None:
        """Create over what is open."""
        self._opened = opened
        self.store, self.reader, self.access = opened.profiles, opened.profile_reader, opened.access
        self.events = opened.ledger.eraser

    async def revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Return the past profiles of a group, or of the asker, newest first; raises NotPermitted.

        Sharing lets others read only the present profile, not past ones. An operator may read all.
        """
        await self._permit(scene, key)
        if key.user_id in self.access.hidden_people:
            return []
        remove_forgotten = await _remover(key, self.events)
        return [replace(one, profile=remove_forgotten(one.profile)) for one in await self.store.revisions(key)]

    async def restore(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Restore a past profile as the present one; raises NotPermitted, UnknownRevision.

        What a forgotten event stated is removed from the restored profile; restoring the event brings it back.
        """
        await self._permit(scene, key)
        restored = await self.store.restore(
            key, revision_id, self._opened.clock.now(), await _remover(key, self.events)
        )
        return await self._taken_in(restored)

    async def edit(self, scene: Scene, key: ProfileKey, line: str, text: str) -> Profile:
        """Replace a line that rests on no event; a blank ``line`` adds one, a blank ``text`` removes it."""
        await self._permit(scene, key)
        if scene.kind != "operator" and not key.user_id:  # unlike a past version, these are words that nobody said here
            raise NotPermitted(sentences.caller.NOT_YOUR_PROFILE)
        present = await self.store.find(key) or Profile(key, "", (), "", self._opened.clock.now())
        lines, wanted = present.summary.split("\n"), one_line(text, PIN_LENGTH).lstrip("#-*+• \t")
        at = next((number for number, one in enumerate(lines) if line and said_in(one) == said_in(line)), None)
        if not line and not wanted:
            raise BadArgument(sentences.caller.bad_value("text", text, "非空文本"))
        if line and (at is None or said_in(line) in present.sources):
            raise BadArgument(sentences.caller.LINE_MOVED)
        if at is None:
            lines = [one for one in (*lines, f"- {wanted}" if wanted else "") if one or present.summary]
        else:
            before = lines[at][: lines[at].index(said_in(lines[at]))]
            lines[at : at + 1] = [before + wanted] if wanted else []
        edited = replace(present, summary="\n".join(lines), updated_at=self._opened.clock.now())
        return await self._taken_in(await self.store.write(edited))

    async def _taken_in(self, stored: Profile) -> Profile:
        await self._opened.ledger.profiles.take_in(stored.key, self.store.read)
        self._opened.on_restored()
        return self.access.redacted(stored)

    async def exported(self, profile: Profile) -> Profile:
        """Return a present or past profile for an export, without what forgotten events stated."""
        return await without_forgotten(profile, self.events)

    async def _permit(self, scene: Scene, key: ProfileKey) -> None:
        await self.reader.find(scene, key)
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            raise NotPermitted(sentences.caller.NOT_YOUR_PROFILE)


async def without_forgotten(profile: Profile, events: Eraser) -> Profile:
    """Return a present or past profile without what forgotten events stated."""
    return (await _remover(profile.key, events))(profile)


async def _remover(key: ProfileKey, events: Eraser) -> Callable[[Profile], Profile]:
    """Return a function that removes from this profile the lines of forgotten events, and what else retells them."""
    gone = [event for event in await events.unrepeatable() if key in keys_of(event)]
    return lambda profile: without_retold(profile, gone)
