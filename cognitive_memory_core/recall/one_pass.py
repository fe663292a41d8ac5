"""One pass of a question over a snapshot of the ledger, on a reading thread, from top to bottom.

:func:`read_context` reads what a context shows, :func:`read_hits` what a search finds; both fill an :class:`Answer`,
part by part. What is outside the process (the vector, a wide vector index, a reranker's scores) comes with the
question: an answer says what it wants of these, and :class:`Recall` asks, and passes again.
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
    judged,
    terms_of,
    weighed,
    widened,
)

DEGRADED = ("embedding", "vectors", "lexical", "rerank", "profiles", "ledger", "disabled")
RERANKED_FROM = 2  # least ratio of candidates to hits for reranking: below it there is nothing to choose (seed 001)
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
class Question:
    """A question within a read filter, and what was said to it outside the process.

    A pass reads the ``names`` of the place, and adds to the ``query`` whom and what time it names. ``wide_rows`` are
    the ids and cosines of a wide vector index, ``scores`` a reranker's by event id; None if not asked.
    A question that ``explains`` also keeps the parts of the scores of lines.
    """

    sources: Sources
    read_filter: ReadFilter
    query: Query
    settings: Settings
    now: datetime
    explains: bool = False
    names: Names = NOBODY
    vector: Vector | None = None
    wide_rows: Sequence[tuple[str, float]] | None = None
    scores: Mapping[str, float] | None = None

    @property
    def is_reranked(self) -> bool:
        """Whether a reranker decides relevance."""
        settings = self.settings.query
        is_choice = settings.rerank_candidate_multiplier >= RERANKED_FROM
        return bool(self.sources.reranker and settings.enable_rerank and is_choice)

    @property
    def named(self) -> list[Person]:
        """The people known in the group whom the query names, except the asker and who opted out."""
        people, without = self.names.people, {self.read_filter.scene.user_id, *self.sources.consent.opted_out}
        if self.read_filter.scene.kind != "group":
            return []
        found = (people[one] for one in sorted(self.query.people) if one in people and one not in without)
        return [*found][:MOST_NAMED]


@dataclass
class Answer:
    """What a pass has read so far; when time is over it is shown as it is.

    ``missing`` are the parts that are not read, with their names in ``degraded``; ``failure`` is the ledger's.
    ``to_rerank`` are the candidates that a reranker should judge, ``wide_wanted`` is the number of rows wanted of a
    wide index.
    """

    question: Question
    missing: dict[str, str] = field(default_factory=dict[str, str])
    failure: UnavailableError | None = None
    wide_wanted: int = 0
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    to_rerank: Sequence[Candidate] = ()
    hits: Sequence[Hit] = ()
    reading: str = ""  # the part that is read now

    @property
    def degraded(self) -> tuple[str, ...]:
        """The names of what was unavailable."""
        return tuple(word for word in DEGRADED if word in self.missing.values())

    def part(self, name: str, degraded: str = "") -> Answer:
        """Read one part in a ``with`` block; if a store or model is unavailable it stays missing, and the pass goes on.

        The answer itself is what is entered: a question does so a dozen times.
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
            self.question.sources.ledger.database.failed_reads.__exit__(kind, failure, trace)
        except UnavailableError as unavailable:
            failure = unavailable
        if isinstance(failure, UnavailableError):
            self.failure = failure
        return isinstance(failure, AWAY)


@dataclass
class ContextAnswer(Answer):
    """What a context shows, in the order in which it is read.

    ``shown`` are ids of messages of the place that the caller shows (None: the question itself), ``people`` those of
    the places whose names are shown, by id.
    """

    shown: Collection[str] | None = None
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
    def event_ids(self) -> list[str]:
        """The ids of the events that are shown."""
        return [event.id for event in self.events]

    def is_shown(self, line: Message) -> bool:
        """Return whether the caller shows a line of the log."""
        scene, query = self.question.read_filter.scene, self.question.query
        if not scene.has_place or line.scene.scope != scene.scope:
            return False
        if self.shown is not None:
            return line.id in self.shown
        is_new = line.sender_id == scene.user_id != "" and line.sent_at >= self.question.now - ASKING
        return is_new and line.text.strip() == query.said


