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


OPEN = (JobState.ARRIVING, JobState.WAITING)
ON_DISK = (JobState.WAITING, JobState.CLAIMED, JobState.FAILED)


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
        self._of: dict[JobState, dict[str, JobEntry]] = {state: {} for state in JobState}
        self._lines: dict[Scope | str, list[JobEntry]] = {}  # of open jobs; the scope claimed last is the last
        self._paused: dict[Scope | str, float] = {}  # until when, in seconds of a monotonic clock
        self._bytes = 0
        self._mutex = threading.RLock()

    def find(self, job_id: str) -> JobEntry | None:
        """Return the job of an id in any state, or None."""
        return self._entries.get(job_id)

    def all(self, *states: JobState) -> list[JobEntry]:
        """Return the jobs in these states, in order of arrival."""
        with self._mutex:
            found = [entry for state in states for entry in self._of[state].values()]
        return sorted(found, key=lambda entry: entry.place)

    def of_scope(self, scope: Scope) -> list[JobEntry]:
        """Return the jobs of a scope: waiting, claimed or failed, not those being written."""
        with self._mutex:
            others = (*self._of[JobState.CLAIMED].values(), *self._of[JobState.FAILED].values())
            found = (*self._lines.get(scope, ()), *(entry for entry in others if entry.scope == scope))
            return [entry for entry in found if entry.state is not JobState.ARRIVING]

    def expired(self, now: datetime, max_age_days: int, max_files: int) -> list[JobEntry]:
        """Return the buried jobs beyond an age (days) or a number, the longest buried first; 0 means no limit."""
        failed = sorted(self.all(JobState.FAILED), key=lambda entry: entry.failed_at or now)
        excess = len(failed) - max_files if max_files else 0
        oldest = now - timedelta(days=min(max_age_days, _CENTURY)) if max_age_days else None
        return [
            entry
            for rank, entry in enumerate(failed)
            if rank < excess or (oldest is not None and (entry.failed_at or now) < oldest)
        ]

    def memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of claimed and waiting jobs, oldest first."""
        with self._mutex:
            claimed = [entry for entry in self._of[JobState.CLAIMED].values() if entry.line == scope]
            waiting = [entry for entry in self._lines.get(scope, ()) if entry.state is JobState.WAITING]
        return [entry.memo for entry in (*claimed, *waiting) if entry.memo is not None]

    def counts(self) -> QueueCounts:
        """Return the number of jobs by state, and the bytes of those that wait or are being written."""
        waiting, claimed, failed = (len(self._of[state]) for state in ON_DISK)
        return QueueCounts(waiting, claimed, failed, self._bytes)

    def load(self, scope: Scope) -> tuple[int, int, int]:
        """Return how many jobs wait or are being written, in all and in the scope, and the bytes of all of them."""
        total = sum(len(self._of[state]) for state in OPEN)
        return total, len(self._lines.get(scope, ())), self._bytes

    def move(self, entry: JobEntry, state: JobState | None) -> None:
        """Put a job into a state, or for None remove it, which a second call does not do again.

        The file of an arriving job is still being written: the job already has its place in the order and is included
        in what :meth:`load` returns, but cannot be claimed until it waits.
        """
        with self._mutex:
            is_known = self._entries.get(entry.job_id) is entry
            was_open, is_open = is_known and entry.state in OPEN, state in OPEN
            if is_known:
                del self._of[entry.state][entry.job_id]
            if was_open and not is_open:
                self._bytes -= entry.size
                self._lines[entry.line].remove(entry)
                if not self._lines[entry.line]:
                    del self._lines[entry.line]
            if state is None:
                if is_known:
                    del self._entries[entry.job_id]
                return
            entry.state = state
            self._entries[entry.job_id] = self._of[state][entry.job_id] = entry
            if is_open and not was_open:
                self._bytes += entry.size
                bisect.insort(self._lines.setdefault(entry.line, []), entry, key=lambda one: one.place)

    def take(self, elapsed: float) -> JobEntry | None:
        """Claim the next job, rotating through the scopes; None if no job may be claimed now.

        A crash suspect waits until no other job is running, and other jobs wait until the suspect is done.
        """
        with self._mutex:
            running = self._of[JobState.CLAIMED].values()
            busy = {entry.line for entry in running}
            if any(entry.is_crash_suspect for entry in running):
                return None
            for line, waiting in self._lines.items():
                first = waiting[0]
                is_ready = first.state is JobState.WAITING and self._paused.get(line, elapsed) <= elapsed
                if is_ready and line not in busy:
                    if first.is_crash_suspect and running:
                        return None
                    self._paused.pop(line, None)
                    self.move(first, JobState.CLAIMED)
                    if line in self._lines:
                        self._lines[line] = self._lines.pop(line)  # the other scopes come first
                    return first
            return None

    def pause(self, line: Scope | str, until: float) -> None:
        """Let no job of a scope be claimed before ``until`` (monotonic seconds)."""
        self._paused[line] = until

    def resize(self, entry: JobEntry, size: int) -> None:
        """Record the new size of a job's file."""
        with self._mutex:
            if entry.state in OPEN:
                self._bytes += size - entry.size
            entry.size = size

    def end_pauses(self) -> None:
        """Let jobs of every scope be claimed again."""
        self._paused.clear()
