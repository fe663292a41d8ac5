"""The durable job queue."""

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
    """A claimed job. ``attempts`` includes the present attempt; ``ticket`` is for the queue only."""

    job: Job
    attempts: int
    ticket: str


class JobQueue(Protocol):
    """Three durable states: pending, processing, failed. A job is in exactly one of them until it is complete.

    Jobs of one scope are claimed in the order of their arrival and one at a time; scopes take turns.
    """

    async def enqueue(self, job: Job) -> None:
        """Store the job durably before returning; raise QueueFull or StorageRefused with nothing written."""
        ...

    async def claim(self) -> Claim | None:
        """Claim the next job after durably counting the attempt; None if no job is claimable now."""
        ...

    async def complete(self, claim: Claim) -> None:
        """Delete a job whose effects are stored."""
        ...

    async def requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        """Put the job back in its place, claimable after ``delay`` seconds; its attempt counts only if ``counted``."""
        ...

    async def bury(self, claim: Claim, error: str) -> None:
        """Move the job to failed; its content and error are kept for :meth:`revive`."""
        ...

    async def recover(self) -> int:
        """Requeue the jobs that an ended process had claimed; return how many. Call it once, before the first claim."""
        ...

    async def revive(self, job_id: str | None = None) -> int:
        """Move one failed job, or all, back to pending with zero attempts; return how many."""
        ...


class QueueView(Protocol):
    """Reads the queue without claiming jobs, and removes messages that were withdrawn in the chat from waiting jobs."""

    def knows(self, job_id: str) -> bool:
        """Return whether the job is pending, processing or failed."""
        ...

    async def holding(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of the messages of a scope that are input of a job, in any state.

        The input of a turn are its ``message_ids``, not its recent lines; that of a dialogue are its lines.
        """
        ...

    def counts(self) -> QueueCounts:
        """Return the job counts by state, without I/O."""
        ...

    def waiting_memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of pending and processing jobs of a scope, oldest first; a memo's id is its job's."""
        ...

    async def failed(self) -> list[FailedJob]:
        """Return the failed jobs, oldest first, including unreadable ones."""
        ...

    async def withdraw(self, scope: Scope, message_id: str) -> int:
        """Remove a withdrawn message from the jobs that contain it, in every state, and from disk.

        A dialogue loses the line, a turn its recent line. A turn all of whose ``message_ids`` are withdrawn, or a
        dialogue without remaining lines of people, is deleted with its memo; a claimed job is deleted when its claim
        ends in any way. Returns the number of changed jobs.
        """
        ...

    async def refresh(self) -> None:
        """Load jobs that something other than :meth:`JobQueue.enqueue` put into the queue, such as an operator."""
        ...


class WatchedQueue(JobQueue, QueueView, Protocol):
    """A queue whose jobs can be claimed, and also read without a claim."""


class QueueEraser(Protocol):
    """Permanent erasure and copying of jobs in every state. Durable on return and idempotent.

    Erased content is removed from every file of the queue, including files that are no jobs. A claimed job that becomes
    empty is deleted when its claim ends, as with :meth:`QueueView.withdraw`.
    """

    async def names_of(self, user_id: str) -> set[str]:
        """Return the names that a person has in jobs; the ledger may not have them yet."""
        ...

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> int:
        """Remove a person from all jobs, of every agent; return how many changed.

        Their own turns and jobs of their private chat are deleted. Other dialogues lose their lines and what the bot
        said to them, and are deleted if no person's line remains; other turns lose their recent lines. In all other
        texts and in errors ``hide`` removes the person. An unreadable job that mentions them is deleted.
        """
        ...

    async def erase_place(self, scope: Scope) -> int:
        """Delete all jobs of a place, and unreadable ones that mention it; return how many."""
        ...

    async def copy_to(self, folder: Path) -> None:
        """Write a durable, consistent copy of all jobs to a folder from which a queue can be opened."""
        ...
