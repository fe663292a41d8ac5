"""Scores of chat lines as answers, by their own words and by those of the lines around them. Pure functions.

In a chat an answer seldom repeats the question: "who will do it" is answered by "me" two lines later. So each line
also gets, at a lower weight, the terms of its neighbours, of the line it replies to, and of its session's topic.
In a private chat where one side alone speaks (a monologue) a line's own words count as in BM25, and others lend little.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from heapq import nlargest
from itertools import chain

from ..domain.hit import Hit
from ..domain.message import Message, Passage
from ..domain.scope import Scope
from ..text.caches import cleared_on_erasure
from ..text.lexical.indexed import indexed_text
from ..text.lexical.terms import SEARCHED, index_terms
from .term_coverage import saturated, usual_weight

REACH = 4  # lines before and after a line that count as its neighbours
SHOWN = 2  # of them are returned with a hit
PAUSE = timedelta(minutes=30)  # ends a session
LONGEST_TOPIC = 20  # lines of a session that count as one topic
MONOLOGUE = 0.5  # factor of an adjacent line by the same person in private: remarks of a diary, not an answer
ECHO = 0.6  # share of the query: a recent line that contains as much is taken for the query itself
READ = 600  # characters of a line
ASIDE = 0.5  # factor of terms that stand beside the question only
_LENGTH_SHARE = 0.75  # BM25's b, for the remarks of a monologue
_FULL_LENGTH = 60  # terms from which a line counts as long
COVERAGE_SATURATION = 1.0  # see saturated; a smaller one lets age and people outweigh half of the query


@dataclass(frozen=True)
class Weights:
    """Weights of the parts of a line's score relative to its own words (1); 0 disables a part."""

    window: float = 0.2  # for the adjacent line; halved with each line of distance, and within a monologue in private
    reply: float = 0.5
    session: float = 0.15  # for lines of the same topic of the session, unless they are a monologue in private
    label: float = 0.3  # for its speaker's name and day: lines by somebody tell less about them than lines about them
    substance: float = 0.3  # gain of a long line over an empty one
    single: float = 0.7  # factor of a single character compared with a pair or word
    saturation: float = 1.2  # how soon repeated occurrences of a term stop counting (BM25's k1)


WEIGHTS = Weights()


@dataclass(frozen=True)
class _TalkLine:
    """A line with its own terms (``said``), the terms of its speaker and day (``label``), and its talk and topic.

    ``talk`` is (number of the passage, number of the session), ``topic`` (number of the session, of the topic in it).
    """

    message: Message
    said: frozenset[str]
    label: frozenset[str]
    talk: tuple[int, int]
    topic: tuple[int, int]

    @property
    def is_private(self) -> bool:
        """Whether the line was said in a private chat."""
        return self.message.scene.kind == "private"


def hits_of(
    terms: Sequence[str],
    passages: Iterable[Passage],
    weights: Weights = WEIGHTS,
    *,
    asked_since: datetime | None = None,
    asides: frozenset[str] = frozenset(),
    most: int | None = None,
) -> list[Hit]:
    """Score all lines of the passages against the query's terms, best first; lines of score 0 are left out.

    Return at most ``most`` hits (None: all). A hit's relevance is in [0, 1]; ``neighbours`` are the adjacent lines.
    Lines from ``asked_since`` on may be the query itself: if they repeat it, their terms do not count for other lines.
    ``asides`` are terms of little weight.
    """
    lines = list(_lines(passages))
    worths = _worths(terms, lines, weights, asked_since, asides) if lines else []
    found = (at for at, worth in enumerate(worths) if worth > 0.0)
    best = sorted(found, key=lambda at: -worths[at])
    return [_hit(lines, at, worths[at]) for at in best[:most]]


PARTS = ("words", "label", "neighbours", "replies", "topic")
Parts = tuple[tuple[str, float], ...]


