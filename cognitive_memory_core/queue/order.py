"""The queue's in-memory index; the time to find the next job grows with the number of scopes, not of jobs."""

from __future__ import annotations

import bisect
import threading
from dataclasses import dataclass
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

    @property
    def line(self) -> Scope | str:
        """The scope, whose jobs are claimed one at a time; an unreadable job waits for no other."""
        return self.job_id if self.scope is None else self.scope


class ScheduleIndex:
    """All jobs that are not complete, by id, by scope and in order. The event loop and the queue's thread change it."""

    def __init__(self) -> None:
        """Initialise an empty index."""
        self._entries: dict[str, JobEntry] = {}
        self._failed: dict[str, JobEntry] = {}
        self._waiting: dict[Scope | str, list[JobEntry]] = {}  # also arriving ones; the scope claimed last is the last
        self._claimed: dict[Scope | str, list[JobEntry]] = {}
        self._paused: dict[Scope | str, float] = {}  # until when, in seconds of a monotonic clock
        self._numbers = dict.fromkeys(JobState, 0)
        self._bytes = 0
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
            claimed = [entry for entries in self._claimed.values() for entry in entries]
            return sorted(claimed, key=lambda entry: entry.place)

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
            total = self._numbers[JobState.WAITING] + self._numbers[JobState.ARRIVING]
            return total, len(self._waiting.get(scope, ())), self._bytes

    def admit(self, entry: JobEntry) -> None:
        """Add a job in any state.

        The file of an arriving job is still being written: the job already has its place in the order and is included
        in what :meth:`load` returns, but cannot be claimed until :meth:`settle`.
        """
        with self._mutex:
            self._entries[entry.job_id] = entry
            self._enter(entry, entry.state)

    def settle(self, entry: JobEntry) -> None:
        """Change a job from arriving to waiting, so that it can be claimed; to be called once its file is durable."""
        with self._mutex:
            self._count(entry, -1)
            entry.state = JobState.WAITING
            self._count(entry, 1)

    def take(self, elapsed: float) -> JobEntry | None:
        """Claim the next job, rotating through the scopes; None if no job may be claimed now.

        A crash suspect waits until no other job is running, and other jobs wait until the suspect is done.
        """
        with self._mutex:
            running = [entry for entries in self._claimed.values() for entry in entries]
            if any(entry.is_crash_suspect for entry in running):
                return None
            for line, waiting in self._waiting.items():
                if self._paused.get(line, elapsed) <= elapsed:
                    self._paused.pop(line, None)
                    if waiting[0].state is JobState.WAITING and line not in self._claimed:
                        return None if waiting[0].is_crash_suspect and running else self._taken(waiting[0])
            return None

    def _taken(self, entry: JobEntry) -> JobEntry:
        self._leave(entry)
        self._enter(entry, JobState.CLAIMED)
        if entry.line in self._waiting:
            self._waiting[entry.line] = self._waiting.pop(entry.line)  # the other scopes come first
        return entry

    def put_back(self, entry: JobEntry, paused_until: float | None = None) -> None:
        """Make a claimed job wait again at its place in the order.

        No job of its scope is claimed before ``paused_until`` (monotonic seconds), if given.
        """
        with self._mutex:
            self._leave(entry)
            self._enter(entry, JobState.WAITING)
            if paused_until is not None:
                self._paused[entry.line] = paused_until

    def fail(self, entry: JobEntry, at: datetime) -> None:
        """Mark a claimed job as failed."""
        with self._mutex:
            self._leave(entry)
            entry.failed_at, entry.is_crash_suspect = at, False
            self._enter(entry, JobState.FAILED)

    def drop(self, entry: JobEntry) -> None:
        """Remove a job in any state; a second call does nothing."""
        with self._mutex:
            if self._entries.get(entry.job_id) is entry:
                del self._entries[entry.job_id]
                self._leave(entry)

    def resize(self, entry: JobEntry, size: int) -> None:
        """Record the new size of a job's file."""
        with self._mutex:
            self._count(entry, -1)
            entry.size = size
            self._count(entry, 1)

    def end_pauses(self) -> None:
        """Let jobs of every scope be claimed again."""
        with self._mutex:
            self._paused.clear()

    def _open_in(self, scope: Scope) -> list[JobEntry]:
        """Return the claimed jobs of a scope, then the waiting ones, each in order."""
        claimed = sorted(self._claimed.get(scope, ()), key=lambda entry: entry.place)
        return [*claimed, *(entry for entry in self._waiting.get(scope, ()) if entry.state is JobState.WAITING)]

    def _enter(self, entry: JobEntry, state: JobState) -> None:
        entry.state = state
        self._count(entry, 1)
        if state is JobState.FAILED:
            self._failed[entry.job_id] = entry
        elif state is JobState.CLAIMED:
            self._claimed.setdefault(entry.line, []).append(entry)
        else:
            bisect.insort(self._waiting.setdefault(entry.line, []), entry, key=lambda one: one.place)

    def _leave(self, entry: JobEntry) -> None:
        self._count(entry, -1)
        if entry.state is JobState.FAILED:
            del self._failed[entry.job_id]
            return
        places = self._claimed if entry.state is JobState.CLAIMED else self._waiting
        places[entry.line].remove(entry)
        if not places[entry.line]:
            del places[entry.line]

    def _count(self, entry: JobEntry, sign: int) -> None:
        self._numbers[entry.state] += sign
        if entry.state in (JobState.ARRIVING, JobState.WAITING):
            self._bytes += sign * entry.size