def read_context(answer: ContextAnswer, on: Snapshot) -> None:
    """Read what a context shows."""
    question = _named(answer, on)
    sources, scene, settings = question.sources, question.read_filter.scene, question.settings.query
    of_lines: Mapping[int, float] = {}
    unread: Iterator[FoundLine] = iter(())
    with answer.part("lines"):
        if most := settings.auto_messages_k:
            most += SPARE_LINES + len(answer.shown or ())
            decay, explains = settings.auto_decay, question.explains
            search = LineSearch(question.query, question.read_filter, most, question.now, OF_CONTEXT, decay, explains)
            found, of_lines = sources.ledger.corpora.found_lines(on, search)
            unread, answer.lines = iter(found), ()
            _choose_quotes(answer, unread)  # without events yet: shown like this if the time ends before they are read
    if scene.has_place:
        with answer.part("pins", "ledger"):
            answer.pins = at_once(sources.ledger.notes.pins, on, scene.scope)
        read_memos(answer, on)
    best = best_events(answer, on, settings.auto_top_k, settings.auto_decay, settings.min_relevance, of_lines)
    answer.events = [one.event for one in best]
    with answer.part("replaced"):
        newer = _replacing(question, on, answer.event_ids)
        answer.events, answer.replaced = followed(answer.events, newer, settings.auto_top_k)
    with answer.part("quotations", "lexical" if answer.quotes else ""):
        told = {key for event in answer.events for key in event.sources}
        _choose_quotes(answer, unread, told)
        if answer.quotes:
            _surround(answer, on, told)
    with answer.part("beliefs"):
        if sources.beliefs and scene.group_id and question.query.terms:
            said = question.query.said
            answer.beliefs = sources.beliefs.of_turn(on, scene.scope, said, question.vector, sources.consent.belief)
            newer = _replacing(question, on, [source for belief in answer.beliefs for source in belief.event_ids])
            answer.newer = [event for event in newer if event.scope == scene.scope]
            of_beliefs = [line_id for belief in answer.beliefs for line_id in belief.message_ids]
            answer.basis = at_once(sources.ledger.log.find, on, scene.scope, of_beliefs) if of_beliefs else ()
            gone = [
                one for belief in answer.beliefs if not belief.quoting(answer.basis).quotes for one in belief.event_ids
            ]
            answer.told = at_once(sources.ledger.events.fetch, on, gone) if gone else ()
    with answer.part("people"):
        shown_items = (*answer.events, *answer.beliefs, *answer.newer)
        answer.people = sources.names.people(on, shown_items, question.names.as_known(scene))
    with answer.part("profiles"):
        if sources.profiles:
            answer.profiles = sources.profiles.of_turn(on, scene, [one.id for one in question.named])
            told = answer.profiles.event_ids
            answer.facts = at_once(sources.ledger.events.fetch, on, [*told]) if told else ()
    if not answer.profiles.is_whole:
        answer.missing["profiles"] = "profiles"


def read_memos(answer: ContextAnswer, on: Snapshot) -> None:
    """Read the recent memos."""
    sources, most = answer.question.sources, answer.question.settings.query.recent_end_summaries_inject_k
    with answer.part("notes"):
        scope, hidden = answer.question.read_filter.scene.scope, sources.consent.opted_out
        answer.memos = at_once(sources.ledger.notes.memos, on, scope, most, without=hidden)


def read_hits(answer: Answer, on: Snapshot, top_k: int) -> None:
    """Read at most ``top_k`` hits of the read filter's kinds; lines only for the kind "message".

    If both events and lines are searched, the scores of lines are lowered, and a line from which an event was made is
    replaced by that event, whose score is then at least :data:`TRACED` times that of the line.

    There are none if nobody is named, no event is near in meaning, and of most words asked for not a character is in a
    hit or in a line of the place: nobody spoke of that, and the hits share only common words.
    """
    question = _named(answer, on)
    read_filter, decay, said = question.read_filter, question.settings.query.tool_decay, list[Hit]()
    is_alone = set(read_filter.kinds) == {"message"}
    if "message" in read_filter.kinds:
        with answer.part("lines"):
            most = min(top_k if is_alone else 2 * top_k, MAX_RESULTS)
            corpora, reach = question.sources.ledger.corpora, OF_SEARCH
            reach = reach._replace(candidates=max(most, reach.candidates))
            search = LineSearch(question.query, replace(read_filter, kinds=()), most, question.now, reach, decay)
            found = [*corpora.found_lines(on, search).lines]
            if found:
                corpora.surround(on, found, read_filter)
            answer.hits = said = [*map(hit_of, found)]
    if not is_alone:
        kinds = tuple(kind for kind in read_filter.kinds if kind != "message")
        question = answer.question = replace(question, read_filter=replace(read_filter, kinds=kinds))
        answer.hits = [one.hit for one in best_events(answer, on, top_k, decay)]
        if said:
            hits = _traced(answer, on, answer.hits, said)
            told = {key for hit in hits for key in hit.event.sources}
            left = (replace(hit, score=hit.score * LINE) for hit in said if told.isdisjoint(hit.event.sources))
            answer.hits = sorted((*hits, *left), key=lambda hit: -hit.score)[:top_k]
    if answer.hits and _is_unheard_of(answer, on):
        answer.hits = ()
    events = question.sources.names.present(on, [hit.event for hit in answer.hits])
    answer.hits = [replace(hit, event=event) for hit, event in zip(answer.hits, events, strict=True)]


