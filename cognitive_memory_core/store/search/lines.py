"""Lines of the log as answers: scored by their own words and by those of the lines around them.

In a chat an answer seldom repeats the question: "who will do it" is answered by "me" two lines later. So a line
also gets, at a lower weight, the terms of its label (speaker and day), of its neighbours, of the line that it answers
or that answers it, and of its topic. In a private chat where one side alone speaks (a monologue), a line's own words
count as in BM25, and a line lends its terms to its neighbours by half, to its topic not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from math import prod
from types import MappingProxyType
from typing import NamedTuple

from ...domain.answer import Passage
from ...domain.event import duplicate_key
from ...domain.instants import Interval
from ...domain.message import Message
from ...domain.reading import NARROWED, ReadFilter
from ...domain.scope import Scope
from ...settings.schema import Decay
from ...text.characters import cleared_on_erasure
from ...text.query import Query
from ...text.terms import SEARCHED
from ..database.rows import Row, micros
from ..database.words import HEAD_BYTES, LINE_HEAD, hashed
from ..numpy_on_use import Array, Mask, Scores, np
from .filters import NOT_HIDDEN
from .rows import WordRows, asked_terms, occurrences, rarity_of

SINGLE = 0.7  # weight of a single character beside that of a pair or word
ASIDE = 0.5  # of terms that stand beside the question only
LABEL, NEIGHBOUR, REPLY, TOPIC = 0.3, 0.2, 0.5, 0.15  # weights of terms that are not a line's own (1)
ALONE = 0.5  # share of its terms that a line lends its neighbours in a monologue (docs/benchmarks.md)
REACH = 4  # lines before and after a line that count as its neighbours; the weight halves with each line
HALF = 1.2  # count of a term that gives half of its greatest weight (BM25's k1)
LENGTH_SHARE = 0.75  # BM25's b, for the remarks of a monologue
SUBSTANCE, FULL_LENGTH = 0.3, 60  # gain of a long line over an empty one; terms from which a line counts as long
RECENT_US = 120 * 1_000_000  # lines this recent may be the question itself
ECHO = 0.6  # share of the question: a recent line that contains as much is the question itself
PAUSE = timedelta(minutes=30)  # ends a session
PAUSE_US = PAUSE // timedelta(microseconds=1)
SHOWN = 2  # lines before and after a line that are shown with it, of the same session
TOPIC_LINES = 20  # lines of a session that count as one topic
OUTSIDE = 0.3  # factor of a line outside the time that the question names
PERSON = 0.15  # gain of a line by or to the people named; a larger one would let a wrong name hide the right answer
NUMBER = 0.4  # gain of a line with a number, if one is asked for; measured from 0.2 to 0.5 to be a plateau
DAY_US = 86_400 * 1_000_000.0
SCORED = 40  # lines whose scores are returned
same_text = cleared_on_erasure(lru_cache(maxsize=4_096)(duplicate_key))  # the key that equal texts share
PARTS = ("words", "label", "neighbours", "replies", "topic")
Factors = tuple[tuple[str, float], ...]


class Reach(NamedTuple):
    """How far a search of the log looks.

    Lines that share words with the question are scored, so many ``candidates`` and the lines ``around`` each. With
    ``spare`` no line repeats another of the same person, and so many more are read in the place of those that do.
    """

    candidates: int
    around: int
    spare: int = 0


# measured: 16 give 47.6 % of the evidence in six lines, 120 give 48.3 % at seven times the cost
OF_CONTEXT, OF_SEARCH = Reach(16, 2, 8), Reach(120, 4, 24)


@dataclass(frozen=True)
class LineSearch:
    """A question to the log: at most ``limit`` lines that the read filter admits."""

    query: Query
    read_filter: ReadFilter
    limit: int
    now: datetime
    reach: Reach
    decay: Decay | None = None
    explains: bool = False


@dataclass
class FoundLine:
    """A line of the log that answers a question; its score is the ``relevance``, in [0, 1], times all ``factors``.

    The lines just ``before`` and ``after`` it, and the one to which it ``replied``, are read for those that are shown
    (:meth:`Corpora.surround`): ``beside`` are the seqs of the former, half of them before it; 0 is none.

    A search that explains also gives the ``parts`` whose sum is the relevance. ``rank`` is the position among the lines
    that a context shows, from 1 on; 0 if it is not shown, and ``cut`` tells why: its "relevance" is too low, the caller
    shows it ("recent"), an event that was made of it is shown ("shown_as_event"), or it is beyond the "limit".
    """

    line: Message
    relevance: float
    factors: Factors = ()
    parts: Factors = ()
    beside: Sequence[int] = ()
    before: Passage = ()
    after: Passage = ()
    replied: Message | None = None
    rank: int = 0
    cut: str | None = None

    @property
    def score(self) -> float:
        """The score by which lines are ordered."""
        return self.relevance * prod(factor for _, factor in self.factors)


class FoundLines(NamedTuple):
    """Lines of the log, best first, and the scores of these and of more lines by their :func:`line_key`.

    The lines are read while they are iterated over, some at a time, in the snapshot of the search.
    """

    lines: Iterable[FoundLine] = ()
    scores: Mapping[int, float] = MappingProxyType({})


WHOLE = f"length(e.words) >= {HEAD_BYTES} AND length(e.words) % 4 = 0"  # the words of a line; else they are damaged


class LinesInOrder(NamedTuple):
    """The lines of a place in order of place and time: their rows, and numbers of session and topic."""

    rows: Array
    position: Array  # of each row; -1 for a row that is left out
    session: Array
    topic: Array


class LineRows(WordRows):
    """The lines of a place, or of a person's private chat and own lines in groups, without those that are hidden."""

    TABLE = "messages"
    SOURCE = "messages e"
    STANDING = f"{NOT_HIDDEN} AND {WHOLE}"
    HEAD = HEAD_BYTES

    def clear(self) -> None:
        """Drop all lines."""
        super().clear()
        self.about = self.column(np.dtype(LINE_HEAD))
        self._talk: tuple[frozenset[str], LinesInOrder] | None = None

    def load(self, rows: Sequence[Row]) -> None:
        """Append lines."""
        super().load(rows)
        self.about.append(np.frombuffer(b"".join([row[1][:HEAD_BYTES] for row in rows]), LINE_HEAD))
        self._talk = None

    def keep(self, stays: Mask) -> None:
        """Remove all other lines."""
        super().keep(stays)
        self._talk = None

    def talk(self, without: frozenset[str]) -> LinesInOrder:
        """Return the lines that may be read in order, without those of some people; kept until the lines change."""
        if self._talk is not None and self._talk[0] == without:
            return self._talk[1]
        rows = np.flatnonzero(~np.isin(self.about.values["person"], [*map(hashed, without)]))
        about = self.about.values[rows]
        order = np.lexsort((self.seqs.values[rows], about["at_us"], about["place"]))
        rows, about = rows[order], about[order]
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (about["place"][1:] != about["place"][:-1]) | (np.diff(about["at_us"]) > PAUSE_US)
        session = np.cumsum(begins)
        in_session = np.arange(len(rows)) - np.flatnonzero(begins)[session - 1]
        position = np.full(len(self), -1)
        position[rows] = np.arange(len(rows))
        talk = LinesInOrder(rows, position, session, np.cumsum(in_session % TOPIC_LINES == 0))
        self._talk = without, talk
        return talk

    def heard(self, terms: Sequence[str], without: frozenset[str]) -> frozenset[str]:
        """Return which of the terms the lines have, without those of some people."""
        if not len(self):
            return frozenset()
        term, row, having = self.find(asked_terms(tuple(terms))[0])
        left_out = np.bincount(term[self.talk(without).position[row] < 0], minlength=len(terms))
        return frozenset(term for term, count in zip(terms, (having - left_out).tolist(), strict=True) if count)

    def admitted(self, read_filter: ReadFilter) -> Mask:
        """Return which lines the narrowing parts of a read filter admit, its scene and ``without`` apart."""
        about = self.about.values
        admitted = np.full(len(about), not read_filter.kinds or "message" in read_filter.kinds)
        if read_filter.user_id:
            admitted &= about["person"] == hashed(read_filter.user_id)
        if read_filter.group_id:
            scope = Scope(read_filter.scene.agent, "group", read_filter.group_id)
            admitted &= about["place"] == hashed(scope.key)
        return admitted & _within(about, [read_filter.window]) if read_filter.window is not None else admitted


