"""Accepted work that must not be lost."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..domain.job import FailedJob, Job, QueueCounts
from ..domain.note import Memo
from ..domain.scope import Scope


@dataclass(frozen=True)
class Claim:
    """A job in hand. ``attempts`` counts this one; ``ticket`` is the queue's own and means nothing to others."""

    job: Job
    attempts: int
    ticket: str


class JobQueue(Protocol):
    """Three durable states: pending, processing, failed. A job is in exactly one of them until it is complete.

    Jobs of one scope are claimed in the order of their arrival and one at a time; scopes take turns.
    """

    async def enqueue(self, job: Job) -> None:
        """Return once the job would survive a power cut; raise QueueFull or StorageRefused with nothing written."""
        ...

    async def claim(self) -> Claim | None:
        """Take the next job, its attempt counted durably first; None when nothing may be claimed now."""
        ...

    async def complete(self, claim: Claim) -> None:
        """Forget a job whose effects are stored."""
        ...

    async def requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        """Put the job back at its place, claimable after ``delay`` seconds; uncounted, the attempt is taken back."""
        ...

    async def bury(self, claim: Claim, error: str) -> None:
        """Give the job up, its content and error kept for :meth:`revive`."""
        ...

    async def recover(self) -> int:
        """Put back what a dead process held; answer how many. Called once, by the owner, before the first claim."""
        ...

    async def revive(self, job_id: str | None = None) -> int:
        """Put one buried job, or all, back to pending with no attempts; answer how many."""
        ...


class QueueView(Protocol):
    """What can be seen of the queue without claiming."""

    def knows(self, job_id: str) -> bool:
        """Tell whether the job is pending, processing or failed."""
        ...

    async def holding(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of the messages of a scope that jobs of any state will learn from.

        These are the messages that a turn names as its own and the lines of a dialogue, not a turn's recent lines.
        """
        ...

    def counts(self) -> QueueCounts:
        """Count the jobs by state, from memory."""
        ...

    def waiting_memos(self, scope: Scope) -> list[Memo]:
        """Give the memos of pending and processing jobs of a scope, oldest first; a memo's id is its job's."""
        ...

    async def failed(self) -> list[FailedJob]:
        """List the buried jobs, oldest first, also those that cannot be read."""
        ...

    async def withdraw(self, scope: Scope, message_id: str) -> int:
        """Take a withdrawn message out of the jobs that hold it, in every state; it is gone from disk then.

        A dialogue loses the line, a turn its recent line. A turn all of whose ``message_ids``, or a dialogue all of
        whose people's lines, are withdrawn leaves the queue, its memo with it; one in hand leaves when it is put down,
        whichever way. Answers how many jobs changed.
        """
        ...

    async def refresh(self) -> None:
        """Notice jobs that somebody put into the queue from outside."""
        ...


class QueueEraser(Protocol):
    """Forgetting for good, and copying, in every state. Durable when a method returns; doing it twice is doing it once.

    What is gone from a job is gone from every file of the queue, also from what lies there that is no job. A job in
    hand of which nothing is left leaves when it is put down, as with :meth:`QueueView.withdraw`.
    """

    async def names_of(self, user_id: str) -> set[str]:
        """Give the names that a person bears in jobs, which no ledger may know yet."""
        ...

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> int:
        """Take a person out of all jobs, of every agent; answer how many changed.

        A turn whose person they are, and what is of their private chat, goes as a whole; a dialogue of others, or in
        a group, loses their lines and what the bot said to them, and goes when no person's line is left; a turn of
        others loses their recent lines. In all other texts, and in errors, they are hidden: ``hide`` gives a text
        without them. A job that cannot be read goes when it tells of them.
        """
        ...

    async def erase_place(self, scope: Scope) -> int:
        """Take all jobs of a place away, and those that cannot be read and tell of it; answer how many."""
        ...

    async def copy_to(self, folder: Path) -> None:
        """Copy all jobs as they stand at one moment into a folder, whence a queue can be opened; durably."""
        ...
