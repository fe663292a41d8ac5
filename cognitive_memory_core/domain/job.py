"""Jobs: durable records of work that the historian has yet to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .. import sentences
from .scope import Scope
from .turn import Dialogue, Turn


@dataclass(frozen=True)
class Job:
    """One piece of accepted work. ``trimmed`` is true if it was cut to the size limits on acceptance."""

    id: str
    work: Turn | Dialogue
    accepted_at: datetime
    trimmed: bool = False

    @property
    def scope(self) -> Scope:
        """The scope that the results are written to; jobs of one scope run in order."""
        return self.work.scene.scope

    @property
    def happened_at(self) -> datetime:
        """When the turn or dialogue took place: as given, else the last message's time, else the time of acceptance."""
        if isinstance(self.work, Turn):
            return self.work.happened_at or self.accepted_at
        return self.work.messages[-1].sent_at if self.work.messages else self.accepted_at


@dataclass(frozen=True)
class FailedJob:
    """A failed job: its last error in one line, the number of attempts, and when it was buried."""

    id: str
    error: str
    attempts: int
    failed_at: datetime
    job: Job | None = None

    @property
    def advice(self) -> str:
        """What an operator can do about the failure, as one sentence."""
        return sentences.status.advice(self.error, is_readable=self.job is not None)


@dataclass(frozen=True)
class QueueCounts:
    """The number of jobs in each state, and the size of the pending ones in bytes.

    ``removed`` counts failed jobs deleted since the start because they were too old or too many.
    """

    pending: int = 0
    processing: int = 0
    failed: int = 0
    pending_bytes: int = 0
    removed: int = field(default=0, compare=False)
