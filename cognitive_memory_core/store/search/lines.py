"""Lines of the log as answers: scored by their own words and by those of the lines around them.

In a chat an answer seldom repeats the question: "who will do it" is answered by "me" two lines later. So a line
also gets, at a lower weight, the terms of its label (speaker and day), of its neighbours, of the line that it answers
or that answers it, and of its topic. In a private chat where one side alone speaks (a monologue), a line's own words
count as in BM25, and no line lends its terms to others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache
from math import prod
from zlib import crc32

from ...domain.event import LineKey
from ...domain.interval import Interval
from ...domain.message import Message, Passage
from ...domain.read_filter import NARROWED, ReadFilter
from ...domain.scope import Scope
from ...settings import Decay
from ...text.caches import cleared_on_erasure
from ...text.statements.questions import holds_number
from ...text.terms import SEARCHED, index_terms, indexed_text, telling_of
from ..database.rows import Row, micros, moment_of
from ..numpy_on_use import Array, Mask, Scores, np
from .rows import Rows, hashed, rarity_of

READ = 600  # characters of a line
SINGLE = 0.7  # weight of a single character beside that of a pair or word
ASIDE = 0.5  # of terms that stand beside the question only
LABEL, NEIGHBOUR, REPLY, TOPIC = 0.3, 0.2, 0.5, 0.15  # weights of terms that are not a line's own (1)
REACH = 4  # lines before and after a line that count as its neighbours; the weight halves with each line
HALF = 1.2  # count of a term that gives half of its greatest weight (BM25's k1)
LENGTH_SHARE = 0.75  # BM25's b, for the remarks of a monologue
SUBSTANCE, FULL_LENGTH = 0.3, 60  # gain of a long line over an empty one; terms from which a line counts as long
RECENT_US = 120 * 1_000_000  # lines this recent may be the question itself
ECHO = 0.6  # share of the question: a recent line that contains as much is the question itself
PAUSE = timedelta(minutes=30)  # ends a session
PAUSE_US = PAUSE // timedelta(microseconds=1)
TOPIC_LINES = 20  # lines of a session that count as one topic
OUTSIDE = 0.3  # factor of a line outside the time that the question names
PERSON = 0.15  # gain of a line by or to the people named; a larger one would let a wrong name hide the right answer
NUMBER = 0.4  # gain of a line with a number, if one is asked for; measured from 0.2 to 0.5 to be a plateau
DAY_US = 86_400 * 1_000_000.0
SCORED = 40  # lines whose scores are returned
PARTS = ("words", "label", "neighbours", "replies", "topic")


@dataclass(frozen=True)
class LineSearch:
    """A question to the log: at most ``limit`` lines that the read filter admits.

    ``asides`` are terms of little weight; ``windows`` and ``people`` are those that the question names. The
    ``candidates`` that share most words with the question are scored, with ``reach`` lines before and after each.
    """

    terms: Sequence[str]
    read_filter: ReadFilter
    limit: int
    now: datetime
    candidates: int
    reach: int
    asides: frozenset[str] = frozenset()
    windows: Sequence[Interval] = ()
    people: frozenset[str] = frozenset()
    asks_number: bool = False
    decay: Decay | None = None
    explains: bool = False


@dataclass
class FoundLine:
    """A line of the log that answers a question; its score is the ``relevance``, in [0, 1], times all ``factors``.

    The lines just ``before`` and ``after`` it, and the one to which it ``replied``, are read for those that are shown
    (:func:`surround`). The ``parts`` of the relevance are given only to a search that explains.
    """

    line: Message
    relevance: float
    factors: tuple[tuple[str, float], ...] = ()
    before: Passage = ()
    after: Passage = ()
    replied: Message | None = None
    parts: tuple[tuple[str, float], ...] = ()

    @property
    def score(self) -> float:
        """The score by which lines are ordered."""
        return self.relevance * prod(factor for _, factor in self.factors)

    @cached_property
    def key(self) -> LineKey:
        """The line's scope and id."""
        return self.line.key


@dataclass(frozen=True)
class FoundLines:
    """Lines of the log, best first, and the scores of these and of more lines by their :func:`line_key`."""

    lines: tuple[FoundLine, ...] = ()
    scores: Mapping[int, float] = field(default_factory=dict[int, float])


def line_key(place: str, message_id: str) -> int:
    """Return a 32-bit hash of a message's place (the key of its scope) and id."""
    return crc32(f"{place}\n{message_id}".encode("utf-8", "replace"))


