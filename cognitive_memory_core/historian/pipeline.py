"""Processes one claimed job, from its memo to the committed events and the facts drawn from them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from .. import sentences
from ..consent import Consent
from ..domain.event import Draft, Event, Fact, Statement, exchange, label_of
from ..domain.ids import derived_id
from ..domain.message import Message
from ..domain.people import JobContext, Person
from ..domain.profile import ProfileKey
from ..domain.scope import Scene
from ..domain.turn import Dialogue, Job, Turn
from ..end_summaries import MemoWriter
from ..ports.models import Historian
from ..settings import Live, Settings
from ..store.events import EventLedger
from ..store.messages import MessageLog
from ..tasks import both, together
from ..text.names import clean_name
from ..text.spoken_events import spoken
from .checks import called
from .names import NameObserver
from .neighbours import DialogueContext, RepeatedEvents, repeated
from .rewriter import Progress

log = logging.getLogger(__name__)
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


_UNKNOWN = datetime(1970, 1, 1, tzinfo=timezone.utc)  # time of a line of which only the id is known
KNOWN_PEOPLE = 200  # people whose names are searched for in the text


def _empty_progress() -> Progress[list[Statement]]:
    return Progress()


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Stores the memo, makes the statements, then commits them. A job that is processed twice is written once.

    Neighbours are searched only if a model will be asked.
    """

    historian: Historian
    events: EventLedger
    log: MessageLog
    memos: MemoWriter
    name_observer: NameObserver
    consent: Consent
    neighbourhood: RepeatedEvents
    surroundings: DialogueContext
    settings: Live[Settings]
    asks_model: bool = True
    _progress: Progress[list[Statement]] = field(default_factory=_empty_progress, init=False, repr=False)

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
        job = replace(job, work=await self._without_hidden_lines(self.consent.admitted(job.work)))
        if (memo := job.memo) is not None:  # first, so that memos never wait for a model
            await self.memos.keep(memo)
        is_done, people = await both(self.events.done(job.id), self._people(job))
        if is_done:
            return None
        job_context = replace(self._context_of(job, people), is_last_try=is_last_try)
        statements = self._progress.find(job.work, job_context)  # of an earlier try
        if statements is None:
            statements = await self._statements(job, job_context)
            self._progress.keep(job.work, job_context, statements)
        draft = drafted(job, statements, job_context, self.settings.current)
        on_last_call()
        await self.events.commit(draft)
        return self._progress.forget(job.id)

    async def _without_hidden_lines(self, work: Turn | Dialogue) -> Turn | Dialogue:
        """Return the work without hidden lines, and a turn whose source lines are all hidden without observations."""
        if isinstance(work, Dialogue):
            return replace(work, messages=await self.log.shown(work.messages))
        lines = [line for line in work.recent_messages if isinstance(line, Message)]
        sources = [Message(one, work.scene, "", _UNKNOWN) for one in work.message_ids]
        if not (lines or sources):
            return work
        shown, shown_sources = await together(self.log.shown(lines), self.log.shown(sources))
        recent = tuple(line for line in work.recent_messages if isinstance(line, str) or line in shown)
        is_gone = bool(sources) and not shown_sources
        return replace(work, recent_messages=recent, observations=() if is_gone else work.observations)

    async def _statements(self, job: Job, job_context: JobContext) -> list[Statement]:
        if not isinstance(job.work, Turn):
            if not any(line.sender_id for line in job.work.messages):
                return []
            job_context = await self._with_neighbours(job.work, job_context)
            if self.asks_model:  # with earlier lines and events, so that it understands a dialogue in mid-topic
                job_context = await self.surroundings.around(job.work, job_context)
            return await self.historian.triage(job.work, job_context)
        before, beside = await both(  # most often nothing was heard before, and one trip reads both
            self.neighbourhood.found_before(job.work, called(job_context), self.consent.opted_out),
            self._with_neighbours(job.work, job_context),
        )
        if not before:
            return await self._rewritten(job.work, beside)
        noted = {text for text, event in before.items() if self.asks_model and not event.is_absolute}
        asked = [text for text in job.work.observations if text not in before or text in noted]
        fresh = replace(job.work, observations=asked)
        written = await self._rewritten(fresh, await self._with_neighbours(fresh, job_context))
        again = [repeated(before[text], job.work.message_ids) for text in job.work.observations if text not in asked]
        better = (
            replace(said, repeats=before[text].id) if text in noted else said
            for text, said in zip(asked, written, strict=True)
        )
        return [*better, *again]

    async def _rewritten(self, turn: Turn, job_context: JobContext) -> list[Statement]:
        return await self.historian.rewrite(turn, job_context) if turn.observations else []

    async def _with_neighbours(self, work: Turn | Dialogue, job_context: JobContext) -> JobContext:
        is_empty = isinstance(work, Turn) and not work.observations
        if is_empty or not self.asks_model:
            return job_context
        near = await self.neighbourhood.near(work, self.consent.opted_out, called(job_context))
        return replace(job_context, neighbours=tuple(map(self.consent.redacted, near)))

    def _context_of(self, job: Job, people: Sequence[Person]) -> JobContext:
        scene = job.work.scene
        speaker = next((person for person in people if person.id == scene.user_id), None)
        return JobContext(
            job.happened_at.astimezone(self.settings.current.zone),
            job.scope,
            clean_name(scene.group_name),
            speaker or Person(scene.user_id, clean_name(scene.user_name)),
            tuple(people),
            job_id=job.id,
        )

    async def _people(self, job: Job) -> list[Person]:
        """Record the names in a job; return its participants and those last seen in the place, by their usual names."""
        scenes = list(_scenes(job))
        here, seen = {scene.user_id for scene in scenes}, [(scene, job.happened_at) for scene in scenes]
        has_changed, known = await both(self.name_observer.note(seen), self.name_observer.names.people(job.scope))
        if has_changed:
            known = await self.name_observer.names.people(job.scope)
        present = [person for person in known if person.id in here]
        named = {person.id: person.as_usual() for person in (*present, *known[:KNOWN_PEOPLE])}
        return list(named.values())


def _scenes(job: Job) -> Iterator[Scene]:
    lines = job.work.recent_messages if isinstance(job.work, Turn) else job.work.messages
    people = {line.scene.user_id: line.scene for line in lines if isinstance(line, Message) and not line.is_bot}
    yield from (people | {job.work.scene.user_id: job.work.scene}).values()