def found_lines(
    lines: LineRows, search: LineSearch, read: Callable[[Sequence[int]], Mapping[int, Message]]
) -> FoundLines:
    """Return lines that share words with a question, and lines around each, best first.

    ``read`` returns those of some seqs that the read filter admits.
    """
    if not len(lines):
        return FoundLines()
    query, reach, talk = search.query, search.reach, lines.talk(search.read_filter.without)
    terms, telling = asked_terms(query.terms)
    term, row, having = lines.find(terms)
    rarity = rarity_of(having, len(lines)) * [ASIDE if one in query.asides else 1.0 for one in query.terms]
    single = [SINGLE if len(one) == 1 and not one.isascii() else 1.0 for one in query.terms]
    weight = rarity * (telling * single)
    admitted = lines.admitted(search.read_filter) & (talk.position >= 0)
    shares = np.bincount(row, weight[term], len(lines)) * admitted
    # the best; beside them the best of the time, and of each person, that the question names
    narrow, more = search.read_filter.narrowed(query.windows, query.people), min(NARROWED, reach.candidates)
    chosen = [_best(shares, reach.candidates), *(_best(shares * lines.admitted(one), more) for one in narrow)]
    candidates = np.unique(np.concatenate(chosen))
    if not len(candidates):  # no line has any of the terms
        return FoundLines()
    near = np.unique(talk.position[candidates][:, np.newaxis] + np.arange(-reach.around, reach.around + 1))
    at = near[(near >= 0) & (near < len(talk.rows))]  # positions in the talk, in order
    window = talk.rows[at]
    steps = _relevance(lines, search, terms, (weight, rarity), talk, at)
    relevance, factors = steps[-1], _factors(search, lines.about.values[window], steps[-1])
    scores = relevance * np.prod([*factors.values()], axis=0)
    order = np.argsort(-scores, kind="stable")
    order = order[(relevance[order] > 0.0) & admitted[window[order]]]
    first = order[: search.limit + reach.spare]
    seqs, beside = lines.seqs.values[window[first]].tolist(), _beside(lines, talk, at[first])
    gains = np.diff(steps, axis=0, prepend=0.0)[:, first] if search.explains else None
    of_lines = np.stack([*factors.values()], axis=1)[first].tolist()

    def in_turn() -> Iterator[FoundLine]:
        known, shown, together = set[object](), dict[int, Message](), search.limit // 2 + 1
        for rank, seq in enumerate(seqs):
            if rank % together == 0:  # some at a time: seldom are all needed
                shown |= read(seqs[rank : rank + together])
            if (line := shown.get(seq)) is None:
                continue
            key = (same_text(line.text), line.sender_id) if reach.spare else rank
            if key not in known:
                known.add(key)
                parts = () if gains is None else tuple(zip(PARTS, gains[:, rank].tolist(), strict=True))
                of_line = tuple(zip(factors, of_lines[rank], strict=True))
                yield FoundLine(line, float(relevance[first[rank]]), of_line, parts, beside[rank])

    keys, best = lines.about.values["id"][window[order[:SCORED]]], scores[order[:SCORED]]
    return FoundLines(islice(in_turn(), search.limit), dict(zip(keys.tolist(), best.tolist(), strict=True)))


