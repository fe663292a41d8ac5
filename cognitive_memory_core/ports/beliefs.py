"""Beliefs of groups in the ledger; see the package ``ledger`` for the guarantees of all its ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from ..domain.belief import Belief, BeliefEdit, BeliefPage, Change
from ..domain.scope import Scope
from .models import Vector

Listing = Literal["active", "deprecated", "all"]


class BeliefBook(Protocol):
    """Beliefs with their versions, and the log of changes."""

    async def commit(self, edits: Sequence[BeliefEdit]) -> list[BeliefEdit]:
        """Write edits in one transaction; skip those that no longer apply (:func:`is_applicable`), return the others.

        An edit whose messages are all withdrawn is skipped, too. The changes of the returned edits are logged.
        """
        ...

    async def find(self, belief_id: str) -> Belief | None:
        """Return any version of a belief; None if there is none."""
        ...

    async def page(self, scope: Scope, status: Listing, limit: int, offset: int = 0) -> BeliefPage:
        """Return the current versions of the beliefs of a place, strongest first."""
        ...

    async def history(self, chain_id: str) -> list[Belief]:
        """Return all versions of the belief with this ``chain_id``, oldest first."""
        ...

    async def changes(self, scope: Scope, since: datetime) -> list[Change]:
        """Return the change log of a place's beliefs from an instant on, oldest first."""
        ...


@dataclass(frozen=True)
class EmbeddedBelief:
    """A belief with its vector by the model of the requested fingerprint; ``vector`` is None until there is one."""

    belief: Belief
    vector: Vector | None = None


class BeliefVectors(Protocol):
    """The vectors of current beliefs, stored in the same ledger."""

    async def waiting(self, fingerprint: str, limit: int) -> list[Belief]:
        """Return active beliefs without a vector of this fingerprint (embedding model), oldest first."""
        ...

    async def store(self, fingerprint: str, belief: Belief, vector: Vector) -> None:
        """Store a vector; do nothing if the belief was deleted or has another statement by now."""
        ...

    async def embedded(self, scope: Scope, fingerprint: str) -> list[EmbeddedBelief]:
        """Return the active beliefs of a place, each with its vector of this fingerprint, if it has one."""
        ...

    async def near(self, scope: Scope, fingerprint: str, vector: Vector | None) -> list[tuple[Belief, float | None]]:
        """Return the active beliefs of a place with their cosine to a unit vector.

        The cosine is None if ``vector`` is None or the belief has no vector of this fingerprint (embedding model).
        """
        ...


@dataclass(frozen=True)
class GroupActivity:
    """How many lines of people a group has after its last evolution; ``since`` is the time of the oldest of them.

    ``run`` is the number of the group's last run; runs of all groups share one sequence. It is 0 before the first.
    """

    scope: Scope
    messages: int
    since: datetime
    run: int = 0


class EvolutionBook(Protocol):
    """Records which messages the runs of evolution have read, group by group."""

    async def note(self, scope: Scope, read: Sequence[str]) -> None:
        """Record that a run read the messages with these ids; all older lines of the place count as read, too."""
        ...

    async def unread(self) -> list[GroupActivity]:
        """Return the groups with unread lines of people, ordered by their last run, the earliest first."""
        ...