def parts_of(
    terms: Sequence[str],
    passages: Iterable[Passage],
    weights: Weights = WEIGHTS,
    *,
    asked_since: datetime | None = None,
    asides: frozenset[str] = frozenset(),
) -> dict[tuple[Scope, str], Parts]:
    """Map scope and id of each line to what each part adds to its score, in the order of ``PARTS``.

    What a part adds is the score with its weight minus the score without, while all later parts are 0; the sum of all
    is the score.
    """
    lines = list(_lines(passages))
    bare = replace(weights, label=0.0, window=0.0, reply=0.0, session=0.0)
    labelled = replace(bare, label=weights.label)
    near = replace(labelled, window=weights.window)
    steps = (bare, labelled, near, replace(near, reply=weights.reply), weights)
    worths = [_worths(terms, lines, step, asked_since, asides) for step in steps]
    return {
        (line.message.scene.scope, line.message.id): tuple(zip(PARTS, _gains(reached), strict=True))
        for line, *reached in zip(lines, *worths, strict=True)
    }


def _gains(reached: Sequence[float]) -> list[float]:
    return [after - before for before, after in zip((0.0, *reached), reached, strict=False)]


def _lines(passages: Iterable[Passage]) -> Iterator[_TalkLine]:
    """Yield the lines of the passages in order, with the numbers of passage, session and topic.

    Passages of one session share its number, even if lines between them are missing.
    """
    session, size, last, place = 0, 0, None, None
    for number, passage in enumerate(sorted((one for one in passages if one), key=_place_and_time)):
        before, place = place, passage[0].scene.scope
        for message in passage:
            if last is None or before != place or message.sent_at - last.sent_at > PAUSE:
                session, size = session + 1, 0
            before = place
            yield _TalkLine(message, *_terms(message), (number, session), (session, size // LONGEST_TOPIC))
            size, last = size + 1, message


def _place_and_time(passage: Passage) -> tuple[str, float]:
    return passage[0].scene.scope.key, passage[0].sent_at.timestamp()


@dataclass(frozen=True)
class _Measure:
    """How terms count for a line: their weights, the weight of the whole query, and the damping by line length."""

    rarity: Mapping[str, float]
    whole: float
    weights: Weights
    usual_length: float = 0.0  # of a line, in terms; 0: the length of a line does not matter

    def damping(self, line: _TalkLine) -> float:
        """Return the number of occurrences at which a term reaches half of its greatest weight in this line."""
        if not self.usual_length:
            return self.weights.saturation
        return self.weights.saturation * (1.0 + _LENGTH_SHARE * (len(line.said) / self.usual_length - 1.0))

    def score(self, line: _TalkLine, covered: float) -> float:
        """Return the score in [0, 1] of a line that contains terms of the weight ``covered`` of the query."""
        share = min(saturated(covered / self.whole, COVERAGE_SATURATION), 1.0)
        return share if self.usual_length else share * _substance(line, self.weights)


def _worths(
    terms: Sequence[str],
    lines: Sequence[_TalkLine],
    weights: Weights,
    asked_since: datetime | None,
    asides: frozenset[str],
) -> list[float]:
    """Return each line's score in [0, 1]: the part of the query that it covers, times a factor for its length."""
    asked = frozenset(terms)
    said = [line.said & asked for line in lines]
    labels = [(line.label & asked) - words for line, words in zip(lines, said, strict=True)]
    monologues = _monologues(lines)
    of_talk = _of_talk(asked, asides, (said, labels), weights)
    of_remarks = _of_remarks(asked, asides, lines, said, weights) if monologues else of_talk
    measures = [of_remarks if line.topic in monologues else of_talk for line in lines]
    echoes = {at for at, line in enumerate(lines) if _is_echo(line, of_talk, asked_since)}
    lending = [frozenset[str]() if at in echoes else words for at, words in enumerate(said)]
    covered = _coverage(lines, (said, labels, lending), measures, monologues)
    return [measure.score(line, share) for line, share, measure in zip(lines, covered, measures, strict=True)]


def _of_talk(
    asked: frozenset[str], asides: frozenset[str], words: Sequence[Sequence[frozenset[str]]], weights: Weights
) -> _Measure:
    """Return how terms count in talk of several people: by their rarity in these lines and in the language."""
    having, lines = Counter(chain.from_iterable(chain.from_iterable(words))), len(words[0])
    rarity = {
        term: _rarity(term, having.get(term, 0), lines, weights) * (ASIDE if term in asides else 1.0) for term in asked
    }
    return _Measure(rarity, _whole(rarity), weights)


def _of_remarks(
    asked: frozenset[str],
    asides: frozenset[str],
    lines: Sequence[_TalkLine],
    said: Sequence[frozenset[str]],
    weights: Weights,
) -> _Measure:
    """Return how terms count in a monologue, as in BM25: by their rarity in these lines and by the line's length."""
    having = Counter(chain.from_iterable(said))
    rarity = {term: _rarity_of(having.get(term, 0), len(lines)) * (ASIDE if term in asides else 1.0) for term in asked}
    return _Measure(rarity, _whole(rarity), weights, sum(len(line.said) for line in lines) / len(lines) or 1.0)


def _whole(rarity: Mapping[str, float]) -> float:
    return sum(nlargest(SEARCHED, rarity.values())) or 1.0


def _coverage(
    lines: Sequence[_TalkLine],
    words: tuple[Sequence[frozenset[str]], Sequence[frozenset[str]], Sequence[frozenset[str]]],
    measures: Sequence[_Measure],
    monologues: frozenset[tuple[int, int]],
) -> list[float]:
    """Return for each line the weight of the query's terms that it covers.

    ``words`` are for each line the terms that it says, those of its label, and those that it lends to other lines.
    The terms of a topic are summed once for all its lines; the sum is corrected for terms that a line has itself.
    """
    said, labels, lending = words
    weights = measures[0].weights if measures else WEIGHTS
    near = _near(lines, lending, weights)
    session, half = weights.session, weights.saturation
    least = session / (session + half) if session else 0.0
    shared: Mapping[tuple[int, int], frozenset[str]] = _shared(lines, lending, monologues) if session else {}
    weighed = {line.topic: measure.rarity for line, measure in zip(lines, measures, strict=True)}
    by_topic = {topic: least * sum([weighed[topic][term] for term in terms]) for topic, terms in shared.items()}
    covered: list[float] = []
    for at, (line, measure) in enumerate(zip(lines, measures, strict=True)):
        of_topic, total = shared.get(line.topic, frozenset()), by_topic.get(line.topic, 0.0)
        rarity, damping = measure.rarity, measure.damping(line)
        for term, count in _counts(said[at], labels[at], near[at], weights).items():
            if term in of_topic:
                total += rarity[term] * ((count + session) / (count + session + half) - least)
            else:
                total += rarity[term] * (count / (count + (damping if term in said[at] else half)))
        covered.append(total * (half + 1.0))
    return covered


def _shared(
    lines: Sequence[_TalkLine], lending: Sequence[frozenset[str]], monologues: frozenset[tuple[int, int]]
) -> Mapping[tuple[int, int], frozenset[str]]:
    """Map each topic to the terms that its lines lend to each other; a monologue in a private chat lends none.

    What one person says there in a row need not belong together, unlike an answer and its question.
    """
    shared: dict[tuple[int, int], set[str]] = defaultdict(set)
    for line, terms in zip(lines, lending, strict=True):
        if line.topic not in monologues:
            shared[line.topic] |= terms
    return {topic: frozenset(terms) for topic, terms in shared.items()}


def _monologues(lines: Iterable[_TalkLine]) -> frozenset[tuple[int, int]]:
    """Return the topics of private chats in which one side alone speaks."""
    speakers: dict[tuple[int, int], set[str]] = defaultdict(set)
    for line in lines:
        if line.is_private:
            speakers[line.topic].add(line.message.sender_id)
    return frozenset(topic for topic, of_topic in speakers.items() if len(of_topic) == 1)


def _near(
    lines: Sequence[_TalkLine], lending: Sequence[frozenset[str]], weights: Weights
) -> Sequence[Sequence[tuple[frozenset[str], float]]]:
    """Return, for each line, the sets of terms that it borrows from other lines, each with its weight.

    A line borrows from the lines next to it, from the line that it answers and from those that answer it. ``lending``
    has the terms that each line lends.
    """
    near: list[list[tuple[frozenset[str], float]]] = [[] for _ in lines]
    shares = [(distance, weights.window * 0.5 ** (distance - 1)) for distance in range(1, REACH + 1)]
    for at, (line, terms) in enumerate(zip(lines, lending, strict=True)):
        for distance, share in shares if terms and weights.window else ():
            for other in (at - distance, at + distance):
                if 0 <= other < len(lines) and lines[other].talk == line.talk:
                    goes_on = line.is_private and lines[other].message.sender_id == line.message.sender_id
                    near[other].append((terms, share * MONOLOGUE if goes_on else share))
    for at, answered in _replies(lines) if weights.reply else ():
        near[answered].append((lending[at], weights.reply))
        near[at].append((lending[answered], weights.reply))
    return near


def _replies(lines: Sequence[_TalkLine]) -> Iterator[tuple[int, int]]:
    """Yield (index of a reply, index of the line that it replies to) for replies to one of the lines."""
    replying = [at for at, line in enumerate(lines) if line.message.reply_to]
    if replying:
        places = {(line.message.scene.scope, line.message.id): at for at, line in enumerate(lines)}
        for at in replying:
            answered = places.get((lines[at].message.scene.scope, lines[at].message.reply_to or ""))
            if answered is not None:
                yield at, answered


def _counts(
    said: Iterable[str], label: Iterable[str], near: Iterable[tuple[frozenset[str], float]], weights: Weights
) -> dict[str, float]:
    """Return how much each term counts for a line: terms that it says, terms of its label, terms of lines near it."""
    counts = dict.fromkeys(said, 1.0)
    for term in label:
        counts[term] = counts.get(term, 0.0) + weights.label
    for terms, share in near:
        for term in terms:
            counts[term] = counts.get(term, 0.0) + share
    return counts


def _rarity(term: str, having: int, lines: int, weights: Weights) -> float:
    alone = len(term) == 1 and not term.isascii()
    usual = usual_weight(term) * (weights.single if alone else 1.0)
    return usual * _rarity_of(having, lines)


def _rarity_of(having: int, lines: int) -> float:
    return math.log1p((lines - having + 0.5) / (having + 0.5))


def _is_echo(line: _TalkLine, measure: _Measure, asked_since: datetime | None) -> bool:
    """Return whether a line said at ``asked_since`` or later repeats the query, exactly or nearly."""
    if asked_since is None or line.message.sent_at < asked_since:
        return False
    rarity = measure.rarity
    return sum(rarity[term] for term in line.said.intersection(rarity)) >= ECHO * measure.whole


def _substance(line: _TalkLine, weights: Weights) -> float:
    """Return a factor in (0, 1] that lowers the score of short lines; it is 1 for long ones."""
    says = min(math.log1p(len(line.said)) / math.log(_FULL_LENGTH), 1.0)
    return (1.0 + weights.substance * says) / (1.0 + weights.substance)


def _hit(lines: Sequence[_TalkLine], at: int, worth: float) -> Hit:
    line = lines[at]
    near = range(max(at - SHOWN, 0), min(at + SHOWN + 1, len(lines)))
    shown = (lines[other] for other in near if other != at)
    neighbours = tuple(other.message for other in shown if other.talk == line.talk)
    said, reply_to = line.message.as_event(), line.message.reply_to or ""
    return Hit(said, worth, lexical=worth, relevance=worth, neighbours=neighbours, reply_to=reply_to)


def _terms(message: Message) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms of a line's text, and those of its speaker and day."""
    speaker = "" if message.is_bot else message.scene.user_name
    return _indexed(message.text[:READ]), _indexed(speaker) | _dated(message.sent_at.date())


@cleared_on_erasure
@lru_cache(maxsize=8192)  # recent lines of a group are searched repeatedly
def _indexed(text: str) -> frozenset[str]:
    return frozenset(index_terms(text))


@lru_cache(maxsize=1024)
def _dated(day: date) -> frozenset[str]:
    return frozenset(index_terms(indexed_text("", day, "")))
