"""The queue's in-memory index; the time to find the next job does not grow with the number of jobs."""

from __future__ import annotations

import bisect
import heapq
import itertools
import math
import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto

from ..domain.note import Memo
from ..domain.scope import Scope
from ..domain.turn import QueueCounts

_CENTURY = 36_500  # days; larger settings mean the same


class JobState(Enum):
    """A job's state: being written, waiting, claimed, failed."""

    ARRIVING = auto()
    WAITING = auto()
    CLAIMED = auto()
    FAILED = auto()


@dataclass(eq=False, slots=True)
class JobEntry:
    """One job in the index: where its file is, and the fields that are needed without reading the file.

    ``scope`` is None if the file is unreadable.

    A crash suspect was being processed at each of the last crashes. It is processed alone, so that another crash
    affects no other job.
    """

    instant: int
    job_id: str
    attempts: int
    folder: str
    name: str
    size: int
    state: JobState
    scope: Scope | None = None
    memo: Memo | None = None
    failed_at: datetime | None = None
    is_crash_suspect: bool = False

    @property
    def place(self) -> tuple[int, str]:
        """The key by which jobs are ordered: the instant of arrival, then the id."""
        return self.instant, self.job_id


@dataclass(eq=False)
class _ScopeJobs:
    """The jobs of one scope, in order; one is claimed at a time."""

    key: Scope | str
    waiting: deque[JobEntry] = field(default_factory=deque[JobEntry])
    claimed: list[JobEntry] = field(default_factory=list[JobEntry])
    paused_until: float | None = None  # seconds of a monotonic clock
    is_in_rotation: bool = False

    @property
    def is_ready(self) -> bool:
        is_there = bool(self.waiting) and self.waiting[0].state is JobState.WAITING
        return is_there and not self.claimed and self.paused_until is None

    def insert(self, entry: JobEntry) -> None:
        if not self.waiting or self.waiting[-1].place < entry.place:
            self.waiting.append(entry)
        elif entry.place < self.waiting[0].place:
            self.waiting.appendleft(entry)
        else:
            in_order = list(self.waiting)
            bisect.insort(in_order, entry, key=lambda item: item.place)
            self.waiting = deque(in_order)