def _beside(lines: LineRows, talk: LinesInOrder, positions: Array) -> list[list[int]]:
    """Return for lines at some positions of a talk the seqs of those that may be shown with each; 0 is none."""
    steps = np.array([*range(-SHOWN, 0), *range(1, SHOWN + 1)])
    near = positions[:, np.newaxis] + steps
    other = np.minimum(np.maximum(near, 0), len(talk.rows) - 1)
    is_there = (near == other) & (talk.session[other] == talk.session[positions][:, np.newaxis])
    return np.where(is_there, lines.seqs.values[talk.rows[other]], 0).tolist()


def _relevance(
    lines: LineRows, search: LineSearch, terms: Array, weights: tuple[Scores, Scores], talk: LinesInOrder, at: Array
) -> Scores:
    """Return the relevance of the lines at these positions of a talk; before it, of a search that explains, its steps.

    ``weights`` are those of the terms in a chat and, without how telling a term is, in a monologue.
    """
    window, session = talk.rows[at], talk.session[at]
    _, begins, topic = np.unique(talk.topic[at], return_index=True, return_inverse=True)
    about, topics = lines.about.values[window], len(begins)
    own, label, sizes = _words(lines, terms, window, about["label"])
    speakers = np.where(about["is_bot"], np.int64(-1), about["person"])
    is_others = (speakers != speakers[begins][topic]) | ~about["private"]
    alone = (np.bincount(topic, is_others, topics) == 0)[topic]  # in a monologue
    weight, rarity = weights
    whole = np.sort(weight)[-SEARCHED:].sum() or 1.0
    is_echo = (about["at_us"] >= micros(search.now) - RECENT_US) & (own @ weight >= ECHO * whole)
    lends = own * np.where(is_echo, 0.0, np.where(alone, ALONE, 1.0))[:, np.newaxis]
    shared = np.maximum.reduceat(lends, begins)  # topics stand one behind the other
    near = np.zeros_like(lends)
    for distance in range(1, REACH + 1):
        other = np.minimum(np.searchsorted(at, at + distance), len(at) - 1)
        one = np.flatnonzero((at[other] == at + distance) & (session[other] == session))
        other, share = other[one], NEIGHBOUR * 0.5 ** (distance - 1)
        near[other] += share * lends[one]
        near[one] += share * lends[other]
    replies = _replies(about, own * ~is_echo[:, np.newaxis])
    counts = own, LABEL * label, near, replies, TOPIC * shared[topic] * ~alone[:, np.newaxis]
    counted = np.cumsum(counts, axis=0) if search.explains else np.sum(counts, axis=0)[np.newaxis]
    lengths = np.where(alone, LENGTH_SHARE * (sizes / max(sizes.mean() if len(sizes) else 0, 1.0) - 1.0), 0.0)
    half = HALF * (1.0 + lengths[:, np.newaxis] * own)
    of_line = np.where(alone[:, np.newaxis], rarity, weight)
    wholes = np.where(alone, np.sort(rarity)[-SEARCHED:].sum() or 1.0, whole)
    share = (of_line * counted / (counted + half)).sum(axis=2) * (HALF + 1.0) / wholes
    substance = (1.0 + SUBSTANCE * np.minimum(np.log1p(sizes) / np.log(FULL_LENGTH), 1.0)) / (1.0 + SUBSTANCE)
    return np.minimum(2.0 * share / (share + 1.0), 1.0) * np.where(alone, 1.0, substance)


