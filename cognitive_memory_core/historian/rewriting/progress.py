"""Keeps model results of unfinished jobs, so that the next try does not pay for them again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...domain.people import JobContext
from ...domain.turn import Dialogue, Turn
from ...text.caches import register_cache

MOST = 64  # jobs; many more than run at once
T = TypeVar("T")


@dataclass(frozen=True)
class _Thought(Generic[T]):
    work: Turn | Dialogue
    people: frozenset[str]
    content: T


class Progress(Generic[T]):
    """Results by job, in memory, for the last :data:`MOST` jobs.

    A result is not returned if, since it was kept, the job's text changed or a person in it was erased.
    """

    def __init__(self) -> None:
        """Start empty; :func:`clear_caches` clears it after an erasure."""
        self._thoughts: OrderedDict[str, _Thought[T]] = OrderedDict()
        register_cache(self)

    def find(self, work: Turn | Dialogue, job_context: JobContext) -> T | None:
        """Return the result kept for a job; None if there is none, or if it is no longer valid."""
        thought = self._thoughts.get(job_context.job_id)
        if thought is None or thought.work != work or not thought.people <= _people(job_context):
            return None
        return thought.content

    def keep(self, work: Turn | Dialogue, job_context: JobContext, content: T) -> None:
        """Keep a job's result, replacing the former one; a job without an id is not kept."""
        if not job_context.job_id:
            return
        self._thoughts[job_context.job_id] = _Thought(work, _people(job_context), content)
        self._thoughts.move_to_end(job_context.job_id)
        while len(self._thoughts) > MOST:
            self._thoughts.popitem(last=False)

    def forget(self, job_id: str) -> None:
        """Drop the result of a job that is done."""
        self._thoughts.pop(job_id, None)

    def clear_caches(self) -> None:
        """Drop all results, so that jobs repeat their model calls."""
        self._thoughts.clear()


def _people(job_context: JobContext) -> frozenset[str]:
    return frozenset(person.id for person in job_context.people)
