"""Beliefs as people change them, each change logged and undone at will, and their vectors."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .. import sentences
from ..domain.belief import Belief, BeliefEdit, ChangeAction, logged
from ..domain.ids import derived_id
from ..domain.scope import Scene, Scope
from ..errors import BadAnswer, BadArgument, MistakeError, PermanentError, UnknownBelief
from ..ports.clock import Clock
from ..ports.models import Embedder
from ..store.beliefs import BeliefBook
from ..tasks import BackgroundLoop

OPERATOR = "operator"  # who changed a belief, where an operator did


def group_of(scene: Scene) -> Scope:
    """Return the group of a scene; raises BadArgument if it has none."""
    if scene.kind == "private":
        raise BadArgument(sentences.evolution.ONLY_GROUPS)
    return scene.scope


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
            raise UnknownBelief(sentences.evolution.UNKNOWN_BELIEF)
        return found

    async def retire(self, scene: Scene, belief_id: str, reason: str) -> Belief:
        """Retire a belief, which stays stored; evolution does not create it again.

        Raises UnknownBelief, or MistakeError if it is retired already.
        """
        async with self.turn:
            current = await self._current(scene, belief_id)
            if current.status != "active":
                raise MistakeError(sentences.evolution.RETIRED_ALREADY)
            why = reason.strip() or sentences.evolution.RETIRED_BY_HAND
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
            if wanted.id != current.id:
                after = replace(
                    wanted,
                    id=derived_id(current.chain_id, current.version + 1, now.isoformat()),
                    version=current.version + 1,
                    parent_id=current.id,
                    change_summary=sentences.evolution.RESTORED_BY_HAND,
                )
            elif current.status == "active":
                raise MistakeError(sentences.evolution.NOT_RETIRED)
            else:
                after = current
            after = replace(after, status="active", is_current=True, is_barred=False, updated_at=now, weighed_at=now)
            return await self._changed(scene, after, current, "restore", sentences.evolution.RESTORED_BY_HAND)

    async def set_strength(self, scene: Scene, belief_id: str, strength: float) -> Belief:
        """Set the strength of an active or retired belief; raises UnknownBelief, BadArgument outside [0, 1]."""
        if not math.isfinite(strength) or not 0 <= strength <= 1:
            raise BadArgument(sentences.caller.bad_value("strength", strength, " 0 到 1 的数"))
        async with self.turn:
            current = await self._current(scene, belief_id)
            after = replace(current, strength=float(strength), weighed_at=self.clock.now())
            return await self._changed(
                scene, after, current, "strength", sentences.evolution.STRENGTH_SET.format(strength=strength)
            )

    async def _current(self, scene: Scene, belief_id: str) -> Belief:
        stored = await self.stored(scene, belief_id)
        return (await self.beliefs.history(stored.chain_id))[-1]

    async def _changed(self, scene: Scene, after: Belief, before: Belief, action: ChangeAction, reason: str) -> Belief:
        by = scene.user_id or OPERATOR
        change = logged(action, after, before, reason, self.clock.now(), by=by)
        applied = await self.beliefs.commit([BeliefEdit(after, before, change)])
        if applied:
            return after
        standing = await self.beliefs.find(before.id)
        is_same = standing is not None and standing.is_current and standing.status == before.status
        message = sentences.evolution.SAME_ALREADY_ACTIVE if is_same else sentences.evolution.CHANGED_MEANWHILE
        raise MistakeError(message)


BATCH = 32
SKIPPED_FOR = 3600.0  # seconds until a refused statement is tried again
REFUSALS = (PermanentError, BadAnswer, BadArgument)


class BeliefIndexer:
    """Embeds the beliefs that have no vector, in batches; a belief that the model refused is retried after an hour."""

    def __init__(
        self, vectors: BeliefBook, embedder: Embedder, *, elapsed: Callable[[], float] = time.monotonic
    ) -> None:
        """Create an indexer of the beliefs of a ledger; ``elapsed`` returns seconds of a monotonic clock."""
        self._vectors = vectors
        self._embedder = embedder
        self._elapsed = elapsed
        self._refused: dict[str, float] = {}  # ids, left alone until this time
        self.loop = BackgroundLoop("belief index", self._round)
        self.nudge, self.wake_now = self.loop.nudge, self.loop.wake_now

    async def has_lag(self) -> bool:
        """Return whether any active belief has no vector yet."""
        return bool(await self._batch())

    async def step(self) -> int:
        """Embed one batch of beliefs; return the size of the batch."""
        batch = await self._batch()
        if batch:
            try:
                vectors = await self._embedder.embed_documents([one.statement for one in batch])
                for belief, vector in zip(batch, vectors, strict=True):
                    await self._vectors.store(self._embedder.fingerprint, belief, vector)
            except REFUSALS:
                await self._each(batch)
        return len(batch)

    async def _round(self) -> float:
        return 0.0 if await self.step() >= BATCH else SKIPPED_FOR

    async def _each(self, batch: list[Belief]) -> None:
        for belief in batch:
            try:
                (vector,) = await self._embedder.embed_documents([belief.statement])
                await self._vectors.store(self._embedder.fingerprint, belief, vector)
            except REFUSALS:
                self._refused[belief.id] = self._elapsed() + SKIPPED_FOR

    async def _batch(self) -> list[Belief]:
        now = self._elapsed()
        self._refused = {one: until for one, until in self._refused.items() if until > now}
        waiting = await self._vectors.waiting(self._embedder.fingerprint, BATCH + len(self._refused))
        return [one for one in waiting if one.id not in self._refused][:BATCH]
