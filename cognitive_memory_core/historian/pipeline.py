"""Processes one claimed job, from its memo to the committed events and the facts drawn from them.

A job is read beside people, events that it may repeat or change, earlier lines, and lines that it answers: all of one
snapshot of the ledger, in one trip to a reading thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from itertools import chain

from .. import sentences
from ..consent import Consent
from ..domain.event import Draft, Event, Fact, Statement, exchange, shortened
from ..domain.ids import derived_id
from ..domain.job import Job, JobContext
from ..domain.message import Message
from ..domain.people import Person, label_of
from ..domain.profile import ProfileKey
from ..domain.reading import ReadFilter
from ..domain.scope import Scene
from ..domain.turn import Dialogue, Turn
from ..end_summaries import EndSummaries
from ..errors import UnavailableError
from ..ports import Historian
from ..settings.schema import Live, Settings
from ..store.database.database import Snapshot
from ..store.events import EventLedger
from ..store.facts import FactBook
from ..store.ledger import Ledger
from ..store.messages import MessageLog
from ..store.names import NameBook
from ..text.callnames import MYSELF
from ..text.characters import cleared_on_erasure, folded
from ..text.names import clean_name
from ..text.relative_words import is_leaning_word, offences_in
from ..text.spans import LABEL, blanked, named
from ..text.speakers import spoken
from ..text.terms import query_terms
from ..text.time.time_words import mentions
from .name_observer import NameObserver
from .statements import called

log = logging.getLogger(__name__)
KNOWN_PEOPLE = 200  # people whose names are searched for in the text
MOST_NEAR = 10  # neighbours shown to a model
LOOKED_AT, MOST_TEXTS = 12, 4  # events that are searched for a text, and texts that raise their number
SEARCHED = 20  # texts of a job that are searched for
LEAST_COMMON = 2  # terms that an event has in common with a text that has so many
NEAR = 0.15  # least share of a text's terms that an event must have to count as near
NEWEST = 3  # events of the place, shown whatever they are about; more where fewer others are near
LATELY = 40  # newest events, among which what the sender of a line said is looked for by its quotes, too
EARLIER = 6  # lines before a dialogue
WITHIN = timedelta(hours=6)  # of its first line; what is older is another topic
EARLIER_LENGTH = 80  # characters of one of them
_UNKNOWN = datetime(1970, 1, 1, tzinfo=timezone.utc)  # time of a line of which only the id is known


@dataclass(frozen=True)
class Surroundings:
    """A job's work without hidden lines, and what it is read beside.

    ``told_before`` maps an observation to the event that was made of an equal one, told earlier by the same person in
    this place. ``asked`` are the observations to make statements of: those without such an event and, where a model is
    asked, those whose event is not absolute, because it may word them better than the rules did.
    """

    is_done: bool
    work: Turn | Dialogue
    job_context: JobContext
    asked: Sequence[str] = ()
    told_before: Mapping[str, Event] = field(default_factory=dict[str, Event])


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Stores the memo, makes the statements, then commits them. A job that is processed twice is written once.

    Neighbours and earlier lines are read only if it ``asks_model``; those that cannot be read are left out.
    """

    historian: Historian
    ledger: Ledger
    events: EventLedger
    memos: EndSummaries
    name_observer: NameObserver
    consent: Consent
    settings: Live[Settings]
    asks_model: bool = True

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
        await self.name_observer.note([(one, job.happened_at) for one in scenes_of(job.work)])
        around = await self.ledger.database.read(self.surroundings, job)
        if around.is_done:
            return None
        job_context = replace(around.job_context, is_last_try=is_last_try)
        statements = await self._statements(around, job_context)
        draft = drafted(replace(job, work=around.work), statements, job_context, self.settings.current)
        on_last_call()
        return await self.events.commit(draft)

    async def _statements(self, around: Surroundings, job_context: JobContext) -> list[Statement]:
        work, told_before = around.work, around.told_before
        if isinstance(work, Dialogue):
            return await self.historian.statements(work, job_context)
        fresh = replace(work, observations=tuple(around.asked))
        written = await self.historian.statements(fresh, job_context) if fresh.observations else []
        better = (
            replace(said, repeats=told_before[text].id) if text in told_before else said
            for text, said in zip(fresh.observations, written, strict=True)
        )
        known = (text for text in work.observations if text not in around.asked)
        return [*better, *(repeated(told_before[text], work.message_ids) for text in known)]

    def surroundings(self, connection: Snapshot, job: Job) -> Surroundings:
        """Read what surrounds a job whose work was admitted by consent."""
        work = without_hidden_lines(connection, job.work)
        scene, known = work.scene, NameBook.people(connection, work.scene.scope)
        here = {one.user_id for one in scenes_of(work)}
        present = [person for person in known if person.id in here]  # then those last seen in the place
        people = {person.id: person.as_usual() for person in (*present, *known[:KNOWN_PEOPLE])}
        job_context = JobContext(
            job.happened_at.astimezone(self.settings.current.zone),
            job.scope,
            clean_name(scene.group_name),
            people.get(scene.user_id) or Person(scene.user_id, clean_name(scene.user_name)),
            tuple(people.values()),
            job_id=job.id,
        )
        asked = work.observations if isinstance(work, Turn) else ()
        alone = Surroundings(EventLedger.done(connection, job.id), work, job_context, asked)
        if alone.is_done:
            return alone
        try:
            with self.ledger.database.failed_reads:
                return self._beside(connection, alone)
        except UnavailableError:
            return alone

    def _beside(self, connection: Snapshot, alone: Surroundings) -> Surroundings:
        work, job_context, scene, asked = alone.work, alone.job_context, alone.work.scene, alone.asked
        names, read_filter = called(job_context), ReadFilter(scene, without=self.consent.opted_out)
        told_before = dict[str, Event]()
        if isinstance(work, Turn):
            found = FactBook.events_of_observations(connection, scene.scope, scene.user_id, work.observations)
            told_before = {
                text: event
                for text, event in found.items()
                if event.person == scene.user_id
                and event.scope == scene.scope
                and read_filter.admits(event)
                and is_timeless(text, names)  # 明天去北京 said twice means two trips
            }
            known = {text for text, event in told_before.items() if event.is_absolute or not self.asks_model}
            asked = [text for text in asked if text not in known]
        if self.asks_model:
            recent = EventLedger.recent(connection, read_filter, LATELY)
            near = self._near(connection, _texts(work, asked), names, read_filter, recent)
            if isinstance(work, Dialogue) and work.messages:
                known = {event.id for event in near}
                newest = [event for event in recent if event.scope == scene.scope and event.id not in known]
                near = [*near[: MOST_NEAR - len(newest[:NEWEST])], *newest][:MOST_NEAR]
                answered, earlier = self._lines_beside(connection, work)
                job_context = replace(job_context, answered=answered, earlier=earlier)
            job_context = replace(job_context, neighbours=tuple(map(self.consent.redacted, near)))
        return replace(alone, job_context=job_context, asked=asked, told_before=told_before)

    def _near(
        self,
        connection: Snapshot,
        texts: Mapping[str, Collection[str]],
        names: Sequence[str],
        read_filter: ReadFilter,
        recent: Sequence[Event],
    ) -> list[Event]:
        """Return the events of the same place that are most similar to one of the texts, best first.

        Times and people's names do not count: a word that is somebody's name in one text and a thing in another (饺子)
        is no similarity. What the sender of a line said themselves is near by one word in common, since they may change
        it; among ``recent`` events also if only their quotes have it.
        """
        found: dict[str, tuple[float, Event]] = {}
        terms = {text: _terms_of(text, names) for text in texts}
        wanted, most = tuple(dict.fromkeys(chain(*terms.values()))), LOOKED_AT * min(len(texts), MOST_TEXTS)
        searched = [one for one, _ in self.ledger.corpora.found_events(connection, wanted, read_filter, most)]
        own = [one for one in recent if one.sender_id in set().union(*texts.values())]
        for event in {one.id: one for one in (*own, *searched) if one.scope == read_filter.scene.scope}.values():
            said = " ".join((event.text, *(quote.text for quote in event.quotes)))
            words = frozenset(_terms_of(said, (*names, event.sender_name)))
            for text, voices in texts.items():
                common, of_text = len(words.intersection(terms[text])), len(terms[text])
                fewest = 1 if event.sender_id in voices else max(min(LEAST_COMMON, of_text), NEAR * of_text)
                if 0 < common >= fewest:
                    found[event.id] = max(common / of_text, found.get(event.id, (0.0, event))[0]), event
        best = sorted(found.values(), key=lambda pair: -pair[0])
        return [event for _, event in best[:MOST_NEAR]]

    def _lines_beside(
        self, connection: Snapshot, dialogue: Dialogue
    ) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """Return the lines that a dialogue answers, and those before it, redacted and shortened for a prompt.

        Lines of people who opted out or were erased are left out.
        """
        scope, first = dialogue.scene.scope, min(line.sent_at for line in dialogue.messages)
        replied = {line.reply_to for line in dialogue.messages if line.reply_to}
        wanted = replied - {line.id for line in dialogue.messages}
        answered = MessageLog.find(connection, scope, wanted) if wanted else []
        recent = MessageLog.recent(connection, scope, EARLIER, before=first)

        def shown(lines: Iterable[Message]) -> tuple[Message, ...]:
            consent = self.consent
            kept = (
                consent.redacted(line)
                for line in lines
                if line.scene.user_id not in consent.opted_out and not consent.is_erased(line.scene, line.sent_at)
            )
            return tuple(replace(line, text=shortened(line.text, EARLIER_LENGTH)) for line in kept)

        return shown(answered), shown(line for line in recent if first - line.sent_at <= WITHIN)


