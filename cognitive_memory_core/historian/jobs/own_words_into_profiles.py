"""Decides for which profiles an event is a fact: its voice's, in the voice's own words, and the group's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ... import sentences
from ...domain.event import Event, Fact, Statement, exchange, label_of
from ...domain.people import JobContext
from ...domain.profile import ProfileKey
from ...domain.scope import Scene
from ...domain.turn import Job, Turn
from ...settings import Settings
from ...text.spoken_events import spoken

LEAST_SUPPORT = 2  # people, seen a week before, whose lines make a fact of the group, unless an admin is its voice


@dataclass(frozen=True)
class Feeding:
    """What decides for which profiles a job's statements are facts: its scene, the settings, and the group's admins."""

    scene: Scene
    settings: Settings
    job_context: JobContext
    admins: frozenset[str]


def facts_of(said: Statement, event: Event, feeding: Feeding) -> Iterator[Fact]:
    """Yield the facts of an event: the voice's own quotes for the voice's profile, the exchange for the group's."""
    scene, settings = feeding.scene, feeding.settings
    if said.confidence < settings.historian.min_confidence or not said.speaker:
        return
    own = [quote for quote in event.quotes if quote.sender_id == said.speaker]
    if said.speaker in said.subjects and own:
        yield Fact(
            own_key(scene, said.speaker, settings),
            event.id,
            " ".join(quote.text for quote in own),
            event.kind,
            event.happened_at,
        )
    named = feeding.job_context.named
    people = {one.sender_id for one in event.quotes if named(one.sender_id).is_settled(event.happened_at)}
    if said.is_of_place and scene.kind == "group" and (said.speaker in feeding.admins or len(people) >= LEAST_SUPPORT):
        yield group_fact(scene, event, voiced_by_admin=said.speaker in feeding.admins)


def admins_in(job: Job) -> Iterator[str]:
    """Yield the ids of the group's owner and admins among the speakers of a job, by the role stored with each line."""
    if isinstance(job.work, Turn):
        if job.work.scene.is_admin:
            yield job.work.scene.user_id
        return
    yield from (line.sender_id for line in job.work.messages if line.scene.is_admin and line.sender_id)


def own_key(scene: Scene, speaker: str, settings: Settings) -> ProfileKey:
    """Return the key of the profile that a speaker's facts change.

    It is the user's in private or if ``sharing`` is "shared", else the member's.
    """
    if scene.kind == "private" or settings.sharing == "shared":
        return ProfileKey.user(speaker, scene.agent)
    return ProfileKey.member(scene.group_id, speaker, scene.agent)


def group_fact(scene: Scene, event: Event, *, voiced_by_admin: bool = False) -> Fact:
    """Return a fact for a group's profile: the lines of an event, each with who said it, an admin's voice marked."""

    def label(user_id: str, name: str) -> str:
        is_admins = voiced_by_admin and user_id == event.sender_id
        return label_of(user_id, name) + (sentences.stored_text.OF_ADMIN if is_admins else "")

    text = exchange(event.quotes, label) if event.quotes else spoken(event)
    return Fact(ProfileKey.group(scene.group_id, scene.agent), event.id, text, event.kind, event.happened_at)
