"""Facts that wait for a profile, and what each observation became."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ...domain.event import Event
from ...domain.fact import Fact
from ...domain.profile import ProfileKey
from ...domain.scope import Scope


@dataclass(frozen=True)
class PendingFacts:
    """How many facts wait for one profile and since when; ``attempts`` counts its failed merges, ``error`` is the last.

    ``withdrawn`` counts the withdrawn facts among them: while there are any, the profile is not shown.
    """

    key: ProfileKey
    facts: int
    since: datetime
    attempts: int = 0
    failed_at: datetime | None = None
    error: str = ""
    withdrawn: int = 0


class FactBook(Protocol):
    """Facts that wait for a merge, and the event that each observation became."""

    async def waiting(self) -> list[PendingFacts]:
        """Return the profiles with waiting facts, the longest waiting first.

        A fact is valid while its event is active and no active event that feeds the same profile replaces that event. A
        valid fact waits until it is recorded as merged (:meth:`mark_merged`). A merged fact that is no longer valid
        waits as a withdrawn one, until its removal is recorded.
        """
        ...

    async def facts(self, key: ProfileKey, limit: int) -> list[Fact]:
        """Return the waiting facts of one profile: withdrawn ones first, then new ones, oldest first."""
        ...

    async def mark_merged(self, key: ProfileKey, facts: Collection[Fact]) -> None:
        """Record that facts were merged into their profile, or removed if withdrawn; reset its failure count.

        Each fact is recorded in the state in which :meth:`facts` returned it: if its event changed since, the fact
        waits again. A removed fact whose event is restored later waits again, too.
        """
        ...

    async def keys_to_update(self) -> frozenset[ProfileKey]:
        """Return the profiles that contain facts of retired events; they must not be shown until those are removed."""
        ...

    async def fail(self, key: ProfileKey, error: str, at: datetime) -> None:
        """Record a failed merge; the facts keep waiting. Does nothing if the profile has no waiting facts."""
        ...

    async def keys_with_facts_of(self, scope: Scope) -> frozenset[ProfileKey]:
        """Return the profiles that have facts, waiting or merged, from a place."""
        ...

    async def events_of_observations(
        self, scope: Scope, sender_id: str, observations: Sequence[str]
    ) -> Mapping[str, Event]:
        """Map observations to the active event made from an equal observation of the sender in this scope.

        Observations without such an event are omitted. Observations are equal if their :func:`duplicate_key` is.
        """
        ...
