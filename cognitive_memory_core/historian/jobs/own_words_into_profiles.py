"""Decides for which profiles a statement is a fact: its speaker's, and the group's if several people say so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from ... import sentences
from ...domain.event import Event, Statement
from ...domain.fact import Fact
from ...domain.job import Job
from ...domain.people import JobContext, Person
from ...domain.profile import ProfileKey
from ...domain.scope import Scene
from ...domain.turn import Turn
from ...settings import Settings
from ...text.identity.persons import reports
from ..rewriting.claims_of_one_person import LEAST_SUPPORT


@dataclass(frozen=True)
class Feeding:
    """What decides for which profiles a job's statements are facts: its scene, the settings, and the group's admins."""

    scene: Scene
    settings: Settings
    job_context: JobContext
    admins: frozenset[str]


def facts_of(said: Statement, event: Event, feeding: Feeding) -> Iterator[Fact]:
    """Yield the facts of a statement about its speaker and about its group; never a fact about another person."""
    scene, settings = feeding.scene, feeding.settings
    if not said.is_absolute or said.confidence < settings.historian.min_confidence:
        return
    if _is_of_speaker(said, event):
        yield _fact(own_key(scene, event.sender_id, settings), event)
    if said.updates:
        yield _fact(own_key(scene, said.updates, settings), event)
    if said.is_of_place and scene.kind == "group" and _is_supported(said, feeding.admins):
        yield group_fact(scene, event, tuple(feeding.job_context.named(one) for one in said.backers))


def _is_supported(said: Statement, admins: Collection[str]) -> bool:
    """Return whether an admin or several people said what a statement says about their group."""
    backers = {*said.backers, *([said.speaker] if said.speaker else [])}
    return len(backers) >= LEAST_SUPPORT or not backers.isdisjoint(admins)


def admins_in(job: Job) -> Iterator[str]:
    """Yield the ids of the group's owner and admins among the speakers of a job, by the role stored with each line."""
    if isinstance(job.work, Turn):
        if job.work.scene.is_admin:
            yield job.work.scene.user_id
        return
    yield from (line.sender_id for line in job.work.messages if line.scene.is_admin and line.sender_id)


def _is_of_speaker(said: Statement, event: Event) -> bool:
    """Return whether people state it of themselves; reports, and statements about the group, do not count."""
    speaker = event.sender_id
    if not said.is_own or said.speaker != speaker or speaker not in said.subjects:
        return False
    is_of_nobody_else = set(said.subjects) == {speaker} and not said.is_of_place
    return is_of_nobody_else or not reports(event.text, speaker)


def own_key(scene: Scene, speaker: str, settings: Settings) -> ProfileKey:
    """Return the key of the profile that a speaker's facts change.

    It is the user's in private or if ``sharing`` is "shared", else the member's.
    """
    if scene.kind == "private" or settings.sharing == "shared":
        return ProfileKey.user(speaker, scene.agent)
    return ProfileKey.member(scene.group_id, speaker, scene.agent)


def group_fact(scene: Scene, event: Event, backers: Sequence[Person] = ()) -> Fact:
    """Return a fact for a group's profile; it names who said it, because all members see the profile."""
    labels = [one.label for one in backers or (Person(event.sender_id, event.sender_name),) if one.id]
    is_told = not labels or event.text.startswith(labels[0])
    speakers = sentences.context.SPEAKERS.join(labels)
    text = event.text if is_told else sentences.context.SAID_BY.format(speaker=speakers) + event.text
    return replace(_fact(ProfileKey.group(scene.group_id, scene.agent), event), text=text)


def _fact(key: ProfileKey, event: Event) -> Fact:
    return Fact(key, event.id, event.text, event.kind, event.happened_at)