ABOUT = [
    ("at_us", "i8"),
    ("place", "i4"),  # number of the scope
    ("passage", "i4"),
    ("private", "?"),
    ("numeric", "?"),  # whether the line holds a number
    ("person", "i4"),  # who said it, or to whom the bot said it
    ("speaker", "i4"),  # the same; -1: the bot
    ("id", "u4"),  # hash of place and message id
    ("answered", "u4"),  # that of the line which it answers, or 0
    ("label", "i4"),  # how many of a row's terms, the first ones, are of its label
]


class LineRows(Rows):
    """The lines of a place, or of a person's private chat and own lines in groups."""

    COLUMNS = (
        *("at_us", "scope", "request_type", "id", "reply_to"),
        *("is_bot", "user_id", "user_name", "sent_at", "text"),
    )

    def __init__(self) -> None:
        """Start without lines."""
        super().__init__()
        self.about = self.column(np.dtype(ABOUT))
        self.hidden = np.empty(0, np.int64)  # seqs of lines that nobody may read at present
        self._numbers: dict[str, int] = {}
        self._talk: tuple[frozenset[str], Talk] | None = None

    def load(self, rows: Sequence[Row], passage: int = 0) -> None:
        """Append lines: seq and :data:`COLUMNS`; lines of different passages are not neighbours of each other."""
        self._talk = None
        terms, about = list[tuple[int, ...]](), list[tuple[int, ...]]()
        for _, at_us, scope, kind, line, reply_to, is_bot, user, name, sent_at, text in rows:
            try:
                label = _label("" if is_bot else name, moment_of(sent_at).date())
                terms.append((*label, *{*map(hashed, index_terms(text[:READ]))}))
            except ValueError:  # the file is damaged; nobody can read the row
                label = ()
                terms.append(())
            place, person = (self._numbers.setdefault(one, len(self._numbers)) for one in (scope, user))
            ids = line_key(scope, line), line_key(scope, reply_to) if reply_to else 0
            who = person, -1 if is_bot else person
            about.append((at_us, place, passage, kind == "private", holds_number(text), *who, *ids, len(label)))
        self.add([row[0] for row in rows], terms)
        self.about.append(np.array(about, ABOUT))

    def remove(self, seqs: Collection[int]) -> Array:
        """Remove those of the lines that are here, and return their seqs."""
        self._talk = None
        return super().remove(seqs)

    def hide(self, seqs: Array) -> None:
        """Leave out lines that nobody may read at present."""
        if not np.array_equal(seqs, self.hidden):
            self.hidden, self._talk = seqs, None

    def talk(self, without: frozenset[str]) -> Talk:
        """Return the lines in order, without those of some people; kept until the lines change."""
        if self._talk is None or self._talk[0] != without:
            self._talk = without, Talk.of(self, without)
        return self._talk[1]

    def number_of(self, name: str) -> int:
        """Return the number of a person or scope; -2 for an unknown one."""
        return self._numbers.get(name, -2)

    def admitted(self, read_filter: ReadFilter) -> Mask:
        """Return which lines the narrowing parts of a read filter admit, its scene and ``without`` apart."""
        admitted = np.full(len(self), not read_filter.kinds or "message" in read_filter.kinds)
        if read_filter.user_id:
            admitted &= self.about.values["person"] == self.number_of(read_filter.user_id)
        if read_filter.group_id:
            scope = Scope(read_filter.scene.agent, "group", read_filter.group_id).key
            admitted &= self.about.values["place"] == self.number_of(scope)
        return admitted & self.said_in(read_filter.window) if read_filter.window is not None else admitted

    def said_in(self, window: Interval) -> Mask:
        """Return which lines were said in an interval."""
        at_us = self.about.values["at_us"]
        return (at_us >= micros(window.start)) & (at_us < micros(window.stop))


@dataclass(frozen=True)
class Talk:
    """The lines of a place in order of place and time: their rows, and numbers of session and topic."""

    rows: Array
    position: Array  # of each row; -1 for a row that is left out
    session: Array
    topic: Array

    @classmethod
    def of(cls, lines: LineRows, without: Collection[str]) -> Talk:
        """Order the lines that may be read."""
        stays = np.ones(len(lines), np.bool_)
        if without:
            stays &= ~np.isin(lines.about.values["person"], [lines.number_of(who) for who in without])
        if len(lines.hidden):
            stays &= ~np.isin(lines.seqs.values, lines.hidden)
        rows = np.flatnonzero(stays)
        about = lines.about.values[rows]
        order = np.lexsort((lines.seqs.values[rows], about["at_us"], about["place"]))
        rows, about = rows[order], about[order]
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (np.diff(about["place"]) != 0) | (np.diff(about["passage"]) != 0)
        begins[1:] |= np.diff(about["at_us"]) > PAUSE_US
        session = np.cumsum(begins)
        in_session = np.arange(len(rows)) - np.flatnonzero(begins)[session - 1]
        position = np.full(len(lines), -1)
        position[rows] = np.arange(len(rows))
        return cls(rows, position, session, np.cumsum(in_session % TOPIC_LINES == 0))