class ScheduleIndex:
    """All jobs that are not complete, by id, by scope and in order. The event loop and the queue's thread change it."""

    def __init__(self) -> None:
        """Initialise an empty index."""
        self._entries: dict[str, JobEntry] = {}
        self._failed: dict[str, JobEntry] = {}
        self._by_scope: dict[Scope | str, _ScopeJobs] = {}
        self._rotation: deque[_ScopeJobs] = deque()
        self._paused: list[tuple[float, int, _ScopeJobs]] = []
        self._serial = itertools.count()
        self._numbers = dict.fromkeys(JobState, 0)
        self._bytes = 0
        self._running_suspect: JobEntry | None = None
        self._mutex = threading.RLock()

    def find(self, job_id: str) -> JobEntry | None:
        """Return the job of an id in any state, or None."""
        return self._entries.get(job_id)

    def failed(self) -> list[JobEntry]:
        """Return the buried jobs in order of arrival."""
        with self._mutex:
            return sorted(self._failed.values(), key=lambda entry: entry.place)

    def expired(self, now: datetime, max_age_days: int, max_files: int) -> list[JobEntry]:
        """Return the buried jobs beyond an age (days) or a number, the longest buried first; 0 means no limit."""
        failed = sorted(self.failed(), key=lambda entry: entry.failed_at or now)
        excess = len(failed) - max_files if max_files else 0
        oldest = now - timedelta(days=min(max_age_days, _CENTURY)) if max_age_days else None
        return [
            entry
            for rank, entry in enumerate(failed)
            if rank < excess or (oldest is not None and (entry.failed_at or now) < oldest)
        ]

    def claimed(self) -> list[JobEntry]:
        """Return the claimed jobs, in order of arrival."""
        with self._mutex:
            return sorted(
                (entry for scope_jobs in self._by_scope.values() for entry in scope_jobs.claimed),
                key=lambda entry: entry.place,
            )

    def of_scope(self, scope: Scope) -> list[JobEntry]:
        """Return the jobs of a scope: claimed, waiting or failed, not those being written."""
        with self._mutex:
            failed = [entry for entry in self._failed.values() if entry.scope == scope]
            return [*self._open_in(scope), *failed]

    def all(self) -> list[JobEntry]:
        """Return every job in any state, including those whose file is being written."""
        with self._mutex:
            return list(self._entries.values())

    def memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of claimed and waiting jobs, oldest first."""
        with self._mutex:
            return [entry.memo for entry in self._open_in(scope) if entry.memo is not None]

    def counts(self) -> QueueCounts:
        """Return the number of jobs by state, and their bytes."""
        with self._mutex:
            waiting, claimed = self._numbers[JobState.WAITING], self._numbers[JobState.CLAIMED]
            return QueueCounts(waiting, claimed, self._numbers[JobState.FAILED], self._bytes)

    def load(self, scope: Scope) -> tuple[int, int, int]:
        """Return how many jobs wait or are being written, in all and in the scope, and the bytes of all of them."""
        with self._mutex:
            scope_jobs = self._by_scope.get(scope)
            total = self._numbers[JobState.WAITING] + self._numbers[JobState.ARRIVING]
            return total, len(scope_jobs.waiting) if scope_jobs else 0, self._bytes

    def admit(self, entry: JobEntry) -> None:
        """Add a job in any state.

        The file of an arriving job is still being written: the job already has its place in the order and is included
        in what :meth:`load` returns, but cannot be claimed until :meth:`settle`.
        """
        with self._mutex:
            self._entries[entry.job_id] = entry
            self._count(entry, 1)
            if entry.state is JobState.CLAIMED:
                self._jobs_of_scope(entry).claimed.append(entry)
            elif entry.state is JobState.FAILED:
                self._failed[entry.job_id] = entry
            else:
                self._queue(entry)

    def settle(self, entry: JobEntry) -> None:
        """Change a job from arriving to waiting, so that it can be claimed; to be called once its file is durable."""
        with self._mutex:
            self._set_state(entry, JobState.WAITING)
            self._update_rotation(self._jobs_of_scope(entry))

    def take(self, elapsed: float) -> JobEntry | None:
        """Claim the next job, rotating through the scopes; None if no job may be claimed now.

        A crash suspect waits until no other job is running, and other jobs wait until the suspect is done.
        """
        with self._mutex:
            self.end_pauses(elapsed)
            while self._rotation and self._running_suspect is None:
                if (
                    self._numbers[JobState.CLAIMED]
                    and self._rotation[0].is_ready
                    and self._rotation[0].waiting[0].is_crash_suspect
                ):
                    return None
                scope_jobs = self._rotation.popleft()
                scope_jobs.is_in_rotation = False
                if scope_jobs.is_ready:
                    entry = scope_jobs.waiting.popleft()
                    scope_jobs.claimed.append(entry)
                    self._set_state(entry, JobState.CLAIMED)
                    self._running_suspect = entry if entry.is_crash_suspect else None
                    return entry
            return None

    def put_back(self, entry: JobEntry, paused_until: float | None = None) -> None:
        """Make a claimed job wait again at its place in the order.

        No job of its scope is claimed before ``paused_until`` (monotonic seconds), if given.
        """
        with self._mutex:
            scope_jobs = self._release(entry)
            if paused_until is not None:
                scope_jobs.paused_until = paused_until
                heapq.heappush(self._paused, (paused_until, next(self._serial), scope_jobs))
            self._set_state(entry, JobState.WAITING)
            self._queue(entry)

    def fail(self, entry: JobEntry, at: datetime) -> None:
        """Mark a claimed job as failed."""
        with self._mutex:
            scope_jobs = self._release(entry)
            entry.failed_at, entry.is_crash_suspect = at, False
            self._set_state(entry, JobState.FAILED)
            self._failed[entry.job_id] = entry
            self._update_rotation(scope_jobs)

    def drop(self, entry: JobEntry) -> None:
        """Remove a job in any state; a second call does nothing."""
        with self._mutex:
            if self._entries.get(entry.job_id) is not entry:
                return
            del self._entries[entry.job_id]
            self._count(entry, -1)
            if entry.state is JobState.FAILED:
                del self._failed[entry.job_id]
                return
            if entry.state is JobState.CLAIMED:
                scope_jobs = self._release(entry)
            else:
                scope_jobs = self._jobs_of_scope(entry)
                scope_jobs.waiting.remove(entry)
            self._update_rotation(scope_jobs)

    def resize(self, entry: JobEntry, size: int) -> None:
        """Record the new size of a job's file."""
        with self._mutex:
            self._count(entry, -1)
            entry.size = size
            self._count(entry, 1)

    def _open_in(self, scope: Scope) -> list[JobEntry]:
        """Return the claimed jobs of a scope, then the waiting ones, each in order."""
        scope_jobs = self._by_scope.get(scope)
        if scope_jobs is None:
            return []
        waiting = [entry for entry in scope_jobs.waiting if entry.state is JobState.WAITING]
        return [*sorted(scope_jobs.claimed, key=lambda entry: entry.place), *waiting]

    def _queue(self, entry: JobEntry) -> None:
        scope_jobs = self._jobs_of_scope(entry)
        scope_jobs.insert(entry)
        self._update_rotation(scope_jobs)

    def _jobs_of_scope(self, entry: JobEntry) -> _ScopeJobs:
        key = entry.job_id if entry.scope is None else entry.scope
        if key not in self._by_scope:
            self._by_scope[key] = _ScopeJobs(key)
        return self._by_scope[key]

    def _release(self, entry: JobEntry) -> _ScopeJobs:
        scope_jobs = self._jobs_of_scope(entry)
        scope_jobs.claimed.remove(entry)
        if self._running_suspect is entry:
            self._running_suspect = None
        return scope_jobs

    def _update_rotation(self, scope_jobs: _ScopeJobs) -> None:
        """Put a scope into the rotation if one of its jobs may be claimed; forget a scope that has no jobs."""
        if scope_jobs.is_ready and not scope_jobs.is_in_rotation:
            scope_jobs.is_in_rotation = True
            self._rotation.append(scope_jobs)
        elif (
            not scope_jobs.waiting
            and not scope_jobs.claimed
            and not scope_jobs.is_in_rotation
            and scope_jobs.paused_until is None
        ):
            self._by_scope.pop(scope_jobs.key, None)

    def end_pauses(self, elapsed: float = math.inf) -> None:
        """Put the scopes whose pause is over at this instant back into the rotation; by default all of them."""
        with self._mutex:
            while self._paused and self._paused[0][0] <= elapsed:
                until, _, scope_jobs = heapq.heappop(self._paused)
                if scope_jobs.paused_until == until:
                    scope_jobs.paused_until = None
                    self._update_rotation(scope_jobs)

    def _set_state(self, entry: JobEntry, state: JobState) -> None:
        self._count(entry, -1)
        entry.state = state
        self._count(entry, 1)

    def _count(self, entry: JobEntry, sign: int) -> None:
        self._numbers[entry.state] += sign
        if entry.state in (JobState.ARRIVING, JobState.WAITING):
            self._bytes += sign * entry.size
