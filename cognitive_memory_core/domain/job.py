"""The durable envelope of work that the historian has yet to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .scope import Scope
from .turn import Dialogue, Turn


@dataclass(frozen=True)
class Job:
    """One piece of accepted work. ``trimmed`` says that something was cut to the size bounds when it was taken."""

    id: str
    work: Turn | Dialogue
    accepted_at: datetime
    trimmed: bool = False

    @property
    def scope(self) -> Scope:
        """Whose memory the work will become; jobs of one scope run in order."""
        return self.work.scene.scope

    @property
    def happened_at(self) -> datetime:
        """When it took place, as far as anybody said."""
        if isinstance(self.work, Turn):
            return self.work.happened_at or self.accepted_at
        return self.work.messages[-1].sent_at if self.work.messages else self.accepted_at


@dataclass(frozen=True)
class FailedJob:
    """A buried job: its last error in one line, how often it was tried, and when it was given up."""

    id: str
    error: str
    attempts: int
    failed_at: datetime
    job: Job | None = None


@dataclass(frozen=True)
class QueueCounts:
    """How many jobs are in each state, and how many bytes wait."""

    pending: int = 0
    processing: int = 0
    failed: int = 0
    pending_bytes: int = 0