def scenes_of(work: Turn | Dialogue) -> list[Scene]:
    """Return one scene for each person who takes part in a job; the person whose turn it is has the turn's scene."""
    lines = work.recent_messages if isinstance(work, Turn) else work.messages
    people = {line.scene.user_id: line.scene for line in lines if isinstance(line, Message) and not line.is_bot}
    return list((people | {work.scene.user_id: work.scene}).values())


def without_hidden_lines(connection: Snapshot, work: Turn | Dialogue) -> Turn | Dialogue:
    """Return the work without hidden lines, and a turn whose source lines are all hidden without observations."""
    if isinstance(work, Dialogue):
        return replace(work, messages=MessageLog.shown(connection, work.messages))
    lines = [line for line in work.recent_messages if isinstance(line, Message)]
    sources = [Message(one, work.scene, "", _UNKNOWN) for one in work.message_ids]
    shown = MessageLog.shown(connection, [*lines, *sources])
    recent = [line for line in work.recent_messages if isinstance(line, str) or line in shown]
    is_hidden = sources and not any(one in shown for one in sources)
    return replace(work, recent_messages=tuple(recent), observations=() if is_hidden else work.observations)


def repeated(event: Event, message_ids: Sequence[str]) -> Statement:
    """Build the statement of a person who repeats an event that is already stored."""
    return Statement(
        event.text,
        event.kind,
        subjects=event.subjects,
        speaker=event.sender_id,
        confidence=event.confidence,
        is_absolute=event.is_absolute,
        repeats=event.id,
        quotes=event.quotes,
        message_ids=tuple(message_ids),
        pain=event.pain,
        solution=event.solution,
        outcome=event.outcome,
    )


