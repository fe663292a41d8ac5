"""From statements to the events that a job will write: think, then write."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.event import Draft, Event, Statement
from ..domain.ids import derived_id
from ..domain.job import Job
from ..domain.people import Anchors
from ..domain.turn import Turn


def drafted(job: Job, statements: Sequence[Statement], anchors: Anchors) -> Draft:
    """Make a draft whose event ids come from the job, so that a replay writes the same rows."""
    return Draft(job.id, tuple(_event(job, index, said, anchors) for index, said in enumerate(statements) if said.text))


def _event(job: Job, index: int, said: Statement, anchors: Anchors) -> Event:
    scene = job.work.scene
    sender = said.speaker or scene.user_id
    return Event(
        derived_id("event", job.id, index),
        said.text,
        said.kind,
        user_id=scene.user_id if isinstance(job.work, Turn) or scene.kind == "private" else sender,
        group_id=scene.group_id,
        sender_id=sender,
        subjects=said.subjects,
        message_ids=said.message_ids,
        request_type="group" if scene.kind == "group" else "private",
        perspective=job.work.perspective if isinstance(job.work, Turn) else None,
        happened_at=said.happened_at or job.happened_at,
        is_absolute=said.is_absolute,
        agent=scene.agent,
        confidence=said.confidence,
        pain=said.pain,
        solution=said.solution,
        outcome=said.outcome,
        sender_name=anchors.named(sender).name,
    )
