"""Pins and past profiles: the part of the façade by which people read and change them."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace

from .. import sentences
from ..domain.event import shortened
from ..domain.profile import Profile, ProfileKey, Revision, said_in
from ..domain.scope import Scene
from ..domain.turn import Pin
from ..errors import BadArgument, LimitReached, NotPermitted, UnknownPin
from ..text.names import clean_text, one_line
from .arguments import checks_arguments
from .reads import Reads, reading

PIN_LENGTH = 500


@checks_arguments
class PinsAndRevisions(Reads):
    """Pins and revisions of :class:`CognitiveMemory`.

    A scene sees its group's pins and the asker's own, an operator all of the group. Without a group, an operator
    changes any pin of the agent by its id. Past profiles are shown without what forgotten events stated.
    """

    def __init__(self, reason: str) -> None:
        """Begin without an open memory, for this reason."""
        super().__init__(reason)
        self._pinning = asyncio.Lock()  # changes take turns, so that no limit is exceeded

    @reading(list)
    async def pins(self, scene: Scene) -> list[Pin]:
        """Return the pins of the scene's place, oldest first: the group's and the asker's own, for an operator all."""
        return self._opened.consent.shown(scene, await self._opened.ledger.notes.pins(scene.scope))

    async def pin(self, scene: Scene, text: str, *, for_group: bool = False) -> Pin:
        """Store a pin; return the existing one for an exact duplicate; raise LimitReached over ``pins.max``."""
        opened, limit, text = self._opened, self._settings.current.pins.max, self._pin_text(text)
        owner_id = "" if for_group or scene.kind == "operator" else scene.user_id
        async with self._pinning:
            own = [pin for pin in await opened.ledger.notes.pins(scene.scope) if pin.owner_id == owner_id]
            if standing := next((pin for pin in own if pin.text == text), None):
                return standing
            if len(own) >= limit:
                raise LimitReached(sentences.caller.PINS_FULL.format(limit=limit))
            pin = Pin(secrets.token_hex(8), scene.scope, text, owner_id, opened.clock.now(), scene.user_id)
            await opened.ledger.notes.write_pin(pin)
        return pin

    async def update_pin(self, scene: Scene, pin_id: str, text: str) -> Pin:
        """Replace a pin's text; raises UnknownPin. An operator without a group may change any pin of their agent."""
        text = self._pin_text(text)
        async with self._pinning:
            pin = replace(await self._get_pin(scene, pin_id), text=text, author_id=scene.user_id)
            await self._opened.ledger.notes.write_pin(pin)
        return pin

    async def unpin(self, scene: Scene, pin_id: str) -> None:
        """Delete a pin; raises UnknownPin if the id is unknown or the scene (place and asker) may not see the pin."""
        async with self._pinning:
            await self._opened.ledger.notes.erase_pin((await self._get_pin(scene, pin_id)).id)

    async def _get_pin(self, scene: Scene, pin_id: str) -> Pin:
        pin = await self._opened.ledger.notes.find_pin(pin_id)
        is_anywhere = scene.kind == "operator" and not scene.group_id
        if pin and (pin.scope.agent == scene.agent if is_anywhere else self._opened.consent.admits(scene, pin)):
            return pin
        raise UnknownPin(sentences.caller.UNKNOWN_PIN)

    def _pin_text(self, text: str) -> str:
        wanted = clean_text(self._opened.consent.hidden(text)).strip()
        if not wanted:
            raise BadArgument(sentences.caller.bad_value("text", text, "非空文本"))
        return shortened(wanted, PIN_LENGTH)

    @reading(list, "may_search")
    async def profile_revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Return the past profiles of the asker or of the group, newest first; an operator may read all.

        Sharing lets others read only the present profile: for past ones they get NotPermitted.
        """
        from .forgetting import forgotten_in  # noqa: PLC0415  # loaded when a memory is open

        opened = self._opened
        await self._permit(scene, key)
        without = await forgotten_in(key, opened.ledger.eraser)
        found = [replace(one, profile=without(one.profile)) for one in await opened.profiles.revisions(key)]
        return opened.consent.revisions(scene, key, found)

    async def restore_profile(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Restore a past profile; the present one becomes a revision, so that this can be undone.

        People may restore their own profile, a group's scene the group's, and an operator any; others raise
        NotPermitted. Callers must check who in a group may do it, as with its pins. Raises UnknownRevision.
        """
        from .forgetting import forgotten_in  # noqa: PLC0415  # as above

        opened = self._opened
        await self._permit(scene, key)
        without = await forgotten_in(key, opened.ledger.eraser)
        return await self._taken_in(await opened.profiles.restore(key, revision_id, opened.clock.now(), without))

    async def edit_profile(self, scene: Scene, key: ProfileKey, line: str, text: str) -> Profile:
        """Replace a line of a profile that was written by hand, that is, rests on no event; return the new profile.

        A blank ``line`` adds one, a blank ``text`` removes it; the former profile becomes a revision. Later merges keep
        such lines. Permissions are those of :meth:`restore_profile`, but a group's is for an operator only. Raises
        BadArgument if no such line is there.
        """
        opened = self._opened
        await self._permit(scene, key)
        if scene.kind != "operator" and not key.user_id:  # unlike a past version, these are words that nobody said here
            raise NotPermitted(sentences.caller.NOT_YOUR_PROFILE)
        present = await opened.profiles.find(key) or Profile(key, "", (), "", opened.clock.now())
        lines, wanted = present.summary.split("\n"), one_line(opened.consent.hidden(text), PIN_LENGTH)
        wanted = wanted.lstrip("#-*+• \t")
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
        edited = replace(present, summary="\n".join(lines), updated_at=opened.clock.now())
        return await self._taken_in(await opened.profiles.write(edited))

    async def _permit(self, scene: Scene, key: ProfileKey) -> None:
        await self._opened.profile_reader.find(scene, key)  # raises for a profile that may not be read
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            raise NotPermitted(sentences.caller.NOT_YOUR_PROFILE)

    async def _taken_in(self, stored: Profile) -> Profile:
        await self._opened.ledger.profiles.take_in(stored.key, self._opened.profiles.read)
        self._opened.on_restored()
        return self._opened.consent.redacted(stored)
