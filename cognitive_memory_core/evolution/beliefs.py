"""Beliefs as people change them, each change logged and undone at will."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from .. import sentences
from ..consent import Consent
from ..domain.belief import STATEMENT_LENGTH, Belief, ChangeAction, logged
from ..domain.message import Message
from ..domain.scope import Scene, Scope
from ..errors import BadArgument, MistakeError, UnknownBelief
from ..ports import Clock
from ..store.beliefs import BeliefBook
from ..store.events import EventLedger

OPERATOR = "operator"  # who changed a belief, where an operator did


def group_of(scene: Scene) -> Scope:
    """Return the group of a scene; raises BadArgument if it has none."""
    if scene.kind == "private":
        raise BadArgument(sentences.caller.ONLY_GROUPS)
    return scene.scope


async def quoting(
    beliefs: Sequence[Belief],
    scope: Scope,
    find: Callable[[Scope, Collection[str]], Awaitable[list[Message]]],
    events: EventLedger,
    consent: Consent,
) -> list[Belief]:
    """Return beliefs of a place with their quotes; ``find`` returns lines of the place by their ids."""
    place = Scene.operator(scope.agent, group_id=scope.place_id)
    ids = {line_id for one in beliefs for line_id in one.message_ids}
    said = {line.id: line for line in consent.shown(place, await find(scope, ids))} if ids else {}

    def own(belief: Belief) -> list[Message]:
        found = (said[line_id] for line_id in belief.message_ids if line_id in said)
        return sorted(found, key=lambda line: line.sent_at)

    quoted = [one.quoting(own(one)) for one in beliefs]
    gone = [event_id for one in quoted if not one.quotes for event_id in one.event_ids]
    told = {event.id: event for event in consent.shown(place, await events.fetch(gone))} if gone else {}
    return [one if one.quotes else one.quoting((), (told[i] for i in one.event_ids if i in told)) for one in quoted]


@dataclass(frozen=True)
class BeliefKeeping:
    """Changes single beliefs; the caller must have checked that the asker may do so."""

    beliefs: BeliefBook
    clock: Clock
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def stored(self, scene: Scene, belief_id: str) -> Belief:
        """Return any version of a belief of the scene's group; raises UnknownBelief.

        An operator without a group gets beliefs of any group of the operator's agent.
        """
        is_anywhere = scene.kind == "operator" and not scene.group_id
        scope = None if is_anywhere else group_of(scene)
        found = await self.beliefs.find(belief_id)
        if found is None or found.scope.agent != scene.agent or scope not in (None, found.scope):
            raise UnknownBelief(sentences.caller.UNKNOWN_BELIEF)
        return found

    async def retire(self, scene: Scene, belief_id: str, reason: str) -> Belief:
        """Retire a belief, which stays stored; evolution does not create it again.

        Raises UnknownBelief, or MistakeError if it is retired already.
        """
        async with self.turn:
            current = await self._current(scene, belief_id)
            if current.status != "active":
                raise MistakeError(sentences.caller.RETIRED_ALREADY)
            why = reason.strip() or sentences.caller.RETIRED_BY_HAND
            after = replace(current, status="deprecated", is_barred=True, updated_at=self.clock.now())
            return await self._changed(scene, after, current, "delete", why)

    async def restore(self, scene: Scene, belief_id: str) -> Belief:
        """Make a belief active again; given the id of an older version, store its statement as the newest version.

        Raises UnknownBelief, or MistakeError if the belief is active already or an equal one is.
        """
        async with self.turn:
            wanted = await self.stored(scene, belief_id)
            current = await self._current(scene, belief_id)
            now = self.clock.now()
            why, after = sentences.caller.RESTORED_BY_HAND, current
            if wanted.id != current.id:
                after = current.followed_by(wanted, why, now, now.isoformat())
            elif current.status == "active":
                raise MistakeError(sentences.caller.NOT_RETIRED)
            after = replace(after, status="active", is_current=True, is_barred=False, updated_at=now, weighed_at=now)
            return await self._changed(scene, after, current, "restore", why)

    async def reword(self, scene: Scene, belief_id: str, statement: str) -> Belief:
        """Store an admin's wording as the next version, with no one's lines behind it, and make it active.

        Raises UnknownBelief, BadArgument for an empty or too long statement, or MistakeError if an equal one is active.
        """
        said, now = statement.strip(), self.clock.now()
        if not 1 <= len(said) <= STATEMENT_LENGTH:
            raise BadArgument(sentences.caller.BAD_LENGTH.format(most=STATEMENT_LENGTH))
        async with self.turn:
            current = await self._current(scene, belief_id)
            why = sentences.caller.REWORDED_BY_HAND
            after = current.followed_by(current.unsupported(said), why, now, now.isoformat())
            after = replace(after, status="active", weighed_at=now, is_barred=False)
            return await self._changed(scene, after, current, "update", why)

    async def set_strength(self, scene: Scene, belief_id: str, strength: float) -> Belief:
        """Set the strength of an active or retired belief; raises UnknownBelief, BadArgument outside [0, 1]."""
        if not math.isfinite(strength) or not 0 <= strength <= 1:
            raise BadArgument(sentences.caller.bad_value("strength", strength, " 0 到 1 的数"))
        async with self.turn:
            current = await self._current(scene, belief_id)
            after = replace(current, strength=float(strength), weighed_at=self.clock.now())
            return await self._changed(
                scene, after, current, "strength", sentences.caller.STRENGTH_SET.format(strength=strength)
            )

    async def _current(self, scene: Scene, belief_id: str) -> Belief:
        stored = await self.stored(scene, belief_id)
        return (await self.beliefs.history(stored.chain_id))[-1]

    async def _changed(self, scene: Scene, after: Belief, before: Belief, action: ChangeAction, reason: str) -> Belief:
        by = scene.user_id or OPERATOR
        if await self.beliefs.commit([logged(action, after, before, reason, self.clock.now(), by=by)]):
            return after
        standing = await self.beliefs.find(before.id)
        is_same = standing is not None and standing.is_current and standing.status == before.status
        message = sentences.caller.SAME_ALREADY_ACTIVE if is_same else sentences.caller.CHANGED_MEANWHILE
        raise MistakeError(message)
