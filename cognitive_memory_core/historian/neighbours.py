"""What a job is read beside: events that it may repeat or change, earlier lines, and lines that it answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Protocol

from ..consent import Consent
from ..domain.event import Event, Statement
from ..domain.message import Message
from ..domain.people import JobContext
from ..domain.read_filter import ReadFilter
from ..domain.turn import Dialogue, Turn, shortened_line
from ..errors import UnavailableError
from ..store.events import EventLedger
from ..store.facts import FactBook
from ..store.messages import MessageLog
from ..text.caches import cleared_on_erasure
from ..text.characters import folded
from ..text.names import MYSELF
from ..text.names_and_quotations import TextMask, named
from ..text.statements.lexicon import is_leaning_word, sightings
from ..text.terms import query_terms
from ..text.time.time_words import mentions

MOST_NEAR = 8  # neighbours shown to a model
LOOKED_AT = 12  # events per search; in private some of them are of groups
SEARCHED = 20  # texts of a job that are searched for
LEAST_COMMON = 2  # terms that an event has in common with a text that has so many
NEAR = 0.15  # least share of a text's terms that an event must have to count as near
_LABEL = re.compile(r"[(（][^()（）\s]{1,128}[)）]")


class EventSearch(Protocol):
    """The word search, reduced to the one method that this module calls."""

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events with any of the terms, best first, with their scores."""
        ...


@dataclass(frozen=True)
class RepeatedEvents:
    """Finds the events that a job may repeat; if a store is unavailable, it finds none."""

    facts: FactBook
    lexical: EventSearch

    async def found_before(self, turn: Turn, names: Collection[str], without: Collection[str]) -> Mapping[str, Event]:
        """Map each observation to the event made from an equal, earlier one of the same person in this place, if any.

        Only observations that mean the same on any day are looked up: 明天去北京 said twice means two trips.
        """
        scene = turn.scene
        asked = [text for text in dict.fromkeys(turn.observations) if is_timeless(text, names)]
        if not asked:
            return {}
        try:
            found = await self.facts.events_of_observations(scene.scope, scene.user_id, asked)
        except UnavailableError:
            return {}
        read_filter = ReadFilter(scene, without=frozenset(without))
        return {
            text: event
            for text, event in found.items()
            if event.person == scene.user_id and event.scope == scene.scope and read_filter.admits(event)
        }

    async def near(
        self, work: Turn | Dialogue, without: Collection[str], names: Collection[str] = ()
    ) -> tuple[Event, ...]:
        """Return the events of the same place that are most similar to a work, best first.

        Times and people's names do not count. What the sender of a line said themselves is near by one word in common,
        since they may change it.
        """
        read_filter = ReadFilter(work.scene, without=frozenset(without))
        found: dict[str, tuple[float, Event]] = {}
        for text, voice in _texts(work):
            for nearness, event in await self._nearby_events(text, voice, names, read_filter):
                if event.scope == work.scene.scope and nearness > found.get(event.id, (0.0, event))[0]:
                    found[event.id] = (nearness, event)
        best = sorted(found.values(), key=lambda pair: -pair[0])
        return tuple(event for _, event in best[:MOST_NEAR])

    async def _nearby_events(
        self, text: str, voice: str, names: Collection[str], read_filter: ReadFilter
    ) -> list[tuple[float, Event]]:
        terms = _terms_of(text, _present(text, names))
        if not terms:
            return []
        try:
            rows = await self.lexical.events(terms, read_filter, LOOKED_AT)
        except UnavailableError:
            return []
        fewest = max(min(LEAST_COMMON, len(terms)), NEAR * len(terms))
        common = ((_common_count(terms, event, names), event) for event, _ in rows if read_filter.admits(event))
        return [
            (number / len(terms), event)
            for number, event in common
            if number >= (1 if voice and event.sender_id == voice else fewest)
        ]


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
    found = sightings(text, TextMask(len(text), named(text, names, is_leaning_word)))
    return all(folded(sighting.offence.word) in MYSELF for sighting in found)