def _is_unheard_of(answer: Answer, on: Snapshot) -> bool:
    """Return whether nobody is named, nothing that was found is near, and most of the words were never said."""
    question, query, is_unheard_of = answer.question, answer.question.query, False
    nearest = max(hit.similarity for hit in answer.hits)
    is_named = any(name and name in query.said for name in (hit.event.sender_name for hit in answer.hits))
    if query.people or is_named or (nearest >= NEAR and not is_hashing(question.sources.embedder)):
        return False
    heard = terms_of(*(text for hit in answer.hits for text in hit.event.wording))
    if query.known_share(heard) < KNOWN:
        with answer.part("heard"):  # a log that cannot be read hides no hit
            heard |= question.sources.ledger.corpora.heard(on, query.terms, question.read_filter)
            is_unheard_of = query.known_share(heard) < KNOWN
    return is_unheard_of


def _named(answer: Answer, on: Snapshot) -> Question:
    """Find the people, and the time, that the query names; without a name book nobody is known."""
    question = answer.question
    with answer.part("names"):
        scene, reference = question.read_filter.scene, question.now.astimezone(question.settings.zone)
        question.names = question.sources.names.at(on, scene)
        question.query = with_names(question.query, scene, reference, question.names)
    return question


# events


def best_events(
    answer: Answer,
    on: Snapshot,
    top_k: int,
    decay: Decay | None,
    floor: float = 0.0,
    lines: Mapping[int, float] | None = None,
) -> list[Candidate]:
    """Return the best events, by words and by meaning, at most ``top_k`` (and 200), that are relevant enough.

    Those made of lines that will be quoted rank higher (``lines`` has the scores of lines). A reranker's scores decide
    alone. An identity query ("who is ...") that finds little also returns the newest events of whom it asks about.
    """
    question = answer.question
    query, read_filter, settings = question.query, question.read_filter, question.settings.query
    limit = min(max(top_k, 0), MAX_RESULTS)
    wanted = min(limit * settings.rerank_candidate_multiplier, MAX_CANDIDATES)
    if not (limit and query.terms):
        return []
    answer.candidates = hits = _found_events(answer, on, limit, wanted)
    if question.is_reranked:
        answer.to_rerank = collapsed(weighed(hits, query.windows, query.people))[:wanted]
        hits = judged(answer.to_rerank, hits, question.scores)
    enough = max(floor, settings.min_relevance, LEAST)
    about = [read_filter.user_id] if read_filter.user_id else sorted(query.people)[:ASKED_ABOUT]
    if query.asks_who and about and sum(one.relevance >= enough for one in hits) < min(FEW, limit):
        with answer.part("newest", "ledger"):
            book, filters = question.sources.ledger.events, [replace(read_filter, user_id=person) for person in about]
            read = [event for one in filters for event in at_once(book.recent, on, one, wanted)]
            newest = sorted(filter(read_filter.admits, read), key=lambda event: event.happened_at, reverse=True)
            hits = widened(hits, newest, enough)
            answer.candidates += (one for one in hits if one not in answer.candidates)
    ranked = weighed(hits, query.windows, query.people, decay, question.now, lines or {}, floor)
    return diversified(collapsed(ranked), settings.diversity, limit)


def _found_events(answer: Answer, on: Snapshot, limit: int, wanted: int) -> list[Candidate]:
    """Return ``wanted`` events by words, and as many by meaning, or the number of rows wanted of a wide index."""
    question, words, dense = answer.question, None, None
    query, sources, vector = question.query, question.sources, question.vector
    corpora = sources.ledger.corpora
    answer.wide_wanted = 0
    with answer.part("words"):
        words = _among_the_named(question, limit, wanted, partial(corpora.found_events, on, query.terms))
    if sources.wide_index and question.wide_rows is None and vector is not None:
        with answer.part("wide"):
            answer.wide_wanted = wanted if corpora.is_wide(on, question.read_filter) else 0
    if vector is not None and not answer.wide_wanted:
        with answer.part("vectors"):
            dense = _among_the_named(question, limit, wanted, partial(_nearest, question, on, vector))
    if dense and not (query.people or words):  # what only a model finds near counts if it is near enough
        is_of_characters = is_hashing(sources.embedder)  # near where no word is common, too
        is_near = not is_of_characters and max(similarity for _, similarity in dense) >= NEAR
        shares_words = not all(terms_of(*event.wording).isdisjoint(query.terms) for event, _ in dense)
        dense = dense if is_near or shares_words else []
    return fused(dense, words, question.settings.query.lexical_weight)