@dataclass(frozen=True)
class ScoredLines:
    """Lines, best first; ``scores`` are ``relevance`` times the ``factors``; ``parts`` only if they were asked for."""

    rows: Array
    scores: Scores
    relevance: Scores
    factors: Mapping[str, Scores]
    parts: Scores | None
    talk: Talk


def scored_lines(lines: LineRows, search: LineSearch, among: Array | None = None) -> ScoredLines:
    """Score the lines that share words with a question, or the rows ``among``, and the lines around each of these."""
    talk, read_filter = lines.talk(search.read_filter.without), search.read_filter
    names = {hashed(term): term for term in search.terms}
    terms, now_us = np.fromiter(names, np.uint32), micros(search.now)
    asides = np.array([ASIDE if term in search.asides else 1.0 for term in names.values()])
    telling = [telling_of(term) * (SINGLE if len(term) == 1 and not term.isascii() else 1.0) for term in names.values()]
    term, row, having = lines.postings.find(terms)
    rarity = rarity_of(having, len(lines))
    weight = rarity * telling * asides
    admitted = lines.admitted(read_filter) & (talk.position >= 0)
    best = among
    if best is None:
        best = _candidates(lines, search, np.bincount(row, weight[term], len(lines)) * admitted)
    if not len(best):  # no line has any of the terms
        nothing = np.zeros(0)
        return ScoredLines(best, nothing, nothing, {}, None, talk)
    near = np.unique(talk.position[best][:, np.newaxis] + np.arange(-search.reach, search.reach + 1))
    at = near[(near >= 0) & (near < len(talk.rows))]  # positions in the talk, in order
    window = talk.rows[at]
    about = lines.about.values[window]
    own, label, sizes = _words(lines, terms, window, about["label"])
    session, (_, topic) = talk.session[at], np.unique(talk.topic[at], return_inverse=True)
    alone = _monologues(about, topic)[topic]
    whole = np.sort(weight)[-SEARCHED:].sum() or 1.0
    is_echo = (about["at_us"] >= now_us - RECENT_US) & (own @ weight >= ECHO * whole)
    lends = own * ~(is_echo | alone)[:, np.newaxis]
    shared = np.zeros((topic.max(initial=-1) + 1, len(terms)))
    np.maximum.at(shared, topic, lends)
    parts = own, LABEL * label, _neighbours(lends, at, session), _replies(about, own * ~is_echo[:, np.newaxis])
    lengths = np.where(alone, LENGTH_SHARE * (sizes / max(sizes.mean() if len(sizes) else 0, 1.0) - 1.0), 0.0)
    half = HALF * (1.0 + lengths[:, np.newaxis] * own)
    weights = np.where(alone[:, np.newaxis], rarity * asides, weight)
    wholes = np.where(alone, np.sort(rarity * asides)[-SEARCHED:].sum() or 1.0, whole)
    substance = (1.0 + SUBSTANCE * np.minimum(np.log1p(sizes) / np.log(FULL_LENGTH), 1.0)) / (1.0 + SUBSTANCE)
    counts = (*parts, TOPIC * shared[topic] * ~alone[:, np.newaxis])
    counted = np.cumsum(counts, axis=0) if search.explains else np.sum(counts, axis=0)[np.newaxis]
    share = (weights * counted / (counted + half)).sum(axis=2) * (HALF + 1.0) / wholes
    steps = np.minimum(2.0 * share / (share + 1.0), 1.0) * np.where(alone, 1.0, substance)
    relevance = steps[-1]
    factors = _factors(lines, search, window, relevance)
    scores = relevance * np.prod([*factors.values()], axis=0)
    order = np.argsort(-scores, kind="stable")
    order = order[(relevance[order] > 0.0) & admitted[window[order]]]
    gains = np.diff(steps, axis=0, prepend=0.0)[:, order].T if search.explains else None
    ordered = {name: factor[order] for name, factor in factors.items()}
    return ScoredLines(window[order], scores[order], relevance[order], ordered, gains, talk)


