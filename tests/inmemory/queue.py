"""A job queue in memory with the behaviour of the durable one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from cognitive_memory_core import sentences
from cognitive_memory_core.domain.job import FailedJob, Job, QueueCounts
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.note import Memo
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.errors import QueueFull
from cognitive_memory_core.files.durable_queue import Claim
from cognitive_memory_core.ports.clock import Clock
from cognitive_memory_core.settings import QueueSettings
from cognitive_memory_core.text.identity.name_cleaning import one_line

from . import erasing

MEGABYTE = 1024 * 1024
ERROR_LENGTH = 500
CENTURY = 36_500  # days; larger values mean the same


@dataclass
class _JobRow:
    job: Job
    place: int
    state: Literal["pending", "processing", "failed"] = "pending"
    attempts: int = 0
    paused_until: float = 0.0  # seconds of a monotonic clock
    error: str = ""
    failed_at: datetime | None = None
    ticket: str = ""
    is_emptied: bool = False  # everything was withdrawn while the job was claimed


@dataclass
class InMemoryQueue:
    """JobQueue, QueueView and QueueEraser without files."""

    settings: QueueSettings
    clock: Clock
    elapsed: Callable[[], float] = time.monotonic
    _rows: dict[str, _JobRow] = field(default_factory=dict[str, _JobRow], init=False)
    _served: dict[Scope, int] = field(default_factory=dict[Scope, int], init=False)
    _numbers: itertools.count[int] = field(default_factory=itertools.count, init=False)
    _claims: int = field(default=0, init=False)
    _removed: int = field(default=0, init=False)

    async def enqueue(self, job: Job) -> None:
        """Add a job unless its id is known."""
        if job.id not in self._rows:
            self._check_bounds(job)
            self._rows[job.id] = _JobRow(job, next(self._numbers))

    async def claim(self) -> Claim | None:
        """Claim the next job of the scope that waits longest."""
        now = self.elapsed()
        ready = [row for row in self._heads() if row.paused_until <= now]
        if not ready:
            return None
        row = min(ready, key=lambda row: (self._served.get(row.job.scope, -1), row.place))
        number = next(self._numbers)
        self._served[row.job.scope] = number
        row.state, row.attempts, row.ticket = "processing", row.attempts + 1, str(number)
        self._count_claim()
        return Claim(row.job, row.attempts, row.ticket)

    async def complete(self, claim: Claim) -> None:
        """Remove a job; a claim that is no longer held changes nothing."""
        if self._held(claim):
            del self._rows[claim.job.id]

    async def requeue(self, claim: Claim, *, delay: float, counted: bool) -> None:
        """Return the job to its place; its scope waits for the delay too."""
        if (row := self._held(claim)) is not None:
            row.attempts -= not counted
            row.paused_until = self.elapsed() + delay if delay > 0 else 0.0
            self._put_back(row)

    async def bury(self, claim: Claim, error: str) -> None:
        """Set the job aside with its error."""
        if (row := self._held(claim)) is not None:
            self._bury(row, error)

    async def recover(self) -> int:
        """Return claimed jobs to pending; a job with too many attempts is set aside."""
        rows = self._in("processing")
        for row in rows:
            if row.attempts > self.settings.job_max_retries + 1:
                self._bury(row, sentences.storage_errors.PROCESS_DIED.format(times=row.attempts))
            else:
                self._put_back(row)
        return sum(row.state == "pending" for row in rows)

    async def revive(self, job_id: str | None = None) -> int:
        """Return one failed job, or all, to pending as the newest, without attempts."""
        rows = [row for row in self._in("failed") if job_id in (None, row.job.id)]
        for row in rows:
            self._rows[row.job.id] = _JobRow(row.job, next(self._numbers))
        return len(rows)

    def knows(self, job_id: str) -> bool:
        """Return whether the job is pending, processing or failed."""
        return job_id in self._rows

    async def holding(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return which of these messages of a scope are in its jobs."""
        works = [row.job.work for row in self._rows.values() if row.job.scope == scope and not row.is_emptied]
        return frozenset(message_ids).intersection(id_ for work in works for id_ in _learned_from(work))

    def counts(self) -> QueueCounts:
        """Return the number of jobs by state, and the bytes of their texts."""
        pending = self._in("pending")
        weight = sum(_weight(row.job) for row in pending)
        states = len(pending), len(self._in("processing")), len(self._in("failed"))
        return QueueCounts(*states, pending_bytes=weight, removed=self._removed)

    def waiting_memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of pending and processing jobs of a scope, oldest first."""
        rows = [row for row in self._in("pending", "processing") if row.job.scope == scope and not row.is_emptied]
        return [memo for row in rows if (memo := _memo_of(row.job)) is not None]

    async def failed(self) -> list[FailedJob]:
        """Return the failed jobs, oldest first."""
        rows = sorted(self._in("failed"), key=lambda row: row.failed_at or row.job.accepted_at)
        return [
            FailedJob(row.job.id, row.error, row.attempts, row.failed_at or row.job.accepted_at, row.job)
            for row in rows
        ]

    async def withdraw(self, scope: Scope, message_id: str) -> int:
        """Remove a message from the jobs."""
        rows = [row for row in self._rows.values() if row.job.scope == scope and not row.is_emptied]
        return sum([self._has_lost(row, message_id) for row in rows])

    async def names_of(self, user_id: str) -> set[str]:
        """Return the names that a person has in jobs."""
        return set[str]().union(*(erasing.names_of(row.job.work, user_id) for row in self._rows.values()))

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> int:
        """Remove a person from every job; return the number of changed jobs."""
        rows = [row for row in self._rows.values() if not row.is_emptied]
        changed = sum([self._has_come_to(row, erasing.without_person(row.job.work, user_id, hide)) for row in rows])
        for row in self._in("failed"):
            row.error = hide(row.error)
        return changed

    async def erase_place(self, scope: Scope) -> int:
        """Remove all jobs of a place; return how many."""
        rows = [row for row in self._rows.values() if row.job.scope == scope and not row.is_emptied]
        return sum([self._has_come_to(row, None) for row in rows])

    async def copy_to(self, folder: Path) -> None:
        """Do nothing, since there is no file to copy."""

    def _has_lost(self, row: _JobRow, message_id: str) -> bool:
        return self._has_come_to(row, _without(row.job.work, message_id))

    def _has_come_to(self, row: _JobRow, work: Turn | Dialogue | None) -> bool:
        """Replace the work of a job; a job without any left is removed."""
        if work is not None:
            is_changed = work != row.job.work
            row.job = replace(row.job, work=work)
            return is_changed
        if row.state == "processing":
            row.is_emptied = True
        else:
            del self._rows[row.job.id]
        return True

    async def refresh(self) -> None:
        """Do nothing, since nobody else can add a job."""

    def _in(self, *states: str) -> list[_JobRow]:
        return sorted((row for row in self._rows.values() if row.state in states), key=lambda row: row.place)

    def _heads(self) -> list[_JobRow]:
        """Return the oldest pending job of each scope without a claimed job."""
        busy = {row.job.scope for row in self._in("processing")}
        heads: dict[Scope, _JobRow] = {}
        for row in self._in("pending"):
            heads.setdefault(row.job.scope, row)
        return [row for scope, row in heads.items() if scope not in busy]

    def _held(self, claim: Claim) -> _JobRow | None:
        row = self._rows.get(claim.job.id)
        return row if row is not None and row.state == "processing" and row.ticket == claim.ticket else None

    def _put_back(self, row: _JobRow) -> None:
        if row.is_emptied:
            del self._rows[row.job.id]
        else:
            row.state = "pending"

    def _bury(self, row: _JobRow, error: str) -> None:
        if row.is_emptied:
            del self._rows[row.job.id]
        else:
            row.state, row.error, row.failed_at = "failed", one_line(error, ERROR_LENGTH), self.clock.now()

    def _check_bounds(self, job: Job) -> None:
        bounds, pending = self.settings, self._in("pending")
        if len(pending) >= bounds.max_pending:
            raise QueueFull(
                sentences.caller.QUEUE_FULL.format(
                    bound=sentences.caller.FULL_IN_TOTAL.format(limit=bounds.max_pending)
                )
            )
        if sum(row.job.scope == job.scope for row in pending) >= bounds.max_pending_per_group:
            raise QueueFull(
                sentences.caller.QUEUE_FULL.format(
                    bound=sentences.caller.FULL_HERE.format(limit=bounds.max_pending_per_group)
                )
            )
        if sum(_weight(row.job) for row in pending) + _weight(job) > bounds.max_pending_mb * MEGABYTE:
            raise QueueFull(
                sentences.caller.QUEUE_FULL.format(
                    bound=sentences.caller.FULL_IN_BYTES.format(megabytes=bounds.max_pending_mb)
                )
            )

    def _count_claim(self) -> None:
        self._claims += 1
        every = self.settings.failed_cleanup_interval
        if every and self._claims % every == 0:
            self._prune(self.clock.now())

    def _prune(self, now: datetime) -> None:
        bounds = self.settings
        failed = sorted(self._in("failed"), key=lambda row: row.failed_at or now)
        excess = len(failed) - bounds.failed_max_files if bounds.failed_max_files else 0
        longest = timedelta(days=min(bounds.failed_max_age_days or CENTURY, CENTURY))
        for rank, row in enumerate(failed):
            if rank < excess or now - (row.failed_at or now) > longest:
                del self._rows[row.job.id]
                self._removed += 1


def _memo_of(job: Job) -> Memo | None:
    if not isinstance(job.work, Turn) or not job.work.memo:
        return None
    return Memo(job.id, job.scope, job.work.memo, job.happened_at, job.work.scene.user_id)


def _learned_from(work: Turn | Dialogue) -> Iterable[str]:
    return work.message_ids if isinstance(work, Turn) else (line.id for line in work.messages)


def _weight(job: Job) -> int:
    if isinstance(job.work, Dialogue):
        return sum(len(line.text.encode(errors="replace")) for line in job.work.messages)
    lines = [line if isinstance(line, str) else line.text for line in job.work.recent_messages]
    texts = (job.work.memo, job.work.source_message, *job.work.observations, *lines)
    return sum(len(text.encode(errors="replace")) for text in texts)


def _without(work: Turn | Dialogue, message_id: str) -> Turn | Dialogue | None:
    if isinstance(work, Dialogue):
        messages = tuple(_kept(work.messages, message_id))
        is_left = messages == work.messages or any(not line.is_bot for line in messages)
        return replace(work, messages=messages) if is_left else None
    ids = tuple(item for item in work.message_ids if item != message_id)
    if work.message_ids and not ids:
        return None
    lines = [line for line in work.recent_messages if isinstance(line, str) or line.id != message_id]
    return replace(work, message_ids=ids, recent_messages=lines)


def _kept(messages: Sequence[Message], message_id: str) -> list[Message]:
    return [message for message in messages if message.id != message_id]
