"""Scores of chat lines as answers, by their own words and by those of the lines around them. Pure functions.

In a chat an answer seldom repeats the question: "who will do it" is answered by "me" two lines later. So each line
also gets, at a lower weight, the terms of its neighbours, of the line it replies to, and of its session's topic.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from ..domain.hit import Hit
from ..domain.message import Message, Passage
from ..text.caches import cleared_on_erasure
from ..text.lexical.frequency import telling
from ..text.lexical.indexed import indexed_text
from ..text.lexical.terms import index_terms
from .coverage import bent

REACH = 4  # lines before and after a line that count as its neighbours
SHOWN = 2  # of them are returned with a hit
PAUSE = timedelta(minutes=30)  # ends a session
LONGEST_TOPIC = 20  # lines of a session that count as one topic
ECHO = 0.6  # share of the query: a recent line that contains as much is taken for the query itself
READ = 600  # characters of a line
_FULL_LENGTH = 60  # terms from which a line counts as long
HALF_WAY = 0.3  # see bent


@dataclass(frozen=True)
class Weights:
    """Weights of the parts of a line's score relative to its own words (1); 0 disables a part."""

    window: float = 0.3  # for the adjacent line; halved with each line of distance
    reply: float = 0.5
    session: float = 0.15  # for lines of the same topic of the session
    label: float = 0.3  # for its speaker's name and day: lines by somebody tell less about them than lines about them
    substance: float = 0.5  # gain of a long line over an empty one
    single: float = 0.7  # factor of a single character compared with a pair or word
    saturation: float = 1.2  # how soon repeated occurrences of a term stop counting (BM25's k1)


WEIGHTS = Weights()


@dataclass(frozen=True)
class _TalkLine:
    """A line with its own terms, the terms of its label, and the numbers of its passage, session and topic."""

    message: Message
    said: frozenset[str]
    label: frozenset[str]
    passage: int
    session: int
    topic: int


def hits_of(
    terms: Sequence[str],
    passages: Iterable[Passage],
    weights: Weights = WEIGHTS,
    *,
    asked_since: datetime | None = None,
) -> list[Hit]:
    """Score all lines of the passages against the query's terms, best first; lines of score 0 are left out.

    A hit's relevance is in [0, 1]; ``neighbours`` holds the adjacent lines. Lines from ``asked_since`` on may be the
    query itself: if they repeat it, their terms do not count for other lines.
    """
    lines = list(_lines(passages))
    worths = _worths(terms, lines, weights, asked_since)
    hits = [_hit(lines, at, worth) for at, worth in enumerate(worths) if worth > 0.0]
    return sorted(hits, key=lambda hit: -hit.score)