def _content(text: str, names: Collection[str]) -> str:
    """Return the text with labels, names and times replaced by blanks."""
    spans = [match.span() for match in _LABEL.finditer(text)]
    spans += [(mention.start, mention.stop) for mention in mentions(text)]
    return TextMask(len(text), (*spans, *named(text, names, is_leaning_word))).blanked(text)


def _common_count(terms: Collection[str], event: Event, names: Collection[str]) -> int:
    """Return how many of the terms an event's text has; names of people do not count.

    A word that is somebody's name in one text and a thing in another (饺子) does not count.
    """
    said = " ".join((event.text, *(quote.text for quote in event.quotes)))
    return len(_terms_without_names(said, (*names, event.sender_name)).intersection(terms))


@cleared_on_erasure
@lru_cache(maxsize=1024)
def _terms_without_names(text: str, names: tuple[str, ...]) -> frozenset[str]:
    """Return the terms of an event's text without names; cached, because many jobs of its place compare the event."""
    return frozenset(_terms_of(text, _present(text, names)))


@cleared_on_erasure
@lru_cache(maxsize=1024)
def _terms_of(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the terms of a text in order, without the names that it contains."""
    return tuple(query_terms(_content(text, names)))


def _present(text: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name in text))


def _texts(work: Turn | Dialogue) -> list[tuple[str, str]]:
    """Return the texts of a job that are searched for, each with who said it; "" for an observation."""
    if isinstance(work, Turn):
        return [(text, "") for text in work.observations[:SEARCHED]]
    said = ((line.text, line.sender_id) for line in work.messages if line.sender_id)
    return sorted(dict.fromkeys(said), key=lambda one: len(one[0]), reverse=True)[:SEARCHED]


EARLIER = 6  # lines before a dialogue
WITHIN = timedelta(hours=6)  # of its first line; what is older is another topic
EARLIER_LENGTH = 80  # characters of one of them
NEWEST = 3  # events of the place, shown whatever they are about; more where fewer others are near


@dataclass(frozen=True)
class DialogueContext:
    """Adds to a job context the earlier lines and the events to which its dialogue may refer.

    If a store is unavailable, nothing is added.
    """

    log: MessageLog
    events: EventLedger
    consent: Consent

    async def around(self, dialogue: Dialogue, job_context: JobContext) -> JobContext:
        """Return the job context with earlier lines, lines that the dialogue answers, and the place's newest events."""
        try:
            earlier = await self._earlier(dialogue)
            answered = await self._answered(dialogue)
            newest = await self._newest(dialogue)
        except UnavailableError:
            return job_context
        added = [event for event in newest if event not in job_context.neighbours]
        near = job_context.neighbours[: MOST_NEAR - len(added[:NEWEST])]
        neighbours = (*near, *added)[:MOST_NEAR]
        return replace(job_context, earlier=earlier, answered=answered, neighbours=neighbours)

    async def _earlier(self, dialogue: Dialogue) -> tuple[Message, ...]:
        first = min(line.sent_at for line in dialogue.messages)
        found = await self.log.recent(dialogue.scene.scope, EARLIER, before=first)
        near = (line for line in found if first - line.sent_at <= WITHIN)
        return tuple(line for line in map(self._shown, near) if line is not None)

    async def _answered(self, dialogue: Dialogue) -> tuple[Message, ...]:
        here = {line.id for line in dialogue.messages}
        wanted = {line.reply_to for line in dialogue.messages if line.reply_to} - here
        found = await self.log.find(dialogue.scene.scope, wanted) if wanted else []
        return tuple(line for line in map(self._shown, found) if line is not None)

    async def _newest(self, dialogue: Dialogue) -> list[Event]:
        read_filter = ReadFilter(dialogue.scene, without=frozenset(self.consent.opted_out))
        found = await self.events.recent(read_filter, MOST_NEAR)
        return [event for event in found if event.scope == dialogue.scene.scope]

    def _shown(self, line: Message) -> Message | None:
        """Return a line redacted and shortened for the prompt; None if its sender opted out or was erased."""
        if line.scene.user_id in self.consent.opted_out or self.consent.is_erased(line.scene, line.sent_at):
            return None
        cut = shortened_line(self.consent.redacted(line), EARLIER_LENGTH)
        return cut if isinstance(cut, Message) else None