def _among_the_named(
    question: Question, limit: int, wanted: int, search: Callable[[ReadFilter, int], Sequence[Scored]]
) -> list[Scored]:
    """Search, and once more for the time, and for each person, that the query names and most rows are not of."""
    rows = [*search(question.read_filter, wanted)]
    if len(rows) == wanted:
        most = min(wanted, NARROWED)
        narrowed = question.read_filter.narrowed(question.query.windows, question.query.people)
        few = [one for one in narrowed if sum(one.admits(event) for event, _ in rows) < min(limit, most)]
        for one in few:
            known = {event.id for event, _ in rows}
            rows += (row for row in search(one, most) if row[0].id not in known)
    return rows


def _nearest(question: Question, on: Snapshot, vector: Vector, read_filter: ReadFilter, limit: int) -> list[Scored]:
    """Return the nearest events: those of the wide index, or by exact search."""
    sources, rows = question.sources, question.wide_rows or ()
    near: list[tuple[Event, float]] = []
    if rows and read_filter is question.read_filter:
        found = at_once(sources.ledger.events.fetch, on, [event_id for event_id, _ in rows])
        events = {one.id: one for one in found if read_filter.admits(one)}
        near = [(events[event_id], cosine) for event_id, cosine in rows if event_id in events]
    if len(near) < limit:  # rows may hide behind equal ones, or erased ones that the index still has
        near = sources.ledger.corpora.found_nearest(on, vector, read_filter, limit)
    similarity = sources.embedder.calibration.similarity
    return [(event, similarity(cosine)) for event, cosine in near]


def _replacing(question: Question, on: Snapshot, asked: Sequence[str]) -> list[Event]:
    """Return the events that replace those of the ids, and those that replace these."""
    book, newer = question.sources.ledger.events, dict[str, Event]()
    for _ in range(CHAIN):
        read = at_once(book.replacing, on, asked, question.read_filter) if asked else []
        asked = [one.id for one in read if one.id not in newer]
        newer |= {one.id: one for one in read}
    return list(newer.values())


def _traced(answer: Answer, on: Snapshot, known: Sequence[Hit], said: Sequence[Hit]) -> list[Hit]:
    """Add the events made from the lines ``said``; each scores at least :data:`TRACED` times its best line."""
    lines = {key: hit for hit in said for key in hit.event.sources}
    made, read_filter = list[Event](), answer.question.read_filter
    with answer.part("sources"):
        made = at_once(answer.question.sources.ledger.events.made_of, on, lines.keys(), read_filter)
    found = {hit.event.id: hit for hit in known}
    for event in made:
        if read_filter.admits(event) and (of := [lines[key] for key in event.sources if key in lines]):
            best, hit = max(of, key=lambda hit: hit.score), found.get(event.id, Hit(event, 0.0))
            score, relevance = max(hit.score, TRACED * best.score), max(hit.relevance, TRACED * best.relevance)
            found[event.id] = replace(hit, score=score, relevance=relevance)
    return list(found.values())


# lines of the log


def hit_of(found: FoundLine) -> Hit:
    """Return a line as a hit."""
    line, relevance, around = found.line, found.relevance, (*found.before, *found.after)
    return Hit(line.as_event(), found.score, 0.0, relevance, relevance, around, line.reply_to or "")


def _choose_quotes(answer: ContextAnswer, unread: Iterator[FoundLine], told: Collection[LineKey] = ()) -> None:
    """Choose the best lines that are relevant, and that neither the caller nor an event (``told``) shows.

    Lines are read as far as they are needed.
    """
    settings, read, quotes = answer.question.settings.query, list[FoundLine](), list[FoundLine]()
    for one in chain(answer.lines, unread):
        if one.relevance < settings.min_relevance:
            one.cut = "relevance"
        elif one.cut is None and answer.is_shown(one.line):
            one.cut = "recent"
        elif one.cut is None and one.line.key in told:
            one.cut = "shown_as_event"
        read.append(one)
        quotes += [one] if one.cut is None else []
        if len(quotes) == settings.auto_messages_k and not answer.question.explains:
            break
    answer.lines, answer.quotes = read, quotes[: settings.auto_messages_k]


def _surround(answer: ContextAnswer, on: Snapshot, told: set[LineKey]) -> None:
    """Read the lines that the quotes reply to, and those that follow the best of them; each line is shown once.

    None follows from the first on that is shown elsewhere or answers another line: it was not said to the quote.
    """
    told |= {one.line.key for one in answer.quotes}
    answer.question.sources.ledger.corpora.surround(on, answer.quotes, answer.question.read_filter, FOLLOWED)
    for one in answer.quotes:
        after, answered = dict[object, Message](), {None, "", one.line.id}
        for line in one.after:
            if line.key in told or line.reply_to not in answered or answer.is_shown(line):
                break
            after.setdefault((same_text(line.text), line.sender_id), line)  # none repeats another
            told.add(line.key)
            answered.add(line.id)
        one.after = tuple(after.values())
