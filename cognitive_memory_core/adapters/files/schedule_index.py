"""The queue's in-memory index; the time to find the next job does not grow with the number of jobs."""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, auto

from ...domain.job import QueueCounts
from ...domain.note import Memo
from ...domain.scope import Scope
from .message_hashes import MessageHashes, may_hold

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

    ``scope`` is None if the file is unreadable. ``message_ids`` are hashes of the ids of its messages; None if only the
    file tells them. While ``is_locked``, its file is being changed and the job cannot be claimed.

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
    message_ids: MessageHashes | None = None
    failed_at: datetime | None = None
    is_crash_suspect: bool = False
    is_locked: bool = False

    @property
    def place(self) -> tuple[int, str]:
        """The key by which jobs are ordered: the instant of arrival, then the id."""
        return self.instant, self.job_id


@dataclass(eq=False)
class _Lane:
    """The jobs of one scope, in order; one is claimed at a time."""

    key: Scope | str
    waiting: deque[JobEntry] = field(default_factory=deque[JobEntry])
    claimed: list[JobEntry] = field(default_factory=list[JobEntry])
    paused_until: float | None = None  # seconds of a monotonic clock
    in_turn: bool = False

    @property
    def is_ready(self) -> bool:
        head = self.waiting[0] if self.waiting else None
        is_there = head is not None and head.state is JobState.WAITING and not head.is_locked
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
    """All jobs that are not complete, by id, by scope and in order. Not thread-safe: only the event loop changes it."""

    def __init__(self) -> None:
        """Initialise an empty index."""
        self._entries: dict[str, JobEntry] = {}
        self._failed: dict[str, JobEntry] = {}
        self._lanes: dict[Scope | str, _Lane] = {}
        self._turns: deque[_Lane] = deque()
        self._resting: list[tuple[float, int, _Lane]] = []
        self._serial = itertools.count()
        self._numbers = dict.fromkeys(JobState, 0)
        self._bytes = 0
        self._alone: JobEntry | None = None  # the running suspect

    def find(self, job_id: str) -> JobEntry | None:
        """Return the job of an id in any state, or None."""
        return self._entries.get(job_id)

    def failed(self) -> list[JobEntry]:
        """Return the buried jobs in order of arrival."""
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
        return sorted((entry for lane in self._lanes.values() for entry in lane.claimed), key=lambda entry: entry.place)

    def waiting_in(self, scope: Scope) -> list[JobEntry]:
        """Return the jobs that wait in a scope, in the order in which they will be claimed."""
        lane = self._lanes.get(scope)
        return [entry for entry in lane.waiting if entry.state is JobState.WAITING] if lane else []

    def with_message(self, scope: Scope, message_id: str) -> list[JobEntry]:
        """Return the jobs of a scope that may contain a message: claimed, waiting or failed, not those being written.

        Every job that contains it is returned, and possibly others: their files must be read to know.
        """
        lane = self._lanes.get(scope)
        there = [*lane.claimed, *self.waiting_in(scope)] if lane else []
        there += [entry for entry in self._failed.values() if entry.scope == scope]
        return [entry for entry in there if may_hold(entry.message_ids, message_id)]

    def all(self) -> list[JobEntry]:
        """Return every job in any state, including those whose file is being written."""
        return list(self._entries.values())

    def memos(self, scope: Scope) -> list[Memo]:
        """Return the memos of claimed and waiting jobs, oldest first."""
        lane = self._lanes.get(scope)
        claimed = sorted(lane.claimed, key=lambda entry: entry.place) if lane else []
        return [entry.memo for entry in (*claimed, *self.waiting_in(scope)) if entry.memo is not None]

    def counts(self) -> QueueCounts:
        """Return the number of jobs by state, and their bytes."""
        waiting, claimed = self._numbers[JobState.WAITING], self._numbers[JobState.CLAIMED]
        return QueueCounts(waiting, claimed, self._numbers[JobState.FAILED], self._bytes)

    def load(self, scope: Scope) -> tuple[int, int, int]:
        """Return what the limits apply to: jobs waiting or arriving in all, those of a scope, and the bytes of all."""
        lane = self._lanes.get(scope)
        total = self._numbers[JobState.WAITING] + self._numbers[JobState.ARRIVING]
        return total, len(lane.waiting) if lane else 0, self._bytes

    def admit(self, entry: JobEntry) -> None:
        """Add a job in its state; an arriving job counts and keeps its place in the order, but is not claimable yet."""
        self._entries[entry.job_id] = entry
        self._count(entry, 1)
        if entry.state is JobState.CLAIMED:
            self._lane(entry).claimed.append(entry)
        elif entry.state is JobState.FAILED:
            self._failed[entry.job_id] = entry
        else:
            self._queue(entry)

    def settle(self, entry: JobEntry) -> None:
        """Make an arriving job claimable, once its file is durable."""
        self._set_state(entry, JobState.WAITING)
        self._enqueue_lane(self._lane(entry))

    def take(self, elapsed: float) -> JobEntry | None:
        """Claim the next job, rotating through the scopes; None if no job may be claimed now.

        A crash suspect waits until no other job is running, and other jobs wait until the suspect is done.
        """
        self._end_pauses(elapsed)
        while self._turns and self._alone is None:
            if (
                self._numbers[JobState.CLAIMED]
                and self._turns[0].is_ready
                and self._turns[0].waiting[0].is_crash_suspect
            ):
                return None
            lane = self._turns.popleft()
            lane.in_turn = False
            if lane.is_ready:
                entry = lane.waiting.popleft()
                lane.claimed.append(entry)
                self._set_state(entry, JobState.CLAIMED)
                self._alone = entry if entry.is_crash_suspect else None
                return entry
        return None

    def put_back(self, entry: JobEntry, paused_until: float | None = None) -> None:
        """Make a claimed job wait again at its place in the order.

        No job of its scope is claimed before ``paused_until`` (monotonic seconds), if given.
        """
        lane = self._removed_from_lane(entry)
        if paused_until is not None:
            lane.paused_until = paused_until
            heapq.heappush(self._resting, (paused_until, next(self._serial), lane))
        self._set_state(entry, JobState.WAITING)
        self._queue(entry)

    def fail(self, entry: JobEntry, at: datetime) -> None:
        """Mark a claimed job as failed."""
        lane = self._removed_from_lane(entry)
        entry.failed_at, entry.is_crash_suspect = at, False
        self._set_state(entry, JobState.FAILED)
        self._failed[entry.job_id] = entry
        self._enqueue_lane(lane)

    def drop(self, entry: JobEntry) -> None:
        """Remove a job in any state; a second call does nothing."""
        if self._entries.get(entry.job_id) is not entry:
            return
        del self._entries[entry.job_id]
        self._count(entry, -1)
        if entry.state is JobState.FAILED:
            del self._failed[entry.job_id]
            return
        if entry.state is JobState.CLAIMED:
            lane = self._removed_from_lane(entry)
        else:
            lane = self._lane(entry)
            lane.waiting.remove(entry)
        self._enqueue_lane(lane)

    @contextmanager
    def locked(self, entry: JobEntry) -> Generator[None, None, None]:
        """Keep a waiting job from being claimed while the block runs; jobs of other scopes can be claimed."""
        entry.is_locked = True
        try:
            yield
        finally:
            entry.is_locked = False
            if entry.state is JobState.WAITING and self._entries.get(entry.job_id) is entry:
                self._enqueue_lane(self._lane(entry))

    def resize(self, entry: JobEntry, size: int) -> None:
        """Record the new size of a job's file."""
        self._count(entry, -1)
        entry.size = size
        self._count(entry, 1)

    def _queue(self, entry: JobEntry) -> None:
        lane = self._lane(entry)
        lane.insert(entry)
        self._enqueue_lane(lane)

    def _lane(self, entry: JobEntry) -> _Lane:
        key = entry.job_id if entry.scope is None else entry.scope
        if key not in self._lanes:
            self._lanes[key] = _Lane(key)
        return self._lanes[key]

    def _removed_from_lane(self, entry: JobEntry) -> _Lane:
        lane = self._lane(entry)
        lane.claimed.remove(entry)
        if self._alone is entry:
            self._alone = None
        return lane

    def _enqueue_lane(self, lane: _Lane) -> None:
        """Put the jobs of a scope into the rotation if one may be claimed; drop the lane if it has no jobs."""
        if lane.is_ready and not lane.in_turn:
            lane.in_turn = True
            self._turns.append(lane)
        elif not lane.waiting and not lane.claimed and not lane.in_turn and lane.paused_until is None:
            self._lanes.pop(lane.key, None)

    def _end_pauses(self, elapsed: float) -> None:
        """Make the scopes whose pause is over claimable again."""
        while self._resting and self._resting[0][0] <= elapsed:
            until, _, lane = heapq.heappop(self._resting)
            if lane.paused_until == until:
                lane.paused_until = None
                self._enqueue_lane(lane)

    def _set_state(self, entry: JobEntry, state: JobState) -> None:
        self._count(entry, -1)
        entry.state = state
        self._count(entry, 1)

    def _count(self, entry: JobEntry, sign: int) -> None:
        self._numbers[entry.state] += sign
        if entry.state in (JobState.ARRIVING, JobState.WAITING):
            self._bytes += sign * entry.size
