"""Bodies on the beliefs of groups; other programs rely on the names of their fields."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

import cognitive_memory_core as core

from ...replies import http_guide as guide
from .body import Answer, Instant, RequestBody, example

_NOW, _BEFORE = "2026-03-06T12:30:00Z", "2026-03-01T00:00:00Z"
_OLD_ID, BELIEF_ID = "b1f0c3d4e5a60718293a4b5c6d7e8f01", "b1f0c3d4e5a60718293a4b5c6d7e8f02"
_BELIEF: dict[str, Any] = {
    "memory_id": BELIEF_ID,
    "statement": guide.NEW_STATEMENT,
    "version": 2,
    "created_at": _BEFORE,
    "updated_at": _NOW,
    "parent_id": _OLD_ID,
    "status": "active",
    "tags": guide.TAGS,
    "strength": 0.85,
    "change_summary": guide.CHANGE_REASON,
    "supporters": 3,
}
_FOUND = {name: _BELIEF[name] for name in ("memory_id", "statement", "version", "updated_at")}
_FIRST: dict[str, Any] = {
    **_BELIEF,
    "memory_id": _OLD_ID,
    "statement": guide.FRIDAY,
    "version": 1,
    "updated_at": _BEFORE,
    "parent_id": None,
    "status": "deprecated",
    "change_summary": "",
}
_CHANGE = {
    "old_id": _OLD_ID,
    "new_id": BELIEF_ID,
    "old_statement": guide.FRIDAY,
    "new_statement": guide.NEW_STATEMENT,
    "change_reason": guide.CHANGE_REASON,
}


class BeliefBody(BaseModel):
    """One version of a belief; ``created_at`` is when its first version began, ``supporters`` counts people."""

    memory_id: str
    statement: str
    version: int
    created_at: Instant
    updated_at: Instant
    parent_id: str | None
    status: Literal["active", "deprecated"]
    tags: tuple[str, ...]
    strength: float
    change_summary: str
    supporters: int

    @classmethod
    def of(cls, belief: core.Belief) -> BeliefBody:
        """Build the body from a belief."""
        return cls(
            memory_id=belief.id,
            statement=belief.statement,
            version=belief.version,
            created_at=belief.created_at,
            updated_at=belief.updated_at,
            parent_id=belief.parent_id,
            status=belief.status,
            tags=belief.tags,
            strength=belief.strength,
            change_summary=belief.change_summary,
            supporters=len(belief.supporters),
        )


class BeliefList(Answer):
    """A page of a group's beliefs; ``total`` is the number of all of them."""

    model_config = example(success=True, group_id="10001", total=1, memories=[_BELIEF])
    group_id: str
    total: int
    memories: tuple[BeliefBody, ...]

    @classmethod
    def of(cls, group_id: str, page: core.BeliefPage) -> BeliefList:
        """Build the body from a part of a list."""
        return cls(group_id=group_id, total=page.total, memories=tuple(map(BeliefBody.of, page.beliefs)))


class OneBelief(Answer):
    """A belief after a change."""

    model_config = example(success=True, memory=_BELIEF)
    memory: BeliefBody

    @classmethod
    def of(cls, belief: core.Belief) -> OneBelief:
        """Build the body from a belief."""
        return cls(memory=BeliefBody.of(belief))


class FoundBelief(BaseModel):
    """A belief that a search found, with its score in [0, 1]."""

    memory_id: str
    statement: str
    score: float
    version: int
    updated_at: Instant


class BeliefSearchResult(Answer):
    """What a search found, best first."""

    model_config = example(
        success=True,
        query=guide.FRIDAY,
        results=[{**_FOUND, "score": 0.92}],
    )
    query: str
    results: tuple[FoundBelief, ...]

    @classmethod
    def of(cls, query: str, hits: list[core.BeliefHit]) -> BeliefSearchResult:
        """Build the body from the hits of a query."""
        return cls(query=query, results=tuple(map(_found, hits)))


class BeliefHistory(Answer):
    """All versions of a belief, oldest first."""

    model_config = example(success=True, memory_id=BELIEF_ID, current_version=2, history=[_FIRST, _BELIEF])
    memory_id: str
    current_version: int
    history: tuple[BeliefBody, ...]

    @classmethod
    def of(cls, memory_id: str, versions: list[core.Belief]) -> BeliefHistory:
        """Build the body from the versions of a belief; ``memory_id`` is the id in the request."""
        current = versions[-1].version if versions else 0
        return cls(memory_id=memory_id, current_version=current, history=tuple(map(BeliefBody.of, versions)))