def found_lines(
    search: LineSearch, rows: LineRows, scored: ScoredLines, read: Callable[[Sequence[int]], Mapping[int, Message]]
) -> FoundLines:
    """Return the best lines; ``read`` returns those of the rows that the read filter admits."""
    best_rows = scored.rows[: search.limit].tolist()
    lines, relevance = read(best_rows), scored.relevance.tolist()
    factors = zip(*(one[: search.limit].tolist() for one in scored.factors.values()), strict=True)
    found = tuple(
        FoundLine(
            line,
            relevance[at],
            tuple(zip(scored.factors, factors_of, strict=True)),
            parts=() if scored.parts is None else tuple(zip(PARTS, scored.parts[at].tolist(), strict=True)),
        )
        for at, (row, factors_of) in enumerate(zip(best_rows, factors, strict=False))
        if (line := lines.get(row))
    )
    keys = rows.about.values["id"][scored.rows[:SCORED]].tolist()
    return FoundLines(found, dict(zip(keys, scored.scores.tolist(), strict=False)))


def _candidates(lines: LineRows, search: LineSearch, scores: Array) -> Array:
    """Return the best rows; beside them the best of the time, and of each person, that the question names."""
    more, narrow = min(NARROWED, search.candidates), search.read_filter.narrowed(search.windows, search.people)
    found = [_best(scores * lines.admitted(one), more) for one in narrow]
    return np.unique(np.concatenate((_best(scores, search.candidates), *found)))


def _best(scores: Array, count: int) -> Array:
    rows = np.flatnonzero(scores)
    return rows if len(rows) <= count else rows[np.argpartition(-scores[rows], count)[:count]]


def _words(lines: LineRows, terms: Array, window: Array, labels: Array) -> tuple[Scores, Scores, Array]:
    """Return which of the terms each line says, and has in its label alone; and how many terms each line says."""
    flat, owners, within = lines.terms_of(window)
    order = np.argsort(terms)
    at = order[np.minimum(np.searchsorted(terms[order], flat), len(order) - 1)]
    hit = np.flatnonzero(terms[at] == flat)
    both = np.zeros((2, len(window), len(terms)))
    both[(within[hit] < labels[owners[hit]]).astype(int), owners[hit], at[hit]] = 1.0
    return both[0], both[1] * (both[0] == 0.0), np.bincount(owners, minlength=len(window)) - labels


def _monologues(about: Array, topic: Array) -> Mask:
    """Return for each topic whether one side alone speaks in it, in private."""
    speakers = about["speaker"]
    first = np.zeros(topic.max(initial=-1) + 1, speakers.dtype)
    first[topic] = speakers
    return np.bincount(topic, (speakers != first[topic]) | ~about["private"], len(first)) == 0


def _neighbours(lends: Scores, at: Array, session: Array) -> Scores:
    near = np.zeros_like(lends)
    for distance in range(1, REACH + 1):
        other = np.minimum(np.searchsorted(at, at + distance), len(at) - 1)
        one = np.flatnonzero((at[other] == at + distance) & (session[other] == session))
        other, share = other[one], NEIGHBOUR * 0.5 ** (distance - 1)
        near[other] += share * lends[one]
        near[one] += share * lends[other]
    return near


def _replies(about: Array, lends: Scores) -> Scores:
    given = np.zeros_like(lends)
    ids, answered = about["id"], about["answered"]
    order = np.argsort(ids)
    at = order[np.minimum(np.searchsorted(ids[order], answered), len(order) - 1)]
    replying = np.flatnonzero((ids[at] == answered) & (answered > 0))
    np.add.at(given, at[replying], REPLY * lends[replying])
    np.add.at(given, replying, REPLY * lends[at[replying]])
    return given


def _factors(lines: LineRows, search: LineSearch, window: Array, relevance: Scores) -> Mapping[str, Scores]:
    """Return what multiplies each line's relevance: the people, number and time asked for, and seed 001's decay."""
    one, about = np.ones(len(window)), lines.about.values[window]
    inside = np.any([lines.said_in(time)[window] for time in search.windows], axis=0) if search.windows else one
    named = np.isin(about["person"], [lines.number_of(who) for who in search.people])
    fresh = np.zeros(len(window))
    if decay := search.decay:
        age_us = np.maximum(micros(search.now) - about["at_us"], 0)
        is_near = relevance >= decay.floor
        fresh = np.where(is_near, decay.boost * 0.5 ** (age_us / DAY_US / decay.half_life_days), 0.0)
    return {
        "people": one + PERSON * named / max(len(search.people), 1),
        "numbers": one + NUMBER * about["numeric"] if search.asks_number else one,
        "time": np.where(inside, 1.0, OUTSIDE) if np.any(inside) else one,
        "age": one + fresh,
    }


@cleared_on_erasure
@lru_cache(maxsize=1024)  # the same people speak on the same days
def _label(speaker: str, day: date) -> Sequence[int]:
    return tuple({hashed(term) for term in index_terms(indexed_text(speaker, day, ""))})
