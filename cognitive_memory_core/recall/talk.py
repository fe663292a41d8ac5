"""What a line of chat is worth as an answer: by its own words, and by those said round it. Pure functions.

In a chat the answer seldom repeats the question: who will do it is answered by "me" two lines on. So each line also
counts, for less, as if it said what its neighbours say, what it replies to, and what its session speaks of.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from ..domain.hit import Hit
from ..domain.message import Message, Passage
from ..text.frequency import telling
from ..text.indexed import indexed_text
from ..text.terms import index_terms

REACH = 4  # lines before and after a line that count as said round it
SHOWN = 2  # of them are given with a hit
PAUSE = timedelta(minutes=30)  # ends a session
LONGEST_SESSION = 50  # lines
_FULL_LENGTH = 60  # terms of a line that says as much as a line can
_MIDDLE = 0.3


@dataclass(frozen=True)
class Weights:
    """What each part of a line's worth counts, beside its own words, which count 1; 0 leaves a part out."""

    window: float = 0.2  # the line next to it; each one further away half of that
    reply: float = 0.5
    session: float = 0.1
    substance: float = 0.8  # what a long line gains over an empty one
    single: float = 0.7  # a single character, against a pair or a word
    saturation: float = 1.2  # how soon saying a term more often counts no more (BM25's k1)


WEIGHTS = Weights()


@dataclass(frozen=True)
class _Line:
    """A line, its terms, and the passage and session that it belongs to."""

    message: Message
    terms: tuple[str, ...]
    passage: int
    session: int


def hits_of(terms: Sequence[str], passages: Iterable[Passage], weights: Weights = WEIGHTS) -> list[Hit]:
    """Score every line of some talk against the terms of a question, best first; what shares nothing is left out.

    A hit's relevance lies in [0, 1]. It carries the lines next to it as ``neighbours``.
    """
    lines = list(_lines(passages))
    worths = _worths(terms, lines, weights)
    hits = [_hit(lines, at, worth) for at, worth in enumerate(worths) if worth > 0.0]
    return sorted(hits, key=lambda hit: -hit.score)


def _lines(passages: Iterable[Passage]) -> Iterator[_Line]:
    """Put lines in order and number their sessions; lines may be missing between two passages of one session."""
    session, size, last = 0, 0, None
    for number, passage in enumerate(sorted((one for one in passages if one), key=_place_and_time)):
        for message in passage:
            size += 1
            if last is None or not _goes_on(last, message) or size > LONGEST_SESSION:
                session, size = session + 1, 1
            last = message
            yield _Line(message, _terms(message), number, session)


def _place_and_time(passage: Passage) -> tuple[str, float]:
    return passage[0].scene.scope.key, passage[0].sent_at.timestamp()


def _goes_on(last: Message, message: Message) -> bool:
    return last.scene.scope == message.scene.scope and message.sent_at - last.sent_at <= PAUSE


def _worths(terms: Sequence[str], lines: Sequence[_Line], weights: Weights) -> list[float]:
    """Give each line's worth in [0, 1]: how much of the question it counts as saying, and how much it says at all."""
    saying = {term: [at for at, line in enumerate(lines) if term in line.terms] for term in terms}
    rarity = {term: _rarity(term, len(said), len(lines), weights) for term, said in saying.items()}
    links, sessions = _links(lines, weights), _sessions(lines)
    covered = [0.0] * len(lines)
    for term, said in saying.items():
        for at, count in _counts(said, lines, links, sessions, weights).items():
            covered[at] += rarity[term] * count * (weights.saturation + 1.0) / (count + weights.saturation)
    whole = sum(rarity.values()) or 1.0
    return [_bent(share / whole) * _substance(line, weights) for share, line in zip(covered, lines, strict=True)]


def _rarity(term: str, having: int, lines: int, weights: Weights) -> float:
    alone = len(term) == 1 and not term.isascii()
    usual = math.prod(map(telling, term)) * (weights.single if alone else 1.0)
    return usual * math.log1p((lines - having + 0.5) / (having + 0.5))


def _counts(
    said: Sequence[int],
    lines: Sequence[_Line],
    links: Mapping[int, Sequence[tuple[int, float]]],
    sessions: Mapping[int, Sequence[int]],
    weights: Weights,
) -> Mapping[int, float]:
    """Say how often each line counts as saying what these lines say."""
    counts: dict[int, float] = defaultdict(float)
    for at in said:
        counts[at] += 1.0
        for other, share in links[at]:
            counts[other] += share
    for session in {lines[at].session for at in said} if weights.session else ():
        for at in sessions[session]:
            counts[at] += weights.session
    return counts


def _sessions(lines: Sequence[_Line]) -> Mapping[int, Sequence[int]]:
    sessions: dict[int, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        sessions[line.session].append(at)
    return sessions


def _links(lines: Sequence[_Line], weights: Weights) -> Mapping[int, Sequence[tuple[int, float]]]:
    """Say, for each line, which others count as saying what it says, and how much."""
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
    links[one].append((other, share))
    links[other].append((one, share))


def _is_one_talk(one: _Line, other: _Line) -> bool:
    return (one.passage, one.session) == (other.passage, other.session)


def _bent(coverage: float) -> float:
    """Bring into [0, 1] and lift the middle: a good answer seldom shares more than a third of what a question says."""
    return min(coverage * (1.0 + _MIDDLE) / (coverage + _MIDDLE), 1.0)


def _substance(line: _Line, weights: Weights) -> float:
    """Put lines that say little below those that say much; the longest lines stay as they are."""
    says = min(math.log1p(len(line.terms)) / math.log(_FULL_LENGTH), 1.0)
    return (1.0 + weights.substance * says) / (1.0 + weights.substance)


def _hit(lines: Sequence[_Line], at: int, worth: float) -> Hit:
    line = lines[at]
    near = range(max(at - SHOWN, 0), min(at + SHOWN + 1, len(lines)))
    shown = (lines[other] for other in near if other != at)
    neighbours = tuple(other.message for other in shown if _is_one_talk(other, line))
    return Hit(line.message.as_event(), worth, lexical=worth, relevance=worth, neighbours=neighbours)


def _terms(message: Message) -> tuple[str, ...]:
    speaker = "" if message.is_bot else message.scene.user_name
    return _indexed(indexed_text(speaker, message.sent_at, message.text))


@lru_cache(maxsize=8192)  # a group's talk of these days is asked again and again
def _indexed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(index_terms(text)))
