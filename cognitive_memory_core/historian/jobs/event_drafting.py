"""Builds the events of a job, with their facts for profiles; writes nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.event import Draft, Event, Statement
from ...domain.ids import derived_id
from ...domain.people import JobContext
from ...domain.turn import Job, Turn
from ...settings import Settings
from .own_words_into_profiles import Feeding, admins_in, facts_of


def drafted(job: Job, statements: Sequence[Statement], job_context: JobContext, settings: Settings) -> Draft:
    """Build a draft; the ids of its events derive from the job, so that processing a job twice writes the same rows."""
    feeding = Feeding(job.work.scene, settings, job_context, frozenset(admins_in(job)))
    written = [(said, _event(job, index, said, job_context)) for index, said in enumerate(statements) if said.text]
    return Draft(
        job.id,
        tuple(event for _, event in written),
        facts=tuple(fact for said, event in written for fact in facts_of(said, event, feeding)),
        repeats={event.id: said.repeats for said, event in written if said.repeats},
        observations={event.id: said.observation for said, event in written if said.observation},
    )


def _event(job: Job, index: int, said: Statement, job_context: JobContext) -> Event:
    scene = job.work.scene
    return Event(
        derived_id("event", job.id, index),
        said.text,
        said.kind,
        user_id=scene.user_id if isinstance(job.work, Turn) or scene.kind == "private" else said.speaker,
        group_id=scene.group_id,
        sender_id=said.speaker,
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
        sender_name=job_context.named(said.speaker).name if said.speaker else "",
        replaces=said.replaces,
        quotes=said.quotes,
    )