def is_timeless(text: str, names: Collection[str] = ()) -> bool:
    """Return whether the same words of the same person mean the same on any day, even as a quotation."""
    if any(mention.kind == "yearless" for mention in mentions(text)):  # recurs every year
        return False
    return all(
        folded(one.word) in MYSELF for one in offences_in(text, named(text, names, is_leaning_word), with_group=True)
    )


def _terms_of(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the terms of a text in order, without labels, times and the names that it contains."""
    return _terms(text, tuple(dict.fromkeys(name for name in names if name in text)))


@cleared_on_erasure
@lru_cache(maxsize=2048)  # many jobs of a place are compared with the same events
def _terms(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    spans = [match.span() for match in LABEL.finditer(text)]
    spans += [(mention.start, mention.stop) for mention in mentions(text)]
    return tuple(query_terms(blanked(text, (*spans, *named(text, names, is_leaning_word)))))


def _texts(work: Turn | Dialogue, asked: Sequence[str]) -> Mapping[str, Collection[str]]:
    """Return the texts near which events are searched for, each with the people who said it.

    They are the lines of a dialogue, the longest first; of a turn the observations that a model is ``asked`` about, and
    the lines that the turn answers.
    """
    if isinstance(work, Dialogue):
        lines = sorted(work.messages, key=lambda line: len(line.text), reverse=True)
        said = [(line.text, line.sender_id) for line in lines if line.sender_id]
    else:
        lines = [line for line in work.recent_messages if isinstance(line, Message) and line.id in work.message_ids]
        source = [(work.source_message, work.scene.user_id)] if work.source_message.strip() else []
        own = [*source, *((line.text, line.sender_id) for line in lines if line.sender_id)]
        said = [*((text, "") for text in asked), *own] if asked else []
    texts: dict[str, set[str]] = {}
    for text, voice in list(dict.fromkeys(said))[:SEARCHED]:
        texts.setdefault(text, set()).update(filter(None, [voice]))
    return texts


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