class ChangeBody(BaseModel):
    """One entry of the change log; ``changed_by`` is "" if an evolution run made the change."""

    timestamp: Instant
    action: Literal["create", "update", "delete", "restore", "strength"]
    memory_id: str
    version: int
    old_statement: str
    new_statement: str
    change_reason: str
    changed_by: str


class ChangeList(Answer):
    """The change log of a group within a period of days, oldest entry first."""

    model_config = example(
        success=True,
        group_id="10001",
        period="2026-02-27 to 2026-03-06",
        changes=[
            {
                "timestamp": _NOW,
                "action": "update",
                "memory_id": BELIEF_ID,
                "version": 2,
                **{name: _CHANGE[name] for name in ("old_statement", "new_statement", "change_reason")},
                "changed_by": "",
            }
        ],
    )
    group_id: str
    period: str
    changes: tuple[ChangeBody, ...]

    @classmethod
    def of(cls, group_id: str, since: datetime, until: datetime, changes: list[core.Change]) -> ChangeList:
        """Build the body from the changes between two instants; the period is written in the zone of these."""
        return cls(
            group_id=group_id,
            period=f"{since:%Y-%m-%d} to {until:%Y-%m-%d}",
            changes=tuple(map(_logged, changes)),
        )


class EvolutionStats(BaseModel):
    """The numbers of beliefs that a run kept, updated, created and deleted."""

    kept: int
    updated: int
    created: int
    deleted: int


class EvolutionChange(BaseModel):
    """One change of a run; a field that does not apply to the kind of change is left out."""

    action: Literal["create", "update", "delete", "restore", "strength"]
    old_id: str | None = None
    new_id: str | None = None
    statement: str | None = None
    old_statement: str | None = None
    new_statement: str | None = None
    change_reason: str
    version: int

    @classmethod
    def of(cls, change: core.Change) -> EvolutionChange:
        """Build the body from a change; only a new belief has ``statement``, others have old, new or both."""
        is_new, is_gone = change.action == "create", change.action == "delete"
        return cls(
            action=change.action,
            old_id=change.old_id,
            new_id=None if is_gone else change.belief_id,
            statement=change.new_statement if is_new else None,
            old_statement=None if is_new else change.old_statement,
            new_statement=None if is_new or is_gone else change.new_statement,
            change_reason=change.change_reason,
            version=change.version,
        )


class EvolutionAnswer(Answer):
    """What a run did. If nothing changed, ``message`` says why. ``rejected`` counts rejected proposals by reason."""

    model_config = example(
        success=True,
        group_id="10001",
        evolution_time=_NOW,
        message=guide.EVOLVED,
        stats={"kept": 0, "updated": 1, "created": 0, "deleted": 0},
        changes=[{"action": "update", **_CHANGE, "version": 2}],
        rejected={},
    )
    group_id: str
    evolution_time: Instant
    message: str
    stats: EvolutionStats
    changes: tuple[EvolutionChange, ...]
    rejected: dict[str, int]

    @classmethod
    def of(cls, group_id: str, at: datetime, run: core.Evolution) -> EvolutionAnswer:
        """Build the body from a run that ended at the instant ``at``."""
        return cls(
            group_id=group_id,
            evolution_time=at,
            message=run.message,
            stats=EvolutionStats(kept=run.kept, updated=run.updated, created=run.created, deleted=run.deleted),
            changes=tuple(map(EvolutionChange.of, run.changes)),
            rejected=dict(run.rejected),
        )


class Strength(RequestBody):
    """The strength that a belief gets."""

    model_config = example(strength=0.8)
    strength: float = Field(ge=0, le=1)


def _found(hit: core.BeliefHit) -> FoundBelief:
    belief = hit.belief
    return FoundBelief(
        memory_id=belief.id,
        statement=belief.statement,
        score=hit.score,
        version=belief.version,
        updated_at=belief.updated_at,
    )


def _logged(change: core.Change) -> ChangeBody:
    return ChangeBody(
        timestamp=change.changed_at,
        action=change.action,
        memory_id=change.belief_id,
        version=change.version,
        old_statement=change.old_statement,
        new_statement=change.new_statement,
        change_reason=change.change_reason,
        changed_by=change.changed_by,
    )
