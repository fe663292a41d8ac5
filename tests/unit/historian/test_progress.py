"""Tests of keeping the results of an unfinished job."""

from __future__ import annotations

from cognitive_memory_core.domain.people import JobContext, Person
from cognitive_memory_core.historian.rewriter import KEPT_JOBS, Progress
from cognitive_memory_core.text.caches import clear_caches
from tests.support.builders import GROUP, a_job
from tests.support.clock import NOON

WORK = a_job("阿棠喜欢乌龙茶").work


def job_context(job_id: str) -> JobContext:
    """Return the job context of a job."""
    return JobContext(NOON, GROUP.scope, "读书会", Person("2000001", "阿棠"), job_id=job_id)


def test_only_the_latest_jobs_are_kept() -> None:
    """Only the results of the latest jobs are kept."""
    progress: Progress[int] = Progress()
    for number in range(KEPT_JOBS + 1):
        progress.keep(WORK, job_context(f"j{number}"), number)
        progress.keep(WORK, job_context("j0"), 0)
    assert progress.find(WORK, job_context("j0")) == 0
    assert progress.find(WORK, job_context("j1")) is None
    assert progress.find(WORK, job_context("j2")) == 2


def test_what_is_settled_is_gone() -> None:
    """Results of a finished job are removed, and removing unknown ones does no harm."""
    progress: Progress[int] = Progress()
    progress.keep(WORK, job_context("j"), 1)
    progress.forget("j")
    progress.forget("j")
    assert progress.find(WORK, job_context("j")) is None


def test_nothing_is_kept_when_somebody_is_forgotten() -> None:
    """Kept results are removed when a person is forgotten."""
    progress: Progress[int] = Progress()
    progress.keep(WORK, job_context("j"), 1)
    clear_caches()
    assert not progress._thoughts
