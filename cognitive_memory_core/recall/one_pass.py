"""One pass of a question over a snapshot of the ledger, on a reading thread, from top to bottom.

:class:`ContextPass` reads what a context shows, :class:`SearchPass` what a search finds, part by part. What is outside
the process (the vector, a wide vector index, a reranker's scores) is given to a pass: one that wants more of it says
so, and :class:`Recall` asks, and passes again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from ..consent import Consent
from ..domain.answer import Hit
from ..domain.belief import Belief
from ..domain.event import Event, LineKey
from ..domain.message import Message
from ..domain.notes import Memo, Pin
from ..domain.people import Person
from ..domain.reading import NARROWED, ReadFilter
from ..errors import UnavailableError
from ..ports import Clock, Embedder, Nearest, Reranker, Vector, is_hashing
from ..settings.schema import Decay, Settings
from ..store.database.database import Snapshot, at_once
from ..store.ledger import Ledger
from ..store.search.lines import OF_CONTEXT, OF_SEARCH, FoundLine, LineSearch, same_text
from ..tasks import AWAY
from ..text.query import Query
from .beliefs_and_profiles import BeliefSearch, ProfileReader, TurnProfiles
from .names import NO_PLACES, NOBODY, CurrentNames, KnownPlaces, Names, with_names
from .ranking import (
    LEAST,
    MAX_CANDIDATES,
    MAX_RESULTS,
    Candidate,
    Scored,
    collapsed,
    diversified,
    followed,
    fused,
    reranked,
    terms_of,
    weighed,
    widened,
)

DEGRADED = ("embedding", "vectors", "lexical", "rerank", "profiles", "ledger", "disabled")
RERANKED_FROM = 2  # least ratio of candidates to hits for reranking: below it there is nothing to choose
NEAR = 0.5  # similarity of the best of hits without a common word: 0.76 or more for 347 questions of two sets (MiniLM),
# 0.2 to 0.65 (LoCoMo) and 0.3 to 0.79 (QMSum, nine in ten below 0.59) for what was never spoken of
KNOWN = 0.45  # share of a search's words of which a place has used a word or a character: less in one or two of 273
# searches by words of a question whose answer is found, and in half to two thirds of random letters with common words
FEW = 3  # hits: an identity query ("who is ...") with fewer also gets the newest events of that person
ASKED_ABOUT = 3  # people that an identity query is about at most
CHAIN = 3  # times that a statement may have been replaced by a newer one
MOST_NAMED = 2  # people named by the question who are shown
SPARE_LINES = 8  # more lines of the log than are shown, in place of those that shown events were made of
FOLLOWED = 3  # best lines of the log that are shown with the lines after them
ASKING = timedelta(minutes=2)  # lines this recent may be the query itself
LINE = 0.5  # factor of a log line's score beside events, which carry more information
TRACED = 0.8  # factor of an event's score that is found through a line that it was made of


@dataclass
class Sources:
    """What an answer rests on; ``consent`` checks every item and redacts every line.

    ``wide_index`` is asked where exact search has too many vectors, ``reranker`` decides relevance.
    """

    ledger: Ledger
    embedder: Embedder
    clock: Clock
    consent: Consent
    names: CurrentNames
    profiles: ProfileReader | None = None
    beliefs: BeliefSearch | None = None
    wide_index: Nearest | None = None
    reranker: Reranker | None = None


@dataclass
class Pass:
    """A question within a read filter, and what was read for it so far; when time is over it is shown as it is.

    ``vector``, the ids and cosines of a wide index (``wide_rows``) and a reranker's ``scores`` by event id were told
    outside the process; None if not asked. ``wide_wanted`` is the number of rows wanted of a wide index, ``to_rerank``
    are the candidates that a reranker should judge. A pass reads the ``names`` of the place, and adds to the ``query``
    whom and what time it names. One that ``explains`` also keeps the parts of the scores of lines.

    ``missing`` are the parts that are not read, with their names in ``degraded``; ``failure`` is the ledger's.
    """

    sources: Sources
    read_filter: ReadFilter
    query: Query
    settings: Settings
    now: datetime
    explains: bool = False
    vector: Vector | None = None
    wide_rows: Sequence[tuple[str, float]] | None = None
    scores: Mapping[str, float] | None = None
    missing: dict[str, str] = field(default_factory=dict[str, str])
    failure: UnavailableError | None = None
    reading: str = ""  # the part that is read now
    names: Names = NOBODY
    wide_wanted: int = 0
    to_rerank: Sequence[Candidate] = ()
    candidates: list[Candidate] = field(default_factory=list[Candidate])

    @property
    def degraded(self) -> tuple[str, ...]:
        """The names of what was unavailable."""
        return tuple(word for word in DEGRADED if word in self.missing.values())

    def part(self, name: str, degraded: str = "") -> Pass:
        """Read one part in a ``with`` block; if a store or model is unavailable it stays missing, and the pass goes on.

        The pass itself is what is entered: a question does so a dozen times.
        """
        if degraded:
            self.missing[name] = degraded
        self.reading = name
        return self

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> bool:
        """Note whether the part is read; suppress what AWAY names."""
        if failure is None:
            self.missing.pop(self.reading, None)
            return False
        try:
            self.sources.ledger.database.failed_reads.__exit__(kind, failure, trace)
        except UnavailableError as unavailable:
            failure = unavailable
        if isinstance(failure, UnavailableError):
            self.failure = failure
        return isinstance(failure, AWAY)

    def read(self, on: Snapshot) -> None:
        """Read the people of the place, and find whom and what time the query names; without a name book nobody."""
        with self.part("names"):
            scene = self.read_filter.scene
            self.names = self.sources.names.at(on, scene)
            self.query = with_names(self.query, scene, self.now.astimezone(self.settings.zone), self.names)

    def best_events(
        self,
        on: Snapshot,
        top_k: int,
        decay: Decay | None,
        floor: float = 0.0,
        lines: Mapping[int, float] | None = None,
    ) -> list[Candidate]:
        """Return the best events, by words and by meaning, at most ``top_k`` (and 200), that are relevant enough.

        Those made of lines that will be quoted rank higher (``lines`` has the scores of lines). A reranker's scores
        decide alone. An identity query ("who is ...") that finds little also returns the newest events of whom it asks
        about.
        """
        query, read_filter, settings = self.query, self.read_filter, self.settings.query
        limit = min(max(top_k, 0), MAX_RESULTS)
        wanted = min(limit * settings.rerank_candidate_multiplier, MAX_CANDIDATES)
        if not (limit and query.terms):
            return []
        self.candidates = hits = self._found_events(on, limit, wanted)
        has_choice = settings.rerank_candidate_multiplier >= RERANKED_FROM
        if self.sources.reranker and settings.enable_rerank and has_choice:
            self.to_rerank = collapsed(weighed(hits, query.windows, query.people))[:wanted]
            hits = reranked(self.to_rerank, hits, self.scores)
        enough = max(floor, settings.min_relevance, LEAST)
        about = [read_filter.user_id] if read_filter.user_id else sorted(query.people)[:ASKED_ABOUT]
        if query.asks_who and about and sum(one.relevance >= enough for one in hits) < min(FEW, limit):
            with self.part("newest", "ledger"):
                recent, filters = (
                    self.sources.ledger.events.recent,
                    (replace(read_filter, user_id=one) for one in about),
                )
                read = [event for one in filters for event in at_once(recent, on, one, wanted)]
                newest = sorted(filter(read_filter.admits, read), key=lambda event: event.happened_at, reverse=True)
                hits = widened(hits, newest, enough)
                self.candidates += (one for one in hits if one not in self.candidates)
        ranked = weighed(hits, query.windows, query.people, decay, self.now, lines or {}, floor)
        return diversified(collapsed(ranked), settings.diversity, limit)

    def _found_events(self, on: Snapshot, limit: int, wanted: int) -> list[Candidate]:
        """Return ``wanted`` events by words, and as many by meaning, or the number of rows wanted of a wide index."""
        query, vector, corpora, words, dense = self.query, self.vector, self.sources.ledger.corpora, None, None
        self.wide_wanted = 0
        with self.part("words"):
            words = self._among_the_named(limit, wanted, partial(corpora.found_events, on, query.terms))
        if self.sources.wide_index and self.wide_rows is None and vector is not None:
            with self.part("wide"):
                self.wide_wanted = wanted if corpora.is_wide(on, self.read_filter) else 0
        if vector is not None and not self.wide_wanted:
            with self.part("vectors"):
                dense = self._among_the_named(limit, wanted, partial(self._nearest, on, vector))
        if dense and not (query.people or words):  # what only a model finds near counts if it is near enough
            is_of_characters = is_hashing(self.sources.embedder)  # near where no word is common, too
            is_near = not is_of_characters and max(similarity for _, similarity in dense) >= NEAR
            shares_words = not all(terms_of(*event.wording).isdisjoint(query.terms) for event, _ in dense)
            dense = dense if is_near or shares_words else []
        return fused(dense, words, self.settings.query.lexical_weight)

    def _among_the_named(
        self, limit: int, wanted: int, search: Callable[[ReadFilter, int], Sequence[Scored]]
    ) -> list[Scored]:
        """Search, and once more for the time, and for each person, that the query names and most rows are not of."""
        rows = [*search(self.read_filter, wanted)]
        if len(rows) == wanted:
            most = min(wanted, NARROWED)
            narrowed = self.read_filter.narrowed(self.query.windows, self.query.people)
            few = [one for one in narrowed if sum(one.admits(event) for event, _ in rows) < min(limit, most)]
            for one in few:
                known = {event.id for event, _ in rows}
                rows += (row for row in search(one, most) if row[0].id not in known)
        return rows

    def _nearest(self, on: Snapshot, vector: Vector, read_filter: ReadFilter, limit: int) -> list[Scored]:
        """Return the nearest events: those of the wide index, or by exact search."""
        near = list[Scored]()
        if self.wide_rows and read_filter is self.read_filter:
            found = at_once(self.sources.ledger.events.fetch, on, [event_id for event_id, _ in self.wide_rows])
            events = {one.id: one for one in found if read_filter.admits(one)}
            near = [(events[event_id], cosine) for event_id, cosine in self.wide_rows if event_id in events]
        if len(near) < limit:  # rows may hide behind equal ones, or erased ones that the index still has
            near = self.sources.ledger.corpora.found_nearest(on, vector, read_filter, limit)
        similarity = self.sources.embedder.calibration.similarity
        return [(event, similarity(cosine)) for event, cosine in near]


@dataclass
class ContextPass(Pass):
    """What a context shows, in the order in which it is read.

    ``shown`` are ids of messages of the place that the caller shows (None: the question itself), ``waiting`` the memos
    of jobs that are still in the queue, ``people`` those of the places whose names are shown, by id.
    """

    shown: Collection[str] | None = None
    waiting: Sequence[Memo] = ()
    lines: Sequence[FoundLine] = ()  # the best of the log
    quotes: Sequence[FoundLine] = ()  # those of them that are shown
    pins: Sequence[Pin] = ()
    memos: Sequence[Memo] = ()
    events: Sequence[Event] = ()
    replaced: Collection[str] = ()
    beliefs: Sequence[Belief] = ()
    newer: Sequence[Event] = ()  # than these beliefs, replacing events on which they rest
    basis: Sequence[Message] = ()  # lines on which these beliefs rest, oldest first
    told: Sequence[Event] = ()  # on which those of these beliefs rest whose lines the log has no more
    people: KnownPlaces = field(default_factory=lambda: NO_PLACES)
    profiles: TurnProfiles = field(default_factory=TurnProfiles)
    facts: Sequence[Event] = ()  # on which lines of these profiles rest that a model worded

    @property
    def named(self) -> list[Person]:
        """The people known in the group whom the query names, except the asker and who opted out."""
        scene, people = self.read_filter.scene, self.names.people
        without = {scene.user_id, *self.sources.consent.opted_out}
        found = [people[one] for one in sorted(self.query.people) if one in people and one not in without]
        return found[:MOST_NAMED] if scene.kind == "group" else []

    def read(self, on: Snapshot) -> None:
        """Read what a context shows."""
        super().read(on)
        sources, scene, settings = self.sources, self.read_filter.scene, self.settings.query
        events, of_lines, unread = sources.ledger.events, dict[int, float](), iter(list[FoundLine]())
        with self.part("lines"):
            if most := settings.auto_messages_k:
                most += SPARE_LINES + len(self.shown or ())
                decay, explains = settings.auto_decay, self.explains
                search = LineSearch(self.query, self.read_filter, most, self.now, OF_CONTEXT, decay, explains)
                found, of_lines = sources.ledger.corpora.found_lines(on, search)
                unread, self.lines = iter(found), ()
                self._choose_quotes(unread)  # without events yet: shown like this if the time ends before they are read
        if scene.has_place:
            with self.part("pins", "ledger"):
                self.pins = at_once(sources.ledger.notes.pins, on, scene.scope)
            self.read_memos(on)
        best = self.best_events(on, settings.auto_top_k, settings.auto_decay, settings.min_relevance, of_lines)
        self.events = [one.event for one in best]
        with self.part("replaced"):
            newer = self._replacing(on, [event.id for event in self.events])
            self.events, self.replaced = followed(self.events, newer, settings.auto_top_k)
        with self.part("quotations", "lexical" if self.quotes else ""):
            told = {key for event in self.events for key in event.sources}
            self._choose_quotes(unread, told)
            if self.quotes:
                self._surround(on, told)
        with self.part("beliefs"):
            if sources.beliefs and scene.group_id and self.query.terms:
                self.beliefs = sources.beliefs.of_turn(on, scene.scope, self.query.said, self.vector)
                newer = self._replacing(on, [source for belief in self.beliefs for source in belief.event_ids])
                self.newer = [event for event in newer if event.scope == scene.scope]
                of_beliefs = [line_id for belief in self.beliefs for line_id in belief.message_ids]
                self.basis = at_once(sources.ledger.log.find, on, scene.scope, of_beliefs) if of_beliefs else ()
                unquoted = [one for one in self.beliefs if not one.quoting(self.basis).quotes]
                gone = [event_id for one in unquoted for event_id in one.event_ids]
                self.told = at_once(events.fetch, on, gone) if gone else ()
        with self.part("people"):
            items, known = (*self.events, *self.beliefs, *self.newer), self.names.as_known(scene)
            self.people = sources.names.people(on, items, known)
        with self.part("profiles"):
            if sources.profiles:
                self.profiles = sources.profiles.of_turn(on, scene, [one.id for one in self.named])
                of_profiles = self.profiles.event_ids
                self.facts = at_once(events.fetch, on, [*of_profiles]) if of_profiles else ()
        if not self.profiles.is_whole:
            self.missing["profiles"] = "profiles"

    def read_memos(self, on: Snapshot) -> None:
        """Read the recent memos."""
        with self.part("notes"):
            scope, most = self.read_filter.scene.scope, self.settings.query.recent_end_summaries_inject_k
            hidden = self.sources.consent.opted_out
            self.memos = at_once(self.sources.ledger.notes.memos, on, scope, most, without=hidden)

    def _replacing(self, on: Snapshot, asked: Sequence[str]) -> list[Event]:
        """Return the events that replace those of the ids, and those that replace these."""
        newer = dict[str, Event]()
        for _ in range(CHAIN):
            read = at_once(self.sources.ledger.events.replacing, on, asked, self.read_filter) if asked else []
            asked = [one.id for one in read if one.id not in newer]
            newer |= {one.id: one for one in read}
        return list(newer.values())

    def _is_shown(self, line: Message) -> bool:
        """Return whether the caller shows a line of the log."""
        scene = self.read_filter.scene
        if not scene.has_place or line.scene.scope != scene.scope:
            return False
        if self.shown is not None:
            return line.id in self.shown
        is_new = line.sender_id == scene.user_id != "" and line.sent_at >= self.now - ASKING
        return is_new and line.text.strip() == self.query.said

    def _choose_quotes(self, unread: Iterator[FoundLine], told: Collection[LineKey] = ()) -> None:
        """Choose the best lines that are relevant, and that neither the caller nor an event (``told``) shows.

        Lines are read as far as they are needed.
        """
        settings, read, quotes = self.settings.query, list[FoundLine](), list[FoundLine]()
        for one in chain(self.lines, unread):
            if one.relevance < settings.min_relevance:
                one.cut = "relevance"
            elif one.cut is None and self._is_shown(one.line):
                one.cut = "recent"
            elif one.cut is None and one.line.key in told:
                one.cut = "shown_as_event"
            read.append(one)
            quotes += [one] if one.cut is None else []
            if len(quotes) == settings.auto_messages_k and not self.explains:
                break
        self.lines, self.quotes = read, quotes[: settings.auto_messages_k]

    def _surround(self, on: Snapshot, told: set[LineKey]) -> None:
        """Read the lines that the quotes reply to, and those that follow the best of them; each line is shown once.

        None follows from the first on that is shown elsewhere or answers another line: it was not said to the quote.
        """
        told |= {one.line.key for one in self.quotes}
        self.sources.ledger.corpora.surround(on, self.quotes, self.read_filter, FOLLOWED)
        for one in self.quotes:
            after, answered = dict[object, Message](), {None, "", one.line.id}
            for line in one.after:
                if line.key in told or line.reply_to not in answered or self._is_shown(line):
                    break
                after.setdefault((same_text(line.text), line.sender_id), line)  # none repeats another
                told.add(line.key)
                answered.add(line.id)
            one.after = tuple(after.values())


@dataclass
class SearchPass(Pass):
    """At most ``top_k`` hits of a search of events, of lines of the log, or of both.

    If both are searched, the scores of lines are lowered, and a line from which an event was made is replaced by that
    event, whose score is then at least :data:`TRACED` times that of the line.

    There are none if nobody is named, no event is near in meaning, and of most words asked for not a character is in a
    hit or in a line of the place: nobody spoke of that, and the hits share only common words.
    """

    top_k: int = 0
    of_events: bool = True
    of_lines: bool = False
    hits: Sequence[Hit] = ()

    def read(self, on: Snapshot) -> None:
        """Read the hits."""
        super().read(on)
        decay, said = self.settings.query.tool_decay, list[Hit]()
        if self.of_lines:
            with self.part("lines"):
                most = min(2 * self.top_k if self.of_events else self.top_k, MAX_RESULTS)
                corpora, reach = self.sources.ledger.corpora, OF_SEARCH
                reach = reach._replace(candidates=max(most, reach.candidates))
                search = LineSearch(self.query, replace(self.read_filter, kinds=()), most, self.now, reach, decay)
                found = [*corpora.found_lines(on, search).lines]
                if found:
                    corpora.surround(on, found, self.read_filter)
                self.hits = said = [*map(hit_of, found)]
        if self.of_events:
            self.hits = [one.hit for one in self.best_events(on, self.top_k, decay)]
            if said:
                self.hits = self._with_lines(on, self.hits, said)
        if self.hits and self._is_unheard_of(on):
            self.hits = ()
        events = self.sources.names.present(on, [hit.event for hit in self.hits])
        self.hits = [replace(hit, event=event) for hit, event in zip(self.hits, events, strict=True)]

    def _with_lines(self, on: Snapshot, known: Sequence[Hit], said: Sequence[Hit]) -> list[Hit]:
        """Add lines to hits, the events made of them in their place; these score at least as their best line lets."""
        lines, made = {key: hit for hit in said for key in hit.event.sources}, list[Event]()
        with self.part("sources"):
            made = at_once(self.sources.ledger.events.made_of, on, lines.keys(), self.read_filter)
        found = {hit.event.id: hit for hit in known}
        for event in made:
            if self.read_filter.admits(event) and (of := [lines[key] for key in event.sources if key in lines]):
                best, hit = max(of, key=lambda hit: hit.score), found.get(event.id, Hit(event, 0.0))
                score, relevance = max(hit.score, TRACED * best.score), max(hit.relevance, TRACED * best.relevance)
                found[event.id] = replace(hit, score=score, relevance=relevance)
        told = {key for hit in found.values() for key in hit.event.sources}
        left = (replace(hit, score=hit.score * LINE) for hit in said if told.isdisjoint(hit.event.sources))
        return sorted((*found.values(), *left), key=lambda hit: -hit.score)[: self.top_k]

    def _is_unheard_of(self, on: Snapshot) -> bool:
        """Return whether nobody is named, nothing that was found is near, and most of the words were never said."""
        query, is_unheard_of = self.query, False
        nearest = max(hit.similarity for hit in self.hits)
        is_named = any(name and name in query.said for name in (hit.event.sender_name for hit in self.hits))
        if query.people or is_named or (nearest >= NEAR and not is_hashing(self.sources.embedder)):
            return False
        heard = terms_of(*(text for hit in self.hits for text in hit.event.wording))
        if query.known_share(heard) < KNOWN:
            with self.part("heard"):  # a log that cannot be read hides no hit
                heard |= self.sources.ledger.corpora.heard(on, query.terms, self.read_filter)
                is_unheard_of = query.known_share(heard) < KNOWN
        return is_unheard_of


def hit_of(found: FoundLine) -> Hit:
    """Return a line as a hit."""
    line, relevance, around = found.line, found.relevance, (*found.before, *found.after)
    return Hit(line.as_event(), found.score, 0.0, relevance, relevance, around, line.reply_to or "")
