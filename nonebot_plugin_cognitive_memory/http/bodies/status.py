"""Bodies on the state of the memory and on failed jobs."""

from __future__ import annotations

from pydantic import BaseModel, Field

import cognitive_memory_core as core

from ...replies import http_guide as guide
from .body import Answer, Instant, RequestBody, example

_JOB_ID = "0c3d4e5a60718293a4b5c6d7e8f00001"


class StatusBody(Answer):
    """The status of the memory, with the day's model calls and tokens."""

    status: core.Status
    calls_today: int
    tokens_today: int

    @classmethod
    def of(cls, status: core.Status) -> StatusBody:
        """Build the body from a status."""
        return cls(status=status, calls_today=status.calls_today, tokens_today=status.tokens_today)


class FailedJobBody(BaseModel):
    """A failed job with its last error and what to do about it; the place is unknown if its file is unreadable."""

    id: str
    error: str
    advice: str
    attempts: int
    failed_at: Instant
    group_id: str | None
    user_id: str | None

    @classmethod
    def of(cls, failed: core.FailedJob) -> FailedJobBody:
        """Build the body from a failed job, without what was said."""
        scene = failed.job.work.scene if failed.job else None
        return cls(
            id=failed.id,
            error=failed.error,
            advice=failed.advice,
            attempts=failed.attempts,
            failed_at=failed.failed_at,
            group_id=scene.group_id if scene else None,
            user_id=scene.user_id if scene else None,
        )


class FailedJobList(Answer):
    """The failed jobs, oldest first."""

    model_config = example(
        success=True,
        jobs=[
            {
                "id": _JOB_ID,
                "error": guide.FAILURE,
                "advice": guide.ADVICE,
                "attempts": 1,
                "failed_at": "2026-03-06T12:30:00Z",
                "group_id": "10001",
                "user_id": "2000001",
            }
        ],
    )
    jobs: tuple[FailedJobBody, ...]


class Retry(RequestBody):
    """The failed job to queue again; all of them if no id is given."""

    model_config = example(job_id=_JOB_ID)
    job_id: str | None = Field(default=None, min_length=1, max_length=128)


class Retried(Answer):
    """The number of jobs that were queued again."""

    model_config = example(success=True, retried=1)
    retried: int
