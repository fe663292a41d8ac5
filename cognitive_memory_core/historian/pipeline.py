"""Processes one claimed job, from its memo to the committed events and the facts drawn from them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .. import sentences
from ..consent import Consent
from ..domain.event import Draft, Event, Fact, Statement, exchange, label_of
from ..domain.profile import ProfileKey
from ..domain.scope import Scene, derived_id
from ..domain.turn import Dialogue, Job, JobContext, Turn, with_fields
from ..end_summaries import MemoWriter
from ..ports.models import Historian
from ..settings import Live, Settings
from ..store.events import EventLedger
from ..text.people import spoken
from .name_observer import NameObserver
from .surroundings import Surroundings, SurroundingsReader, repeated, scenes_of

log = logging.getLogger(__name__)
LEAST_SUPPORT = 2  # people, seen a week before, whose lines make a fact of the group, unless an admin is its voice


def facts_of(said: Statement, event: Event, job: Job, job_context: JobContext, settings: Settings) -> Iterator[Fact]:
    """Yield the facts of an event: the voice's own quotes for the voice's profile, the exchange for the group's.

    A fact of the group needs an owner or admin as its voice, by the role stored with each line, or several people.
    """
    scene, work, voice = job.work.scene, job.work, said.speaker
    if said.confidence < settings.historian.min_confidence or not voice:
        return
    own = " ".join(quote.text for quote in event.quotes if quote.sender_id == voice)
    if voice in said.subjects and own:
        yield Fact(own_key(scene, voice, settings), event.id, own, event.kind, event.happened_at)
    if said.is_of_place and scene.kind == "group":
        scenes = [scene] if isinstance(work, Turn) else [line.scene for line in work.messages if line.sender_id]
        is_admins = any(one.is_admin and one.user_id == voice for one in scenes)
        quoted = {quote.sender_id for quote in event.quotes}
        people = {one for one in quoted if job_context.named(one).is_settled(event.happened_at)}
        if is_admins or len(people) >= LEAST_SUPPORT:
            yield group_fact(scene, event, voiced_by_admin=is_admins)


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
        return label_of(user_id, name) + (sentences.context.OF_ADMIN if is_admins else "")

    text = exchange(event.quotes, label) if event.quotes else spoken(event)
    return Fact(ProfileKey.group(scene.group_id, scene.agent), event.id, text, event.kind, event.happened_at)


def drafted(job: Job, statements: Sequence[Statement], job_context: JobContext, settings: Settings) -> Draft:
    """Build a draft; the ids of its events derive from the job, so that processing a job twice writes the same rows."""
    work, scene = job.work, job.work.scene
    events, facts = list[Event](), list[Fact]()
    repeats, observations = dict[str, str](), dict[str, str]()
    for index, said in enumerate(statements):
        if not said.text:
            continue
        event = Event(
            derived_id("event", job.id, index),
            said.text,
            said.kind,
            user_id=scene.user_id if isinstance(work, Turn) or scene.kind == "private" else said.speaker,
            group_id=scene.group_id,
            sender_id=said.speaker,
            subjects=said.subjects,
            message_ids=said.message_ids,
            request_type="group" if scene.kind == "group" else "private",
            perspective=work.perspective if isinstance(work, Turn) else None,
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
        events.append(event)
        facts += facts_of(said, event, job, job_context, settings)
        if said.repeats:
            repeats[event.id] = said.repeats
        if said.observation:
            observations[event.id] = said.observation
    return Draft(job.id, tuple(events), facts=tuple(facts), repeats=repeats, observations=observations)


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Stores the memo, makes the statements, then commits them. A job that is processed twice is written once."""

    historian: Historian
    events: EventLedger
    memos: MemoWriter
    name_observer: NameObserver
    consent: Consent
    reader: SurroundingsReader
    settings: Live[Settings]

    async def process(
        self, job: Job, *, is_last_try: bool = False, on_last_call: Callable[[], None] = lambda: None
    ) -> None:
        """Store the results of a job, except those of people who opted out or were erased since the job was accepted.

        On the last try, a job whose model answers badly or too late is stored without that answer. ``on_last_call`` is
        called after the last model call, before the commit.
        """
        scene = job.work.scene
        is_left_out = scene.user_id in self.consent.opted_out or self.consent.is_erased(scene, job.happened_at)
        if is_left_out and isinstance(job.work, Turn):
            return await self.events.commit(Draft(job.id))
        job = replace(job, work=self.consent.admitted(job.work))
        if (memo := job.memo) is not None:  # first, so that memos never wait for a model
            await self.memos.keep(memo)
        seen = [(one, job.happened_at) for one in scenes_of(job.work)]
        await self.name_observer.note(seen)
        around = await self.reader.surroundings(job)
        if around.is_done:
            return None
        job_context = replace(around.job_context, is_last_try=is_last_try)
        statements = await self._statements(around, job_context)
        draft = drafted(replace(job, work=around.work), statements, job_context, self.settings.current)
        on_last_call()
        return await self.events.commit(draft)

    async def _statements(self, around: Surroundings, job_context: JobContext) -> list[Statement]:
        work, before = around.work, around.before
        if isinstance(work, Dialogue):
            return await self.historian.triage(work, job_context)
        fresh = with_fields(work, observations=tuple(around.asked))
        written = await self.historian.rewrite(fresh, job_context) if fresh.observations else []
        better = (
            replace(said, repeats=before[text].id) if text in before else said
            for text, said in zip(fresh.observations, written, strict=True)
        )
        known = (text for text in work.observations if text not in around.asked)
        return [*better, *(repeated(before[text], work.message_ids) for text in known)]
