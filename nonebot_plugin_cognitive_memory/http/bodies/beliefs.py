"""Bodies on the beliefs of groups."""

from __future__ import annotations

from pydantic import BaseModel

import cognitive_memory_core as core

from .body import Answer, Instant


class BeliefBody(BaseModel):
    """One version of a belief; ``supporters`` counts the people who said it."""

    memory_id: str
    statement: str
    version: int
    created_at: Instant
    updated_at: Instant
    parent_id: str | None
    status: str
    tags: tuple[str, ...]
    strength: float
    supporters: int

    @classmethod
    def of(cls, belief: core.Belief) -> BeliefBody:
        """Describe a belief."""
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
            supporters=len(belief.supporters),
        )


class BeliefList(Answer):
    """A part of a group's beliefs, and how many there are in ``total``."""

    group_id: str
    total: int
    memories: tuple[BeliefBody, ...]

    @classmethod
    def of(cls, group_id: str, page: core.BeliefPage) -> BeliefList:
        """Describe a part of a list."""
        return cls(group_id=group_id, total=page.total, memories=tuple(map(BeliefBody.of, page.beliefs)))
