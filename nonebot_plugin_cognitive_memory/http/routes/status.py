"""Routes on the state of the memory and on failed jobs."""

from __future__ import annotations

import cognitive_memory_core as core

from ... import replies
from ..bodies.status import FailedJobBody, FailedJobList, Retried, Retry, StatusBody
from ..dependencies import NothingThere, Operator, OperatorAccess
from ..routers import DescribedRouter, refusals

router = DescribedRouter()


@router.get("/status")
async def get_status(operator: Operator) -> StatusBody:
    """Return counts, queue, index, errors and the day's spending."""
    return StatusBody.of(await operator.memory.status())


@router.get("/jobs/failed")
async def list_failed_jobs(operator: Operator) -> FailedJobList:
    """Return the agent's failed jobs, and those whose files cannot be read, which name no agent."""
    return FailedJobList(jobs=tuple(map(FailedJobBody.of, await _failed(operator))))


@router.post("/jobs/retry", responses=refusals(404))
async def retry_jobs(operator: Operator, wanted: Retry | None = None) -> Retried:
    """Queue the failed job that the body names again, or all of the agent's."""
    job_id = wanted.job_id if wanted else None
    jobs = [one for one in await _failed(operator) if job_id in (None, one.id)]
    if job_id is not None and not jobs:
        raise NothingThere(replies.http.UNKNOWN_JOB)
    return Retried(retried=sum([await operator.memory.revive(one.id) for one in jobs]))


async def _failed(operator: OperatorAccess) -> list[core.FailedJob]:
    failed = await operator.memory.failed_jobs()
    return [one for one in failed if one.job is None or one.job.work.scene.agent == operator.agent]
