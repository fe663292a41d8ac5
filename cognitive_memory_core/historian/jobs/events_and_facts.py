"""Decides which events a job writes and whose profiles they feed as facts; writes nothing itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from ... import sentences
from ...domain.event import Draft, Event, Statement
from ...domain.fact import Fact
from ...domain.ids import derived_id
from ...domain.job import Job
from ...domain.people import JobContext, Person
from ...domain.profile import ProfileKey
from ...domain.scope import Scene
from ...domain.turn import Turn
from ...settings import Settings
from ...text.identity.persons import reports
from ..rewriting.vouching import LEAST_SUPPORT


def drafted(job: Job, statements: Sequence[Statement], job_context: JobContext, settings: Settings) -> Draft:
    """Build a draft whose event ids derive from the job, so that a replay writes the same rows."""
    learning = _Learning(job.work.scene, settings, job_context, frozenset(_admins(job)))
    written = [(said, _event(job, index, said, job_context)) for index, said in enumerate(statements) if said.text]
    return Draft(
        job.id,
        tuple(event for _, event in written),
        facts=tuple(fact for said, event in written for fact in _facts(said, event, learning)),
        repeats={event.id: said.repeats for said, event in written if said.repeats},
        heard={event.id: said.heard_as for said, event in written if said.heard_as},
    )


@dataclass(frozen=True)
class _Learning:
    """Where a job's statements were made, by whose rules, and which of its people are admins there."""

    scene: Scene
    settings: Settings
    job_context: JobContext
    admins: frozenset[str]


def _facts(said: Statement, event: Event, learning: _Learning) -> Iterator[Fact]:
    """Yield the facts of a statement about its speaker and its group; it never feeds another person's profile."""
    scene, settings = learning.scene, learning.settings
    if not said.is_absolute or said.confidence < settings.historian.min_confidence:
        return
    if _is_of_speaker(said, event):
        yield _fact(own_key(scene, event.sender_id, settings), event)
    if said.updates:
        yield _fact(own_key(scene, said.updates, settings), event)
    if said.is_of_place and scene.kind == "group" and _is_supported(said, learning.admins):
        yield group_fact(scene, event, tuple(learning.job_context.named(one) for one in said.backers))


def _is_supported(said: Statement, admins: Collection[str]) -> bool:
    """Return whether an admin, or several people, said what is stated about their group."""
    backers = {*said.backers, *([said.speaker] if said.speaker else [])}
    return len(backers) >= LEAST_SUPPORT or not backers.isdisjoint(admins)


def _admins(job: Job) -> Iterator[str]:
    """Yield the owners and admins of the group among the people whose lines a job holds, by the role with each line."""
    if isinstance(job.work, Turn):
        if job.work.scene.is_admin:
            yield job.work.scene.user_id
        return
    yield from (line.sender_id for line in job.work.messages if line.scene.is_admin and line.sender_id)


def _is_of_speaker(said: Statement, event: Event) -> bool:
    """Return whether speakers state it of themselves; reports about others or about the group do not count."""
    speaker = event.sender_id
    if not said.is_own or said.speaker != speaker or speaker not in said.subjects:
        return False
    is_of_nobody_else = set(said.subjects) == {speaker} and not said.is_of_place
    return is_of_nobody_else or not reports(event.text, speaker)


def own_key(scene: Scene, speaker: str, settings: Settings) -> ProfileKey:
    """Return the profile key of a speaker in a scene; the kind of place and ``sharing`` decide which."""
    if scene.kind == "private" or settings.sharing == "shared":
        return ProfileKey.user(speaker, scene.agent)
    return ProfileKey.member(scene.group_id, speaker, scene.agent)


def group_fact(scene: Scene, event: Event, backers: Sequence[Person] = ()) -> Fact:
    """Return a fact of a group, with the people who said it: the profile is shown to all, on their word."""
    labels = [one.label for one in backers or (Person(event.sender_id, event.sender_name),) if one.id]
    is_told = not labels or event.text.startswith(labels[0])
    speakers = sentences.context.SPEAKERS.join(labels)
    text = event.text if is_told else sentences.context.SAID_BY.format(speaker=speakers) + event.text
    return replace(_fact(ProfileKey.group(scene.group_id, scene.agent), event), text=text)


def _fact(key: ProfileKey, event: Event) -> Fact:
    return Fact(key, event.id, event.text, event.kind, event.happened_at)


def _event(job: Job, index: int, said: Statement, job_context: JobContext) -> Event:
    scene = job.work.scene
    sender = "" if said.voices else said.speaker or scene.user_id
    first = said.voices[0] if said.voices else sender
    return Event(
        derived_id("event", job.id, index),
        said.text,
        said.kind,
        user_id=scene.user_id if isinstance(job.work, Turn) or scene.kind == "private" else first,
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
        sender_name=job_context.named(sender).name,
        replaces=said.replaces,
    )
