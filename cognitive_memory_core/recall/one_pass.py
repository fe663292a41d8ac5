"""One question on its way through the memory, from the words to the block: plain functions on a reading thread.

They are called in this order: ``begin_context`` or ``begin_search`` reads what needs no vector, ``find`` the events by
meaning, ``finish_context`` or ``finish_search`` what rests on the events found; ``rendered`` makes the block. What is
outside the process (the vector, a wide vector index, a reranker's scores) :class:`Recall` awaits between them, and puts
it here. What is unavailable is left out and named in ``degraded``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain
from typing import NamedTuple

from .. import sentences
from ..consent import Consent
from ..domain.belief import Belief
from ..domain.event import Event, LineKey
from ..domain.message import Context, Hit, Message, Section
from ..domain.reading import NARROWED, ReadFilter
from ..domain.turn import Memo, Person, Pin
from ..errors import UnavailableError
from ..ports import Clock, Embedder, Nearest, Reranker, Vector, is_hashing
from ..settings import Decay, Settings
from ..store.database.database import Snapshot, at_once
from ..store.ledger import Ledger
from ..store.search.lines import FoundLine, FoundLines, LineSearch
from ..tasks import AWAY
from ..text.statements import asks_for_number
from ..text.terms import token_count
from .beliefs_and_profiles import BeliefSearch, ProfileReader, TurnProfiles
from .query import MOST_PEOPLE, NO_PLACES, CurrentNames, KnownPlaces, Query, with_names
from .ranking import (
    LEAST,
    MAX_CANDIDATES,
    MAX_RESULTS,
    Candidate,
    LineCandidate,
    Scored,
    above,
    collapsed,
    diversified,
    followed,
    fused,
    judged,
    matched,
    same_text,
    terms_of,
    weighed,
    widened,
)
from .render import (
    Kind,
    Part,
    belief_lines,
    block,
    event_lines,
    fitted,
    memo_lines,
    named_lines,
    pin_lines,
    profile_lines,
    quotation_lines,
    with_ids_once,
)

DEGRADED = ("embedding", "vectors", "lexical", "rerank", "profiles", "ledger", "disabled")
RERANKED_FROM = 2  # least ratio of candidates to hits for reranking: below it there is nothing to choose (seed 001)
NEAR = 0.5  # similarity of the best of hits without a common word: 0.76 or more for 347 questions of two sets (MiniLM),
# 0.2 to 0.65 (LoCoMo) and 0.3 to 0.79 (QMSum, nine in ten below 0.59) for what was never spoken of
FEW = 3  # hits: an identity query ("who is ...") with fewer also gets the newest events of that person
ASKED_ABOUT = 3  # people that an identity query is about at most
CHAIN = 3  # times that a statement may have been replaced by a newer one
MOST_NAMED = 2  # people named by the question who are shown
SPARE_LINES = 8  # more lines of the log than are shown, in place of those that shown events were made of
FOLLOWED = 3  # best lines of the log that are shown with the lines after them
ASKING = timedelta(minutes=2)  # lines this recent may be the query itself
LINE = 0.5  # factor of a log line's score beside events, which carry more information
NEWEST_LAST = (sentences.context.TITLE_PINS, sentences.context.TITLE_MEMOS)  # cut from the oldest on
TRACED = 0.8  # factor of an event's score that is found through a line that it was made of


class LineReach(NamedTuple):
    """How many lines that share words are scored, how many around each, and how many more are read than wanted."""

    candidates: int
    around: int
    spare: int


# measured: 16 give 47.6 % of the evidence in six lines, 120 give 48.3 % at seven times the cost
OF_CONTEXT, OF_SEARCH = LineReach(16, 2, 8), LineReach(120, 4, 24)


@dataclass
class Sources:
    """What an answer rests on; ``consent`` checks every item and redacts every line.

    ``wide`` is asked where exact search has too many vectors, ``reranker`` decides relevance.
    """

    ledger: Ledger
    embedder: Embedder
    clock: Clock
    consent: Consent
    names: CurrentNames
    profiles: ProfileReader | None = None
    beliefs: BeliefSearch | None = None
    wide: Nearest | None = None
    reranker: Reranker | None = None


@dataclass(eq=False)
class Question:
    """A question within a read filter, with what was found for it so far, which is shown as it is when time is over.

    ``embedding`` is the vector of the query, if it was begun. A question that ``explains`` keeps all candidates, also
    those below the floor. ``missing`` are the parts that were not read, with their names in ``degraded``. ``vector``,
    ``wide`` (if ``is_wide``) and ``scores`` (of the candidates ``asked``) are set by who awaits them.
    """

    parts: Sources
    read_filter: ReadFilter
    query: Query
    settings: Settings
    embedding: asyncio.Future[Vector] | None = None
    explains: bool = field(default=False, kw_only=True)
    connection: Snapshot = field(init=False)  # of the present step
    failure: UnavailableError | None = None  # of the ledger
    missing: dict[str, str] = field(default_factory=dict[str, str])
    hits: Sequence[Hit] = ()
    shown: Sequence[Event] = ()
    lines: FoundLines = field(default_factory=FoundLines)
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    line_candidates: list[LineCandidate] = field(default_factory=list[LineCandidate])  # if it explains
    wanted: int = 0  # candidates; 0: no events are searched
    vector: Vector | None = None
    is_wide: bool = False
    wide: Sequence[tuple[str, float]] = ()  # ids and cosines
    asked: Sequence[Candidate] = ()
    scores: Sequence[float] | None = None
    _decay: Decay | None = None
    _floor: float = 0.0  # least relevance of an event
    _limit: int = 0  # of the events
    _words: Sequence[Scored] | None = None
    _replaced: Collection[str] = ()
    _told: Collection[LineKey] = frozenset()  # lines that are shown by the caller, or as an event
    _pins: Sequence[Pin] = ()
    _memos: Sequence[Memo] = ()
    _people_here: KnownPlaces = field(default_factory=lambda: NO_PLACES)  # of the place, if none of them is missing
    _beliefs: Sequence[Belief] = ()
    _newer: Sequence[Event] = ()  # than these beliefs, replacing events on which they rest
    _profiles: TurnProfiles = field(default_factory=TurnProfiles)

    def __post_init__(self) -> None:
        """Ask now, in the scene of the read filter."""
        self._scene, self._now = self.read_filter.scene, self.parts.clock.now()

    @property
    def degraded(self) -> tuple[str, ...]:
        """The names of what was unavailable."""
        return tuple(word for word in DEGRADED if word in self.missing.values())

    @property
    def is_reranked(self) -> bool:
        """Whether a reranker decides relevance."""
        asked = self.settings.query
        is_choice = asked.rerank_candidate_multiplier >= RERANKED_FROM
        return bool(self.parts.reranker and asked.enable_rerank and is_choice)

    @property
    def waits(self) -> bool:
        """Whether something outside the process is needed before :meth:`find`, or after it."""
        return bool(self.wanted and (self.vector is None or self.is_wide or self.is_reranked))

    def begin_search(self, top_k: int) -> None:
        """Read what a search of the read filter's kinds needs before the vector; lines only for the kind "message"."""
        kinds = self.read_filter.kinds
        events = tuple(kind for kind in kinds if kind != "message") if set(kinds) != {"message"} else None
        self._decay = self.settings.query.tool_decay
        self._name()
        if "message" in kinds:
            with self._part("lines"):
                most = min(max(top_k if events is None else 2 * top_k, 0), MAX_RESULTS)
                reach = OF_SEARCH._replace(candidates=max(most, OF_SEARCH.candidates))
                found = self._found_lines(replace(self.read_filter, kinds=()), most, self._decay, reach).lines
                if found:
                    self.parts.ledger.corpora.surround(self.connection, found, self.read_filter)
                self.hits = [*map(_hit, found)]
        if events is not None:
            self.read_filter = replace(self.read_filter, kinds=events)
            self._find_words(top_k)

    def finish_search(self, top_k: int) -> None:
        """Join the events and the lines that were found.

        If both were searched, the scores of lines are lowered, and a line from which an event was made is replaced by
        that event, whose score is then at least :data:`TRACED` times that of the line.
        """
        said = self.hits
        if set(self.read_filter.kinds) != {"message"}:
            self.hits = self._ranked()
            if said:  # lines from which a found event was made are left out
                hits = self._traced(self.hits, said)
                told = {key for hit in hits for key in hit.event.sources}
                left = (replace(hit, score=hit.score * LINE) for hit in said if told.isdisjoint(hit.event.sources))
                self.hits = sorted((*hits, *left), key=lambda hit: -hit.score)[:top_k]
        events = self.parts.names.present(self.connection, [hit.event for hit in self.hits])
        self.hits = [replace(hit, event=event) for hit, event in zip(self.hits, events, strict=True)]

    def begin_context(self, shown: Collection[str] | None, *, is_greeting: bool) -> None:
        """Read what a context shows and needs no vector; ``shown`` are ids of messages of the place not to quote.

        A greeting asks for nothing, unless it names somebody who is known in the place.
        """
        self._decay = self.settings.query.auto_decay
        self._name()
        if is_greeting and self.query.says_little:
            self.query = replace(self.query, terms=())
        with self._part("lines"):
            self._find_quotable(shown)
        if self._scene.has_place:
            self.missing["pins"] = "ledger"
            with self._part("pins"):
                self._pins = at_once(self.parts.ledger.notes.pins, self.connection, self._scene.scope)
            self.read_memos()
        self._floor = self.settings.query.min_relevance
        self._find_words(self.settings.query.auto_top_k)

    def finish_context(self) -> None:
        """Read what a context shows beside the events, and what rests on them."""
        hits = self._ranked()
        with self._part("replaced"):
            self._show(hits)
        self.missing |= {"quotations": "lexical"} if self.lines.lines else {}
        with self._part("quotations"):
            self._quote()
        with self._part("beliefs"):
            self._believe()
        with self._part("profiles"):
            reader, named = self.parts.profiles, [one.id for one in self._named()]
            self._profiles = reader.of_turn(self.connection, self._scene, named) if reader else self._profiles
        if not self._profiles.is_whole:
            self.missing["profiles"] = "profiles"

    def read_memos(self) -> None:
        """Read the recent memos."""
        memos, most = self.parts.ledger.notes.memos, self.settings.query.recent_end_summaries_inject_k
        with self._part("notes"):
            hidden = self.parts.consent.opted_out
            self._memos = at_once(memos, self.connection, self._scene.scope, most, without=hidden)

    @contextmanager
    def _part(self, name: str) -> Generator[None, None, None]:
        """Read one part, unless it is not wanted; if a store or model is unavailable, it stays missing."""
        try:
            with self.parts.ledger.database.failed_reads:
                yield
            self.missing.pop(name, None)
        except AWAY as failure:
            if isinstance(failure, UnavailableError):
                self.failure = failure

    def _name(self) -> None:
        """Find the people, and the time, that the query names; without a name book nobody is known."""
        with self._part("names"):
            names = self.parts.names.at(self.connection, self._scene)
            reference = self._now.astimezone(self.settings.zone)
            self.query = with_names(self.query, self._scene, reference, names)
            if names.are_known and len(names.people) < MOST_PEOPLE and self._scene.has_place:
                self._people_here = {self._scene.scope: names.people}

    # events

    def _find_words(self, top_k: int) -> None:
        """Find by words the candidates for at most ``top_k`` (and 200) events."""
        terms, corpora = self.query.terms, self.parts.ledger.corpora
        self._limit = min(max(top_k, 0), MAX_RESULTS)
        candidates = min(self._limit * self.settings.query.rerank_candidate_multiplier, MAX_CANDIDATES)
        self.wanted = candidates if terms else 0
        if not self.wanted:
            self.missing = {part: name for part, name in self.missing.items() if part not in ("words", "vectors")}
            return
        with self._part("words"):
            self._words = corpora.found_events(self.connection, terms, self.read_filter, candidates)
            for one, more in self._outnumbered(self._words):
                self._words = _with(self._words, corpora.found_events(self.connection, terms, one, more))
        if self.parts.wide is not None:
            with self._part("wide"):
                self.is_wide = corpora.is_wide(self.connection, self.read_filter)

    def _outnumbered(self, rows: Sequence[Scored]) -> list[tuple[ReadFilter, int]]:
        """Return filters for the time and people named, if the rows are mostly others, and how many to find of each."""
        if len(rows) < self.wanted:
            return []
        narrowed, more = self.read_filter.narrowed(self.query.windows, self.query.people), min(self.wanted, NARROWED)
        few = min(self._limit, more)
        return [(one, more) for one in narrowed if sum(one.admits(event) for event, _ in rows) < few]

    def find(self) -> None:
        """Find events by meaning, join them to those found by words, and choose what a reranker is asked about."""
        dense = None
        if not self.wanted:
            return
        if self.vector is not None:
            with self._part("vectors"):
                dense = self._nearest(self.vector, self.read_filter, self.wanted, self.wide)
                for one, more in self._outnumbered(dense):
                    dense = _with(dense, self._nearest(self.vector, one, more))
        # candidates below the floor are kept for comparison only
        keeps_all = self.explains or self.is_reranked or self.query.asks_who
        self.candidates = self._joined(dense, self._words, 0.0 if keeps_all else self._floor)
        if self.is_reranked:
            best = weighed(above(self.candidates, 0.0), self.query.windows, self.query.people)
            self.asked = collapsed(best)[: self.wanted]

    def _nearest(
        self, vector: Vector, read_filter: ReadFilter, limit: int, wide: Sequence[tuple[str, float]] = ()
    ) -> list[Scored]:
        """Return the nearest events: those of the wide index, or by exact search."""
        if len(wide) >= limit:  # with fewer, rows may be hidden behind many equal ones
            ids = [event_id for event_id, _ in wide]
            events = {one.id: one for one in at_once(self.parts.ledger.events.fetch, self.connection, ids)}
            near = [(events[event_id], cosine) for event_id, cosine in wide if event_id in events]
        else:
            near = self.parts.ledger.corpora.found_nearest(self.connection, vector, read_filter, limit)
        similarity = self.parts.embedder.calibration.similarity
        return [(event, similarity(cosine)) for event, cosine in near]

    def _joined(self, dense: Sequence[Scored] | None, words: Sequence[Scored] | None, least: float) -> list[Candidate]:
        """Fuse the two searches; every row is checked against the read filter, whichever store returned it."""
        terms = self.query.terms
        lexical = None if words is None else matched(terms, words)
        shares_words = bool(lexical) or not all(terms_of(*event.wording).isdisjoint(terms) for event, _ in dense or ())
        if dense and not (self.query.people or shares_words):
            is_of_characters = is_hashing(self.parts.embedder)  # near where no word is common, too
            dense = [] if is_of_characters or max(similarity for _, similarity in dense) < NEAR else dense
        found = fused(dense, lexical, self.settings.query.lexical_weight, least)
        return [one for one in found if self.read_filter.admits(one.event)]

    def _ranked(self) -> list[Hit]:
        """Return the best events that are relevant enough; those made of lines that will be quoted rank higher.

        A reranker's scores decide alone; without them, all candidates stay as they were. An identity query ("who is
        ...") that finds little also returns the newest events of the people it asks about.
        """
        if not self.wanted:
            return []
        query, read_filter, asked = self.query, self.read_filter, self.settings.query
        hits: Sequence[Candidate] = self.candidates
        if self.asked:
            found = None if self.scores is None else judged(self.asked, self.scores)
            if found is None:
                self.missing["rerank"] = "rerank"
            for one in hits:
                one.cut = None if found is None or one in self.asked else one.cut or "judged"
            hits = hits if found is None else found
        enough = max(self._floor, asked.min_relevance, LEAST)
        named = [read_filter.user_id] if read_filter.user_id else sorted(query.people)[:ASKED_ABOUT]
        if query.asks_who and named and sum(one.relevance >= enough for one in hits) < min(FEW, self._limit):
            self.missing["newest"] = "ledger"
            with self._part("newest"):
                filters = [replace(read_filter, user_id=person) for person in named]
                recent = self.parts.ledger.events.recent
                read = [event for one in filters for event in at_once(recent, self.connection, one, self.wanted)]
                newest = sorted(filter(read_filter.admits, read), key=lambda event: event.happened_at, reverse=True)
                hits = widened(hits, newest, enough)
                self.candidates += (one for one in hits if one not in self.candidates)
        ranked = weighed(
            above(hits, self._floor), query.windows, query.people, self._decay, self._now, self.lines.scores
        )
        return [one.hit for one in diversified(collapsed(ranked), asked.diversity, self._limit)]

    def _show(self, hits: Sequence[Hit]) -> None:
        """Put the events that replace others before these, and present names into all."""
        found = self.shown = [hit.event for hit in hits]
        newer = self._replacing([event.id for event in found])
        every = self.parts.names.present(self.connection, [*found, *newer], self._people_here)
        shown, replacing = every[: len(found)], every[len(found) :]
        self.shown, self._replaced = followed(shown, replacing, self.settings.query.auto_top_k)

    def _replacing(self, asked: Sequence[str]) -> list[Event]:
        """Return the events that replace those of the ids, and those that replace these."""
        book, newer = self.parts.ledger.events, dict[str, Event]()
        for _ in range(CHAIN):
            read = at_once(book.replacing, self.connection, asked, self.read_filter) if asked else []
            asked = [one.id for one in read if one.id not in newer]
            newer |= {one.id: one for one in read}
        return list(newer.values())

    def _traced(self, known: Sequence[Hit], said: Sequence[Hit]) -> list[Hit]:
        """Add the events made from the lines ``said``; each scores at least :data:`TRACED` times its best line."""
        lines, made = {key: hit for hit in said for key in hit.event.sources}, list[Event]()
        with self._part("sources"):
            made = at_once(self.parts.ledger.events.made_of, self.connection, lines.keys(), self.read_filter)
        found = {hit.event.id: hit for hit in known}
        for event in made:
            if self.read_filter.admits(event) and (of := [lines[key] for key in event.sources if key in lines]):
                best, hit = max(of, key=lambda hit: hit.score), found.get(event.id, Hit(event, 0.0))
                score, relevance = max(hit.score, TRACED * best.score), max(hit.relevance, TRACED * best.relevance)
                found[event.id] = replace(hit, score=score, relevance=relevance)
        return list(found.values())

    # lines

    def _found_lines(self, read_filter: ReadFilter, limit: int, decay: Decay | None, reach: LineReach) -> FoundLines:
        """Return at most ``limit`` lines, none that repeats another."""
        query = self.query
        search = LineSearch(
            query.terms,
            read_filter,
            limit + reach.spare if limit else 0,
            self._now,
            reach.candidates,
            reach.around,
            query.asides,
            query.windows,
            query.people,
            asks_for_number(query.said),
            decay,
            self.explains,
        )
        found = self.parts.ledger.corpora.found_lines(self.connection, search)
        distinct: dict[object, FoundLine] = {}
        for one in found.lines:
            distinct.setdefault((same_text(one.line.text), one.line.sender_id), one)
        return replace(found, lines=tuple(distinct.values())[:limit])

    def _find_quotable(self, ids: Collection[str] | None) -> None:
        """Find lines that answer the question and are not shown by the caller: more than will be quoted.

        Sources of shown events are dropped when these are known.
        """
        asked, scene = self.settings.query, self._scene
        wanted = asked.auto_messages_k + SPARE_LINES if asked.auto_messages_k else 0
        limit = wanted + len(ids or ()) if wanted else 0
        found = self._found_lines(self.read_filter, limit, asked.auto_decay, OF_CONTEXT)
        if ids is None:  # lines that are the question itself
            new = [one.line for one in found.lines if scene.user_id and one.line.sender_id == scene.user_id]
            since = self._now - ASKING
            ids = [one.id for one in new if one.scene.scope == scene.scope and one.sent_at >= since]
            ids = [one.id for one in new if one.id in ids and one.text.strip() == self.query.said]
        self._told = {(scene.scope, message_id) for message_id in ids} if scene.has_place else set[LineKey]()
        chosen: list[FoundLine] = []
        for one in found.lines:
            is_told = one.line.key in self._told
            cut = "relevance" if one.relevance < asked.min_relevance else "recent" if is_told else None
            cut = "limit" if cut is None and len(chosen) == wanted else cut
            if cut is None:
                chosen.append(one)
            if self.explains:
                told = one.line.as_event(), one.parts, one.relevance, one.factors, one.score
                self.line_candidates.append(LineCandidate(*told, cut=cut))
        self.lines = replace(found, lines=tuple(chosen))

    def _quote(self) -> None:
        """Choose the best lines from which no shown event was made; the best of them get the lines that follow them.

        A line is shown once, and none that the caller shows.
        """
        callers = self._told
        self._told = {*callers, *(key for event in self.shown for key in event.sources)}
        most = self.settings.query.auto_messages_k
        chosen = [one for one in self.lines.lines if one.line.key not in self._told][:most]
        told = {*self._told, *(one.line.key for one in chosen)}
        self.lines = replace(self.lines, lines=tuple(chosen))
        if chosen:
            self.parts.ledger.corpora.surround(self.connection, chosen, self.read_filter, FOLLOWED)
        for one in chosen:
            after = list[Message]()
            for line in one.after:
                if (key := line.key) in callers:
                    break
                if key not in told:
                    after.append(line)
                    told.add(key)
            one.after = tuple(after)

    def _quotations(self) -> list[FoundLine]:
        """Return the lines to quote, checked again."""
        admits = self.parts.consent.present_filter(self._scene).admits_line
        admitted = [one for one in self.lines.lines if all(admits(line) for line in (one.line, one.replied) if line)]
        left = admitted[: self.settings.query.auto_messages_k]
        ranks = {one.line.key: rank for rank, one in enumerate(left, 1)}
        for at, one in enumerate(self.line_candidates):
            (key,) = one.line.sources
            dropped = "shown_as_event" if key in self._told else "limit"
            rank = ranks.get(key, 0)
            self.line_candidates[at] = replace(one, rank=rank, cut=one.cut or (None if rank else dropped))
        for one in left:
            one.after = tuple(filter(admits, one.after))
        return left

    # beliefs, people, rendering

    def _believe(self) -> None:
        beliefs = self.parts.beliefs
        if beliefs is None or not (self._scene.group_id and self.query.terms):
            return
        scope = self._scene.scope

        def worded(belief: Belief) -> Belief | None:
            return self.parts.consent.belief(scope, belief)

        found = beliefs.of_turn(self.connection, scope, self.query.said, self.vector, worded)
        ids = [event_id for belief in found for event_id in belief.event_ids]
        newer = [event for event in self._replacing(ids) if event.scope == scope]
        self._beliefs = self.parts.names.present(self.connection, found, self._people_here)
        self._newer = self.parts.names.present(self.connection, newer, self._people_here)

    def _named(self) -> list[Person]:
        """Return the people known in the group whom the query names, except the asker and who opted out."""
        people, without = self.query.names.people, {self._scene.user_id, *self.parts.consent.opted_out}
        if self._scene.kind != "group":
            return []
        return [people[one] for one in sorted(self.query.people) if one in people and one not in without][:MOST_NAMED]

    def rendered(self, waiting: Sequence[Memo], budget: int | None) -> Context:
        """Render what was found, checked again, with the memos that wait in the queue."""
        scene, consent, settings, titles = self._scene, self.parts.consent, self.settings, sentences.context
        hidden, named, profiles = consent.opted_out, self._named(), self._profiles
        people = self.query.names.people
        memos = newest((*self._memos, *waiting), settings.query.recent_end_summaries_inject_k)
        pins = [one for one in self._pins if one.owner_id in ("", scene.user_id)]  # an operator may see more than that
        of_named = [
            named_lines(one, consent.profile(scene, profiles.named.get(one.id)), is_admin=one.id in profiles.admins)
            for one in named
        ]
        person, group = (consent.profile(scene, one) for one in (profiles.person, profiles.group))
        if group is not None:  # what its shown beliefs say is not said twice
            told = {event_id for one in self._beliefs for event_id in one.event_ids}
            group = group.without_events(told, wholly=True)
        asker = profile_lines(person, scene.user_name, is_admin=scene.is_admin) if person else ()
        admitted = [*filter(consent.present_filter(scene).admits, self.shown)]
        own_pins = [one for one in pins if one.owner_id not in hidden and consent.admits(scene, one)]
        visible_memos = [memo for memo in memos if consent.admits(scene, memo)]
        newer, zone = filter(consent.present_filter(scene).admits, self._newer), settings.zone
        shown: list[tuple[Kind, str, tuple[str, ...]]] = [
            ("rest", titles.TITLE_PINS, pin_lines(own_pins)),
            ("profiles", titles.TITLE_PERSON, (*chain(*of_named), *asker)),
            ("profiles", titles.TITLE_GROUP, profile_lines(group, scene.group_name) if group else ()),
            ("rest", titles.TITLE_BELIEFS, belief_lines(self._beliefs, zone, newer, people)),
            ("events", titles.TITLE_EVENTS, event_lines(admitted, zone, self._replaced)),
            ("events", titles.TITLE_QUOTATIONS, quotation_lines(self._quotations(), people, zone)),
            ("memos", titles.TITLE_MEMOS, memo_lines(visible_memos, zone)),
        ]
        parts = [
            Part(
                kind,
                Section(title, tuple(map(consent.hidden, lines)) if hidden else lines),
                title in NEWEST_LAST,
            )
            for kind, title, lines in shown
        ]
        sections = fitted(parts, settings.query.context_token_budget if budget is None else budget)
        text = block(with_ids_once(sections, self.query.names) if self.query.names.are_known else sections)
        return Context(text, sections, token_count(text), self.degraded)


def newest(memos: Iterable[Memo], limit: int) -> list[Memo]:
    """Return the ``limit`` newest memos without duplicates, newest last."""
    once = {memo.id: memo for memo in memos}
    return sorted(once.values(), key=lambda memo: memo.written_at)[-limit:] if limit > 0 else []


def _with(rows: Sequence[Scored], more: Sequence[Scored]) -> list[Scored]:
    """Append the rows that are not in the list yet."""
    known = {event.id for event, _ in rows}
    return [*rows, *(row for row in more if row[0].id not in known)]


def _hit(found: FoundLine) -> Hit:
    line, relevance = found.line, found.relevance
    around = *found.before, *found.after
    return Hit(line.as_event(), found.score, 0.0, relevance, relevance, around, line.reply_to or "")