def _lines(passages: Iterable[Passage]) -> Iterator[_TalkLine]:
    """Yield lines in order with session numbers; lines may be missing between two passages of one session."""
    session, size, last = 0, 0, None
    for number, passage in enumerate(sorted((one for one in passages if one), key=_place_and_time)):
        for message in passage:
            if last is None or not _goes_on(last, message):
                session, size = session + 1, 0
            yield _TalkLine(message, *_terms(message), number, session, size // LONGEST_TOPIC)
            size, last = size + 1, message


def _place_and_time(passage: Passage) -> tuple[str, float]:
    return passage[0].scene.scope.key, passage[0].sent_at.timestamp()


def _goes_on(last: Message, message: Message) -> bool:
    return last.scene.scope == message.scene.scope and message.sent_at - last.sent_at <= PAUSE


def _worths(
    terms: Sequence[str], lines: Sequence[_TalkLine], weights: Weights, asked_since: datetime | None
) -> list[float]:
    """Return each line's score in [0, 1]: its coverage of the query times its substance."""
    saying = {term: [at for at, line in enumerate(lines) if term in line.said] for term in terms}
    labelled = {term: [at for at, line in enumerate(lines) if term in line.label] for term in terms}
    rarity = {
        term: _rarity(term, len(said) + len(labelled[term]), len(lines), weights) for term, said in saying.items()
    }
    whole = sum(rarity.values()) or 1.0
    echoes = {at for at, line in enumerate(lines) if _is_echo(line, rarity, whole, asked_since)}
    links, topics = _links(lines, weights), _topics(lines)
    covered = [0.0] * len(lines)
    for term, said in saying.items():
        lending = [at for at in said if at not in echoes]
        counts = _lent(lending, lines, links, topics, weights)
        for at in said:
            counts[at] += 1.0
        for at in labelled[term]:
            counts[at] += weights.label
        for at, count in counts.items():
            covered[at] += rarity[term] * count * (weights.saturation + 1.0) / (count + weights.saturation)
    return [
        min(bent(share / whole, HALF_WAY), 1.0) * _substance(line, weights)
        for share, line in zip(covered, lines, strict=True)
    ]


def _rarity(term: str, having: int, lines: int, weights: Weights) -> float:
    alone = len(term) == 1 and not term.isascii()
    usual = math.prod(map(telling, term)) * (weights.single if alone else 1.0)
    return usual * math.log1p((lines - having + 0.5) / (having + 0.5))


def _is_echo(line: _TalkLine, rarity: Mapping[str, float], whole: float, asked_since: datetime | None) -> bool:
    """Return whether a recent line repeats the query, exactly or nearly."""
    if asked_since is None or line.message.sent_at < asked_since:
        return False
    return sum(rarity[term] for term in line.said.intersection(rarity)) >= ECHO * whole


def _lent(
    lending: Sequence[int],
    lines: Sequence[_TalkLine],
    links: Mapping[int, Sequence[tuple[int, float]]],
    topics: Mapping[tuple[int, int], Sequence[int]],
    weights: Weights,
) -> dict[int, float]:
    """Return the term counts that lines receive from the lending lines near them or in their topic."""
    counts: dict[int, float] = defaultdict(float)
    for at in lending:
        for other, share in links[at]:
            counts[other] += share
    for topic in {_topic(lines[at]) for at in lending} if weights.session else ():
        for at in topics[topic]:
            counts[at] += weights.session
    return counts


def _topics(lines: Sequence[_TalkLine]) -> Mapping[tuple[int, int], Sequence[int]]:
    topics: dict[tuple[int, int], list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        topics[_topic(line)].append(at)
    return topics


def _topic(line: _TalkLine) -> tuple[int, int]:
    return line.session, line.topic


def _links(lines: Sequence[_TalkLine], weights: Weights) -> Mapping[int, Sequence[tuple[int, float]]]:
    """Return, for each line, the lines that receive its terms and with what weight."""
    links: dict[int, list[tuple[int, float]]] = defaultdict(list)
    places = {(line.message.scene.scope, line.message.id): at for at, line in enumerate(lines)}
    for at, line in enumerate(lines):
        for distance in range(1, min(REACH, at) + 1):
            if _is_one_talk(lines[at - distance], line):
                _link(links, at - distance, at, weights.window * 0.5 ** (distance - 1))
        answered = places.get((line.message.scene.scope, line.message.reply_to or ""))
        if answered is not None:
            _link(links, answered, at, weights.reply)
    return links


def _link(links: Mapping[int, list[tuple[int, float]]], one: int, other: int, share: float) -> None:
    if share:
        links[one].append((other, share))
        links[other].append((one, share))


def _is_one_talk(one: _TalkLine, other: _TalkLine) -> bool:
    return (one.passage, one.session) == (other.passage, other.session)


def _substance(line: _TalkLine, weights: Weights) -> float:
    """Return a factor that lowers short lines; it is 1 for the longest."""
    says = min(math.log1p(len(line.said)) / math.log(_FULL_LENGTH), 1.0)
    return (1.0 + weights.substance * says) / (1.0 + weights.substance)


def _hit(lines: Sequence[_TalkLine], at: int, worth: float) -> Hit:
    line = lines[at]
    near = range(max(at - SHOWN, 0), min(at + SHOWN + 1, len(lines)))
    shown = (lines[other] for other in near if other != at)
    neighbours = tuple(other.message for other in shown if _is_one_talk(other, line))
    said, reply_to = line.message.as_event(), line.message.reply_to or ""
    return Hit(said, worth, lexical=worth, relevance=worth, neighbours=neighbours, reply_to=reply_to)


def _terms(message: Message) -> tuple[frozenset[str], frozenset[str]]:
    """Return a line's own terms, and the additional terms of its label."""
    speaker = "" if message.is_bot else message.scene.user_name
    said = _indexed(message.text[:READ])
    return said, _indexed(indexed_text(speaker, message.sent_at, "")) - said


@cleared_on_erasure
@lru_cache(maxsize=8192)  # recent lines of a group are searched repeatedly
def _indexed(text: str) -> frozenset[str]:
    return frozenset(index_terms(text))
