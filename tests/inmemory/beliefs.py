"""Beliefs of groups, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from operator import mul

from cognitive_memory_core import sentences
from cognitive_memory_core.domain.belief import (
    Belief,
    BeliefEdit,
    BeliefPage,
    Change,
    is_applicable,
    superseded,
    without_message,
)
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import BadArgument
from cognitive_memory_core.ports.beliefs import EmbeddedBelief, GroupActivity, Listing
from cognitive_memory_core.ports.models import Vector

from .state import InMemoryState
from .vectors import has_direction


class InMemoryBeliefs:
    """The beliefs of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def commit(self, edits: Sequence[BeliefEdit]) -> list[BeliefEdit]:
        """Write edits; return those that still applied."""
        return [edit for edit in edits if self._is_written(edit)]

    async def find(self, belief_id: str) -> Belief | None:
        """Return any version of a belief."""
        return self._state.beliefs.get(belief_id)

    async def page(self, scope: Scope, status: Listing, limit: int, offset: int = 0) -> BeliefPage:
        """Return current versions of a place, strongest first."""
        here = [one for one in self._current(scope) if status in ("all", one.status)]
        ordered = sorted(here, key=lambda one: (one.status, -one.strength))
        return BeliefPage(tuple(ordered[max(offset, 0) :][: max(limit, 0)]), len(here))

    async def history(self, chain_id: str) -> list[Belief]:
        """Return all versions of a chain, oldest first."""
        return self._state.chain(chain_id)

    async def changes(self, scope: Scope, since: datetime) -> list[Change]:
        """Return the change log of a place from an instant on, oldest first."""
        logged = self._state.belief_changes.values()
        here = (one for one in logged if one.scope == scope and one.changed_at >= since)
        return sorted(here, key=lambda one: one.changed_at)

    async def waiting(self, fingerprint: str, limit: int) -> list[Belief]:
        """Return active beliefs without a vector of this model, oldest first."""
        models = self._state.belief_vectors
        active = (one for one in self._state.beliefs.values() if one.status == "active")
        return [one for one in active if models.get(one.id, ("",))[0] != fingerprint][: max(limit, 0)]

    async def store(self, fingerprint: str, belief: Belief, vector: Vector) -> None:
        """Store a vector if the statement is unchanged; a vector without a direction is refused."""
        if not has_direction(vector):
            raise BadArgument(
                sentences.caller.bad_value("vector", belief.id, sentences.storage_errors.VECTOR_WITH_DIRECTION)
            )
        standing = self._state.beliefs.get(belief.id)
        if standing is not None and standing.status == "active" and standing.key == belief.key:
            self._state.belief_vectors[belief.id] = (fingerprint, vector)

    async def embedded(self, scope: Scope, fingerprint: str) -> list[EmbeddedBelief]:
        """Return the active beliefs of a place with their vectors."""
        active = (one for one in self._current(scope) if one.status == "active")
        return [EmbeddedBelief(one, self._vector(one, fingerprint)) for one in active]

    async def near(self, scope: Scope, fingerprint: str, vector: Vector | None) -> list[tuple[Belief, float | None]]:
        """Return the active beliefs of a place with their cosine to a unit vector."""
        rows = await self.embedded(scope, fingerprint)
        return [(row.belief, _cosine(vector, row.vector)) for row in rows]

    async def note(self, scope: Scope, read: Sequence[str]) -> None:
        """Record a run that was given these messages."""
        state = self._state
        lines = [message_id for place, message_id in state.messages if place == scope]
        last = max((at for at, one in enumerate(lines) if one in set(read)), default=-1)
        known, _ = state.evolved.get(scope, (frozenset[str](), 0))
        number = max((run for _, run in state.evolved.values()), default=0) + 1
        state.evolved[scope] = (known | frozenset(lines[: last + 1]), number)

    async def unread(self) -> list[GroupActivity]:
        """Return the groups with unread lines of people, the one whose last run is longest ago first."""
        found: list[GroupActivity] = []
        for scope in sorted({scope for scope, _ in self._state.messages if scope.kind == "group"}):
            read, run = self._state.evolved.get(scope, (frozenset[str](), 0))
            rows = self._state.messages.items()
            said = [one.sent_at for (place, key), one in rows if place == scope and key not in read and not one.is_bot]
            if said:
                found.append(GroupActivity(scope, len(said), min(said), run))
        return sorted(found, key=lambda one: one.run)

    def _is_written(self, edit: BeliefEdit) -> bool:
        state, after = self._state, edit.belief
        stored = state.beliefs.get((edit.before or after).id)
        others = (one for one in self._current(after.scope) if edit.before is None or one.id != edit.before.id)
        keys = {one.key for one in others if one.status == "active"}
        if state.erased.covers_place(after.scope, after.updated_at) or not is_applicable(edit, stored, keys):
            return False
        ids = tuple(one for one in after.message_ids if (after.scope, one) not in state.withdrawn)
        is_new = stored is None or after.id != stored.id
        if is_new and after.message_ids and not ids:
            return False
        if stored is not None and is_new:
            state.put_belief(superseded(stored))
        state.put_belief(replace(after, message_ids=ids))
        if edit.change:
            state.belief_changes.setdefault(edit.change.id, edit.change)
        return True

    def _current(self, scope: Scope) -> list[Belief]:
        return [one for one in self._state.beliefs.values() if one.scope == scope and one.is_current]

    def _vector(self, belief: Belief, fingerprint: str) -> Vector | None:
        model, vector = self._state.belief_vectors.get(belief.id, ("", None))
        return vector if model == fingerprint else None


def _cosine(vector: Vector | None, other: Vector | None) -> float | None:
    if vector is None or other is None or len(vector) != len(other):
        return None
    return sum(map(mul, vector, other))


def senders_of(state: InMemoryState, belief: Belief) -> dict[str, str]:
    """Return the senders of those messages of a belief that are in the log."""
    known = {one: state.messages.get((belief.scope, one)) for one in belief.message_ids}
    return {one: message.sender_id for one, message in known.items() if message}


def withdraw(state: InMemoryState, scope: Scope, message_id: str, at: datetime) -> None:
    """Take a withdrawn message from under the beliefs that rest on it."""
    for belief in [one for one in state.beliefs.values() if one.scope == scope and message_id in one.message_ids]:
        edit = without_message(belief, message_id, sentences.stored_text.BELIEF_WITHDRAWN, at, senders_of(state, belief))
        state.put_belief(edit.belief)
        if edit.change:
            state.belief_changes.setdefault(edit.change.id, edit.change)


def import_rows(state: InMemoryState, row: Belief | Change) -> bool:
    """Import a version or an entry of the change log; return whether it was new."""
    if isinstance(row, Belief):
        return _import_version(state, row)
    is_new = row.id not in state.belief_changes
    state.belief_changes.setdefault(row.id, row)
    return is_new


def _import_version(state: InMemoryState, belief: Belief) -> bool:
    left = tuple(one for one in belief.supporters if not state.erased.covers_person(one, belief.updated_at))
    chain = state.chain(belief.chain_id)
    is_known = belief.id in state.beliefs or any(one.version == belief.version for one in chain)
    if is_known or (belief.supporters and not left) or any(one.scope != belief.scope for one in chain):
        return False
    others = (one for one in state.beliefs.values() if one.scope == belief.scope and one.chain_id != belief.chain_id)
    if belief.status == "active" and any(one.status == "active" and one.key == belief.key for one in others):
        return False
    state.put_belief(replace(belief, supporters=left))
    state.relink(belief.chain_id)
    return True
