"""Permanent erasure, and the copies made for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from ...domain.scope import Scope
from ...domain.tombstones import Tombstones


@dataclass(frozen=True)
class ErasedRows:
    """What was erased: counts by noun, the number of reworded texts of others, ids of erased events and memos."""

    events: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    names: int = 0
    reworded: int = 0
    event_ids: tuple[str, ...] = ()
    memo_ids: tuple[str, ...] = ()
    beliefs: int = 0


@dataclass(frozen=True)
class Copy:
    """A copy of the memory made for people: an export or a backup."""

    path: str
    kind: Literal["export", "backup"]
    at: datetime


@dataclass(frozen=True)
class PurgeState:
    """When the oldest erasure was whose bytes are still on disk, and when the last purge was; None if there is none."""

    erased_at: datetime | None = None
    purged_at: datetime | None = None


class Eraser(Protocol):
    """Permanent erasure. Erased data cannot be read once a method returns; :meth:`purge` removes the bytes."""

    async def forget_person(self, user_id: str, at: datetime, hide: Callable[[str], str]) -> ErasedRows:
        """Erase a person for every agent.

        Erased: what they said, their names, memos and sharing consent; pins that they own or wrote, also for a whole
        group; their private chat; the indexed copies of their profiles, and the facts that wait for these profiles. An
        event is erased if its sender is the person or it is of the person's private chat.

        Everywhere else, in events, subjects, facts and profile copies of others, the person is hidden: ``hide`` returns
        a text without them, and a reworded row loses its vector. Mentions by name instead of id are hidden only in
        places where the person was seen.

        A tombstone of the id (a keyed hash) permanently rejects data dated ``at`` or earlier; an existing tombstone
        dated more than a day after ``at`` is attributed to a wrong clock and replaced.
        """
        ...

    async def forget_place(self, scope: Scope, at: datetime) -> ErasedRows:
        """Erase everything of a place permanently, including the facts and copies of its profiles; its switch is kept.

        A profile that also has facts from other places (:meth:`FactBook.keys_with_facts_of`) loses its indexed copy,
        and its remaining facts wait again, so that it is rebuilt from them.
        """
        ...

    async def tombstones(self) -> Tombstones:
        """Return all tombstones with the key of their hashes."""
        ...

    async def purge(self, at: datetime, *, is_over: bool = True) -> None:
        """Remove the bytes of erased data from every file of the ledger, including migration copies.

        If ``is_over`` is false, the purge stays due, because files outside the ledger still hold the bytes.
        """
        ...

    async def purge_due(self) -> PurgeState:
        """Return since when erased bytes remain on disk, if any, and when the last purge was."""
        ...

    async def copy_to(self, path: Path, at: datetime, *, name: Path | None = None) -> None:
        """Write a consistent, durable copy of the ledger to a new file.

        The copy is recorded under ``name``, if given: the path to which the caller renames it afterwards.
        """
        ...

    async def copies(self, *, made: Copy | None = None, deleted: str = "") -> list[Copy]:
        """Record the copy ``made``, remove the record of the path ``deleted``, and return the recorded copies.

        For each path only its latest copy is returned.
        """
        ...
