"""The index of a queue in memory: each job by its state, and of each scope the open jobs in order of arrival."""

from __future__ import annotations

import bisect
import threading
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from ..domain.job import QueueCounts
from ..domain.notes import Memo
from ..domain.scope import Scope
from .codec import JobName, microseconds

ARRIVING = "arriving"  # the job has its place in the order, but its file is still being written
PENDING, PROCESSING, FAILED = FOLDERS = "pending", "processing", "failed"  # the other states, named after the folders
_OPEN = ARRIVING, PENDING
_ARRIVAL = attrgetter("instant", "job_id")


@dataclass(eq=False, slots=True)
class JobEntry:
    """One job in the index: its name, where its file is, and what is needed without reading the file.

    ``folder`` differs from ``state`` only after a refused move. ``scope`` is None if the file is unreadable.

    A crash suspect was being processed at each of the last crashes. It is processed alone, so that another crash
    affects no other job.
    """

    instant: int
    job_id: str
    attempts: int
    folder: str
    state: str
    size: int = 0
    scope: Scope | None = None
    memo: Memo | None = None
    failed_at: datetime | None = None
    is_crash_suspect: bool = False

    @property
    def name(self) -> str:
        """The name of the job's file."""
        return str(JobName(self.instant, self.job_id, self.attempts))

    @property
    def line(self) -> Scope | str:
        """The scope, whose jobs are claimed one at a time; an unreadable job waits for no other."""
        return self.job_id if self.scope is None else self.scope


class JobOrder:
    """The jobs of a queue by state and by scope. The event loop reads it and adds to it while a thread changes it.

    The time to find the next job grows with the number of scopes, not of jobs.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._of: dict[str, dict[str, JobEntry]] = {state: {} for state in (ARRIVING, *FOLDERS)}
        self._lines: dict[Scope | str, list[JobEntry]] = {}  # of open jobs; the scope claimed last is the last
        self.paused: dict[Scope | str, float] = {}  # until when, in seconds of a monotonic clock
        self._bytes = 0  # of open jobs
        self._last_instant = 0  # of the names that exist: each further one is later, whatever the clock does
        self._mutex = threading.RLock()

    def next_instant(self, now: datetime) -> int:
        """Return the instant of arrival of a new job: now, or one that is later than all before."""
        self._last_instant = max(microseconds(now), self._last_instant + 1)
        return self._last_instant

    def find(self, job_id: str) -> JobEntry | None:
        """Return a job in any state."""
        with self._mutex:
            return next((jobs[job_id] for jobs in self._of.values() if job_id in jobs), None)

    def all(self, *states: str) -> list[JobEntry]:
        """Return the jobs in these states, in order of arrival."""
        with self._mutex:
            return sorted((entry for state in states for entry in self._of[state].values()), key=_ARRIVAL)

    def of_scope(self, scope: Scope, *states: str) -> list[JobEntry]:
        """Return the jobs of a scope in these states, then those that wait, in order of arrival."""
        with self._mutex:
            others = [entry for state in states for entry in self._of[state].values() if entry.scope == scope]
            return others + [entry for entry in self._lines.get(scope, ()) if entry.state == PENDING]

    def counts(self) -> QueueCounts:
        """Return the number of jobs by state, and the bytes of those that wait or are being written."""
        pending, processing, failed = (len(self._of[state]) for state in FOLDERS)
        return QueueCounts(pending, processing, failed, self._bytes)

    def load(self, scope: Scope) -> tuple[int, int, int]:
        """Return how many jobs wait or are being written, in all and in the scope, and the bytes of all of them."""
        return sum(len(self._of[state]) for state in _OPEN), len(self._lines.get(scope, ())), self._bytes

    def move(self, entry: JobEntry, state: str | None) -> None:
        """Put a job into a state, or for None remove it, which a second call does not do again."""
        with self._mutex:
            is_known = self._of[entry.state].get(entry.job_id) is entry
            was_open, is_open = is_known and entry.state in _OPEN, state in _OPEN
            if is_known:
                del self._of[entry.state][entry.job_id]
            if was_open and not is_open:
                self._bytes -= entry.size
                self._lines[entry.line].remove(entry)
                if not self._lines[entry.line]:
                    del self._lines[entry.line]
            if state is not None:
                entry.state = state
                self._of[state][entry.job_id] = entry
                self._last_instant = max(self._last_instant, entry.instant)
            if is_open and not was_open:
                self._bytes += entry.size
                bisect.insort(self._lines.setdefault(entry.line, []), entry, key=_ARRIVAL)

    def next(self, elapsed: float) -> JobEntry | None:
        """Put the next job into processing and return it, rotating through the scopes; None if none may be claimed now.

        A crash suspect waits until no other job is running, and other jobs wait until the suspect is done.
        """
        with self._mutex:
            running = self._of[PROCESSING].values()
            busy = {entry.line for entry in running}
            if any(entry.is_crash_suspect for entry in running):
                return None
            for line, waiting in self._lines.items():
                first = waiting[0]
                is_ready = first.state == PENDING and self.paused.get(line, elapsed) <= elapsed
                if is_ready and line not in busy:
                    if first.is_crash_suspect and running:
                        return None
                    self.paused.pop(line, None)
                    self._lines[line] = self._lines.pop(line)  # the other scopes come first
                    self.move(first, PROCESSING)
                    return first
            return None