def _best(scores: Array, count: int) -> Array:
    rows = np.flatnonzero(scores)
    return rows if len(rows) <= count else rows[np.argpartition(-scores[rows], count)[:count]]


def _words(lines: LineRows, terms: Array, window: Array, labels: Array) -> tuple[Scores, Scores, Array]:
    """Return which of the terms each line says, and has in its label alone; and how many terms each line says."""
    flat, owners, within = lines.terms_of(window)
    hit, term = occurrences(flat, terms)
    both = np.zeros((2, len(window), len(terms)))
    both[(within[hit] < labels[owners[hit]]).astype(int), owners[hit], term] = 1.0
    return both[0], both[1] * (both[0] == 0.0), np.bincount(owners, minlength=len(window)) - labels


def _replies(about: Array, lends: Scores) -> Scores:
    given = np.zeros_like(lends)
    ids, answered = about["id"], about["answered"]
    order = np.argsort(ids)
    at = order[np.minimum(np.searchsorted(ids[order], answered), len(order) - 1)]
    replying = np.flatnonzero((ids[at] == answered) & (answered > 0))
    np.add.at(given, at[replying], REPLY * lends[replying])
    np.add.at(given, replying, REPLY * lends[at[replying]])
    return given


def _factors(search: LineSearch, about: Array, relevance: Scores) -> Mapping[str, Scores]:
    """Return what multiplies each line's relevance: the people, number and time asked for, and decay."""
    query, one, fresh = search.query, np.ones(len(about)), np.zeros(len(about))
    inside = _within(about, query.windows) if query.windows else one
    named = np.isin(about["person"], [*map(hashed, query.people)])
    if decay := search.decay:
        age_us = np.maximum(micros(search.now) - about["at_us"], 0)
        is_near = relevance >= decay.floor
        fresh = np.where(is_near, decay.boost * 0.5 ** (age_us / DAY_US / decay.half_life_days), 0.0)
    return {
        "people": one + PERSON * named / max(len(query.people), 1),
        "numbers": one + NUMBER * about["numeric"] if query.asks_number else one,
        "time": np.where(inside, 1.0, OUTSIDE) if np.any(inside) else one,
        "age": one + fresh,
    }


def _within(about: Array, windows: Sequence[Interval]) -> Mask:
    """Return which lines were said in one of the intervals."""
    at_us = about["at_us"]
    return np.any([(at_us >= micros(one.start)) & (at_us < micros(one.stop)) for one in windows], axis=0)
