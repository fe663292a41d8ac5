"""Lines of the log as answers: scored by their own words and by those of the lines around them.

In a chat an answer seldom repeats the question: "who will do it" is answered by "me" two lines later. So a line also
gets, at a lower weight, the terms of its label (speaker and day), of its neighbours, of the line that it answers or that
answers it, and of its topic. In a private chat where one side alone speaks, a line's own words count as in BM25.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from .asked import Asked, Factors, factors_of
from .rows import Array, Column, Mask, Rows, Scores

LABEL, NEIGHBOUR, REPLY, TOPIC = 0.3, 0.2, 0.5, 0.15  # weights of terms that are not a line's own (1)
REACH = 4  # lines before and after a line that count as its neighbours; the weight halves with each line
HALF = 1.2  # count of a term that gives half of its greatest weight (BM25's k1)
LENGTH_SHARE = 0.75  # BM25's b, for the remarks of a monologue
SUBSTANCE, FULL_LENGTH = 0.3, 60  # gain of a long line over an empty one; terms from which a line counts as long
ECHO = 0.6  # share of the question: a line of the last minutes that contains as much is the question itself
PAUSE_US = 30 * 60 * 1_000_000  # ends a session
TOPIC_LINES = 20  # lines of a session that count as one topic
NARROWED = 40  # candidates beside the others for a time, and for each person, that the question names
PARTS = ("words", "label", "neighbours", "replies", "topic")


class LineRows(Rows):
    """The lines of a place, with the line that each answers, and their talks."""

    def __init__(self) -> None:
        """Start without lines."""
        super().__init__()
        self.places = Column(np.int32)  # number of the place, for a person's private chat and own lines of groups
        self.private = Column(np.bool_)
        self.speakers = Column(np.int32)  # -1: the bot
        self.ids = Column(np.int64)  # hash of the message's id
        self.answered = Column(np.int64)  # that of the line which it answers; -1 without one
        self._talk: tuple[tuple[int, int, frozenset[str]], Talk] | None = None
        self.changes = 0

    def talk(self, without: Collection[str]) -> Talk:
        """Return the lines in order, without those of some people; kept until the lines change."""
        key = len(self), self.changes, frozenset(without)
        if self._talk is None or self._talk[0] != key:
            self._talk = key, Talk.of(self, without)
        return self._talk[1]


@dataclass(frozen=True)
class Talk:
    """The lines of a place in order of place and time: their rows, and numbers of session and topic."""

    rows: Array
    position: Array  # of each row; -1 for a row that is left out
    session: Array
    topic: Array

    @classmethod
    def of(cls, lines: LineRows, without: Collection[str]) -> Talk:
        """Order the lines that are not gone."""
        stays = ~lines.gone.values
        if without:
            stays &= ~lines.of_people(without)
        rows = np.flatnonzero(stays)
        places, at_us = lines.places.values[rows], lines.at_us.values[rows]
        if np.any(np.diff(at_us) < 0) or np.any(np.diff(places)):
            order = np.lexsort((lines.seqs.values[rows], at_us, places))
            rows, places, at_us = rows[order], places[order], at_us[order]
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (np.diff(places) != 0) | (np.diff(at_us) > PAUSE_US)
        session = np.cumsum(begins)
        in_session = np.arange(len(rows)) - np.flatnonzero(begins)[session - 1]
        position = np.full(len(lines), -1)
        position[rows] = np.arange(len(rows))
        _, topic = np.unique(session * (len(rows) + 1) + in_session // TOPIC_LINES, return_inverse=True)
        return cls(rows, position, session, topic)

    def beside(self, row: int, reach: int) -> Array:
        """Return the rows of the same session up to ``reach`` lines before and after a row, in order."""
        at = int(self.position[row])
        near = np.arange(max(at - reach, 0), min(at + reach + 1, len(self.rows)))
        near = near[(self.session[near] == self.session[at]) & (near != at)]
        return self.rows[near]


@dataclass(frozen=True)
class FoundLines:
    """Lines with their scores, best first; ``parts`` of the relevance only if they were asked for."""

    rows: Array
    relevance: Scores
    factors: Factors
    parts: Scores | None = None
    talk: Talk | None = field(default=None, repr=False)

    @property
    def score(self) -> Scores:
        """The relevance times the factors."""
        return self.relevance * self.factors.product


def found_lines(  # noqa: PLR0913  # one search
    lines: LineRows,
    asked: Asked,
    admitted: Mask,
    *,
    without: Collection[str] = (),
    candidates: int,
    reach: int,
    explain: bool = False,
) -> FoundLines:
    """Score the best ``candidates`` by words, and ``reach`` lines before and after each; ``admitted`` may be found."""
    talk = lines.talk(without)
    terms, rows, having = lines.postings.find(asked.terms)
    rarity = np.log1p((len(lines) - having + 0.5) / (having + 0.5))
    weight = rarity * asked.weights
    first = np.bincount(rows, weight[terms], len(lines)) * admitted * (talk.position >= 0)
    best = _candidates(lines, asked, first, candidates)
    if not len(best):
        return FoundLines(best, np.empty(0), factors_of(lines, asked, best), None, talk)
    near = np.unique(talk.position[best][:, None] + np.arange(-reach, reach + 1))
    at = near[(near >= 0) & (near < len(talk.rows))]  # positions in the talk, in order
    window = talk.rows[at]
    own, label, sizes = _words(lines, asked, window)
    session, (_, topic) = talk.session[at], np.unique(talk.topic[at], return_inverse=True)
    alone = _monologues(lines, window, topic)[topic]
    whole = np.sort(weight)[-asked.most :].sum() or 1.0
    lends = own * ~(asked.is_recent(lines.at_us.values[window]) & (own @ weight >= ECHO * whole))[:, None]
    parts = [own, LABEL * label, _neighbours(lends, at, session, alone), *_replies(lines, lends, window)]
    shared = np.zeros((topic.max() + 1, len(asked.terms)))
    np.maximum.at(shared, topic, lends)
    parts.append(TOPIC * shared[topic] * ~alone[:, None])
    lengths = np.where(alone, LENGTH_SHARE * (sizes / (sizes.mean() or 1.0) - 1.0), 0.0)
    half = HALF * (1.0 + lengths[:, None] * own)
    weights = np.where(alone[:, None], rarity * asked.asides, weight)
    wholes = np.where(alone, np.sort(rarity * asked.asides)[-asked.most :].sum() or 1.0, whole)
    substance = (1.0 + SUBSTANCE * np.minimum(np.log1p(sizes) / np.log(FULL_LENGTH), 1.0)) / (1.0 + SUBSTANCE)
    counted = np.cumsum(parts, axis=0) if explain else np.sum(parts, axis=0)[None]
    share = (weights * counted / (counted + half)).sum(axis=2) * (HALF + 1.0) / wholes
    steps = np.minimum(2.0 * share / (share + 1.0), 1.0) * np.where(alone, 1.0, substance)
    relevance = steps[-1]
    factors = factors_of(lines, asked, window, relevance)
    order = np.argsort(-relevance * factors.product, kind="stable")
    order = order[(relevance[order] > 0.0) & admitted[window[order]]]
    gains = np.diff(steps, axis=0, prepend=0.0)[:, order].T if explain else None
    return FoundLines(window[order], relevance[order], factors.of(order), gains, talk)


def _candidates(lines: LineRows, asked: Asked, first: Scores, count: int) -> Array:
    """Return the best rows; beside them the best of each time, and of each person, that the question names."""
    found = [_best(first, count)]
    found += [_best(first * lines.said_in(*window), min(NARROWED, count)) for window in asked.windows]
    found += [_best(first * lines.of_people((one,)), min(NARROWED, count)) for one in asked.named]
    return np.unique(np.concatenate(found))


def _best(scores: Scores, count: int) -> Array:
    rows = np.flatnonzero(scores)
    if len(rows) > count:
        rows = rows[np.argpartition(-scores[rows], count - 1)[:count]]
    return rows


def _words(lines: LineRows, asked: Asked, window: Array) -> tuple[Scores, Scores, Array]:
    """Return which of the terms each line says, and has in its label alone; and how many terms each line says."""
    flat, owners, within = lines.terms.of(window)
    order = np.argsort(asked.terms)
    at = np.minimum(np.searchsorted(asked.terms[order], flat), len(order) - 1)
    hit = np.flatnonzero(asked.terms[order][at] == flat)
    is_label = within[hit] < lines.label_sizes.values[window][owners[hit]]
    both = np.zeros((2, len(window), len(asked.terms)))
    both[is_label.astype(int), owners[hit], order[at[hit]]] = 1.0
    sizes = np.bincount(owners, minlength=len(window)) - lines.label_sizes.values[window]
    return both[0], both[1] * (both[0] == 0.0), sizes


def _monologues(lines: LineRows, window: Array, topic: Array) -> Mask:
    """Return for each topic whether one side alone speaks in it, in private."""
    speakers = lines.speakers.values[window]
    first = np.zeros(topic.max() + 1, speakers.dtype)
    first[topic] = speakers
    others = np.bincount(topic, (speakers != first[topic]) | ~lines.private.values[window])
    return others == 0


def _neighbours(lends: Scores, at: Array, session: Array, alone: Mask) -> Scores:
    near = np.zeros_like(lends)
    for distance in range(1, REACH + 1):
        other = np.minimum(np.searchsorted(at, at + distance), len(at) - 1)
        one = np.flatnonzero((at[other] == at + distance) & (session[other] == session) & ~alone & ~alone[other])
        other, share = other[one], NEIGHBOUR * 0.5 ** (distance - 1)
        near[other] += share * lends[one]
        near[one] += share * lends[other]
    return near


def _replies(lines: LineRows, lends: Scores, window: Array) -> list[Scores]:
    given = np.zeros_like(lends)
    ids, answered = lines.ids.values[window], lines.answered.values[window]
    order = np.argsort(ids)
    at = order[np.minimum(np.searchsorted(ids[order], answered), len(order) - 1)]
    replying = np.flatnonzero(ids[at] == answered)
    at = at[replying]
    np.add.at(given, at, REPLY * lends[replying])
    np.add.at(given, replying, REPLY * lends[at])
    return [given]
