"""What was thought of a job that could not be ended, so that its next try pays for nothing twice."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...domain.people import Anchors
from ...domain.turn import Dialogue, Turn
from ...text.caches import register_cache

MOST = 64  # jobs: many more than are in work at once
T = TypeVar("T")


@dataclass(frozen=True)
class _Thought(Generic[T]):
    work: Turn | Dialogue
    people: frozenset[str]
    content: T


class Progress(Generic[T]):
    """Kept by job, in memory only, of the :data:`MOST` jobs that were kept last.

    What was thought of other words, or with somebody who is not known any more (they were erased), is not given.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._thoughts: OrderedDict[str, _Thought[T]] = OrderedDict()
        register_cache(self)

    def find(self, work: Turn | Dialogue, anchors: Anchors) -> T | None:
        """Give what was thought of a job's work."""
        thought = self._thoughts.get(anchors.job_id)
        if thought is None or thought.work != work or not thought.people <= _people(anchors):
            return None
        return thought.content

    def keep(self, work: Turn | Dialogue, anchors: Anchors, content: T) -> None:
        """Keep what was thought so far, in the place of what was before; a job without an id is not kept."""
        if not anchors.job_id:
            return
        self._thoughts[anchors.job_id] = _Thought(work, _people(anchors), content)
        self._thoughts.move_to_end(anchors.job_id)
        while len(self._thoughts) > MOST:
            self._thoughts.popitem(last=False)

    def settle(self, job_id: str) -> None:
        """Let go of a job that is done."""
        self._thoughts.pop(job_id, None)

    def clear_caches(self) -> None:
        """Let go of every job: what is thought of again is paid for again."""
        self._thoughts.clear()


def _people(anchors: Anchors) -> frozenset[str]:
    return frozenset(person.id for person in anchors.people)
