"""Finds stored events of the same place that a job may repeat, before any model is called."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

from ...domain.event import Event
from ...domain.message import Message
from ...domain.read_filter import ReadFilter
from ...domain.scope import Scene
from ...domain.turn import Dialogue, Turn
from ...errors import UnavailableError
from ...store.facts import FactBook
from ...text.caches import cleared_on_erasure
from ...text.identity.persons import MYSELF, without_speaker
from ...text.lexical.folding import folded
from ...text.lexical.terms import query_terms
from ...text.names_and_quotations import TextMask, named
from ...text.statements.corrections import puts_right
from ...text.statements.episodes import is_episode
from ...text.statements.lexicon import is_leaning_word, sightings
from ...text.statements.sameness import may_be_same
from ...text.time.time_words import mentions

MOST = 8  # neighbours shown to a model
LOOKED_AT = 12  # events per search; in private some of them are of groups
SEARCHED = 20  # texts of a job that are searched for
LEAST_COMMON = 2  # terms that an event has in common with a text that has so many
NEAR = 0.15  # least share of a text's terms that an event must have to count as near
NEAR_TO_CHANGE = 0.05  # the same for a correction, which may share only one word with what it corrects
SAME = 0.6  # share of the terms that two statements must have in common to be one
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

    def of_one_job(self) -> RepeatedEvents:
        """Return a copy that caches its searches, for one job, during which no other job changes the place's events.

        This saves a search if a statement has the same words as its observation.
        """
        return replace(self, lexical=_SearchedOnce(self.lexical))

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
            if event.sender_id == scene.user_id and event.scope == scene.scope and read_filter.admits(event)
        }

    async def near(
        self, work: Turn | Dialogue, without: Collection[str], names: Collection[str] = ()
    ) -> tuple[Event, ...]:
        """Return the events of the same place, by speakers of the work, that are most similar to it, best first.

        Times and people's names do not count.
        """
        read_filter, speakers = ReadFilter(work.scene, without=frozenset(without)), _speakers(work)
        found: dict[str, tuple[float, Event]] = {}
        for text in _texts(work):
            for nearness, event in await self._nearby_events(text, names, read_filter):
                is_here = event.scope == work.scene.scope and event.sender_id in {*speakers, ""}
                if is_here and nearness > found.get(event.id, (0.0, event))[0]:
                    found[event.id] = (nearness, event)
        best = sorted(found.values(), key=lambda pair: -pair[0])
        return tuple(event for _, event in best[:MOST])

    async def said_by_others(
        self, statement: str, scene: Scene, without: Collection[str], names: Collection[str] = ()
    ) -> tuple[str, ...]:
        """Return the ids of the people who said the same as a statement, by the stored events of the same place.

        Only events of one speaker count, and no claims for which only their speaker vouches.
        """
        claim = _claim(statement)
        read_filter = ReadFilter(scene, without=frozenset(without))
        found_speakers = _speakers_of(await self._nearby_events(claim, names, read_filter), claim, scene, names)
        if found_speakers and isinstance(self.lexical, _SearchedOnce):  # what somebody said may be forgotten since then
            self.lexical.found.clear()
            found_speakers = _speakers_of(await self._nearby_events(claim, names, read_filter), claim, scene, names)
        return found_speakers

    async def _nearby_events(
        self, text: str, names: Collection[str], read_filter: ReadFilter
    ) -> list[tuple[float, Event]]:
        terms = _terms_of(text, _present(text, names))
        if not terms:
            return []
        try:
            rows = await self.lexical.events(terms, read_filter, LOOKED_AT)
        except UnavailableError:
            return []
        least, fewest = (NEAR_TO_CHANGE, 1) if puts_right(text) else (NEAR, min(LEAST_COMMON, len(terms)))
        common = ((_common_count(terms, event, names), event) for event, _ in rows if read_filter.admits(event))
        near = ((number / len(terms), event) for number, event in common if number >= fewest)
        return [(nearness, event) for nearness, event in near if nearness >= least]


@dataclass(frozen=True)
class _SearchedOnce:
    """Caches the results of a search by its arguments."""

    search: EventSearch
    found: dict[tuple[tuple[str, ...], ReadFilter, int], list[tuple[Event, float]]] = field(
        default_factory=dict[tuple[tuple[str, ...], ReadFilter, int], list[tuple[Event, float]]]
    )

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        question = tuple(terms), read_filter, limit
        if question not in self.found:
            self.found[question] = await self.search.events(terms, read_filter, limit)
        return self.found[question]


def _speakers_of(
    found: Sequence[tuple[float, Event]], claim: str, scene: Scene, names: Collection[str]
) -> tuple[str, ...]:
    found_speakers = (
        event.sender_id
        for nearness, event in found
        if nearness >= SAME and event.is_absolute and event.sender_id and event.scope == scene.scope
        if _says_the_same(claim, _claim(event.text), names)
    )
    return tuple(dict.fromkeys(found_speakers))


def _claim(text: str) -> str:
    """Return a statement without its speaker and quotation marks, and without notes after the quotation."""
    said = without_speaker(text)
    return said[1:].partition("”")[0] if said.startswith("“") else said


def _says_the_same(one: str, other: str, names: Collection[str]) -> bool:
    """Return whether a statement contains most terms of another one, and they do not contradict each other."""
    terms, theirs = (set(_terms_of(text, _present(text, names))) for text in (one, other))
    return len(terms & theirs) >= SAME * len(theirs) and may_be_same(one, other)


def is_timeless(text: str, names: Collection[str] = ()) -> bool:
    """Return whether the same words of the same person mean the same on any day, even as a quotation.

    An episode is not timeless: 感冒了 said twice means two illnesses.
    """
    if is_episode(text) or any(mention.kind == "yearless" for mention in mentions(text)):  # recurs every year
        return False
    found = sightings(text, TextMask(len(text), named(text, names, is_leaning_word)))
    return all(folded(sighting.offence.word) in MYSELF for sighting in found)


def _content(text: str, names: Collection[str]) -> str:
    """Return the text with labels, names and times replaced by blanks."""
    spans = [match.span() for match in _LABEL.finditer(text)]
    spans += [(mention.start, mention.stop) for mention in mentions(text)]
    return TextMask(len(text), (*spans, *named(text, names, is_leaning_word))).blanked(text)


def is_dated_anew(text: str, found_before: str) -> bool:
    """Return whether a text names a time that ``found_before`` does not, so that it means another occasion."""
    said = folded(found_before)
    return any(folded(text[mention.start : mention.stop]) not in said for mention in mentions(text))


def _common_count(terms: Collection[str], event: Event, names: Collection[str]) -> int:
    """Return how many of the terms an event's text has; names of people do not count.

    A word that is somebody's name in one text and a thing in another (饺子) does not count.
    """
    return len(_terms_without_names(event.text, (*names, event.sender_name)).intersection(terms))


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


def _texts(work: Turn | Dialogue) -> list[str]:
    if isinstance(work, Turn):
        return list(work.observations[:SEARCHED])
    said = [line.text for line in work.messages if line.sender_id]
    return sorted(dict.fromkeys(said), key=len, reverse=True)[:SEARCHED]


def _speakers(work: Turn | Dialogue) -> set[str]:
    """Return the ids of the people whose words may be in a turn or dialogue."""
    return {work.scene.user_id, *_senders(work)}


def _senders(work: Turn | Dialogue) -> Iterator[str]:
    lines = work.recent_messages if isinstance(work, Turn) else work.messages
    return (line.sender_id for line in lines if isinstance(line, Message) and line.sender_id)
