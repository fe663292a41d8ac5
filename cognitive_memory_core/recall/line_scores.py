"""Scores of chat lines as answers, by their own words and by those of the lines around them. Pure functions.

In a chat an answer seldom repeats the question: "who will do it" is answered by "me" two lines later. So each line
also gets, at a lower weight, the terms of its neighbours, of the line it replies to, and of its session's topic.
In a private chat where one side alone speaks (a monologue) a line's own words count as in BM25, and others lend little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ..domain.hit import Hit
from ..domain.message import Passage
from ..domain.scope import Scope
from .borrowed_terms import counts_of, monologues_of, near_terms, shared_terms
from .line_measures import WEIGHTS, Measure, Weights, is_echo, of_remarks, of_talk
from .talk_lines import TalkLine, talk_lines

SHOWN = 2  # lines before and after a line that are returned with a hit


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
    lines = list(talk_lines(passages))
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
    lines = list(talk_lines(passages))
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


def _worths(
    terms: Sequence[str],
    lines: Sequence[TalkLine],
    weights: Weights,
    asked_since: datetime | None,
    asides: frozenset[str],
) -> list[float]:
    """Return each line's score in [0, 1]: the part of the query that it covers, times a factor for its length."""
    asked = frozenset(terms)
    said = [line.said & asked for line in lines]
    labels = [(line.label & asked) - words for line, words in zip(lines, said, strict=True)]
    monologues = monologues_of(lines)
    usual = of_talk(asked, asides, (said, labels), weights)
    other = of_remarks(asked, asides, lines, said, weights) if monologues else usual
    measures = [other if line.topic in monologues else usual for line in lines]
    echoes = {at for at, line in enumerate(lines) if is_echo(line, usual, asked_since)}
    lending = [frozenset[str]() if at in echoes else words for at, words in enumerate(said)]
    covered = _coverage(lines, (said, labels, lending), measures, monologues)
    return [measure.score(line, share) for line, share, measure in zip(lines, covered, measures, strict=True)]


def _coverage(
    lines: Sequence[TalkLine],
    words: tuple[Sequence[frozenset[str]], Sequence[frozenset[str]], Sequence[frozenset[str]]],
    measures: Sequence[Measure],
    monologues: frozenset[tuple[int, int]],
) -> list[float]:
    """Return for each line the weight of the query's terms that it covers.

    ``words`` are for each line the terms that it says, those of its label, and those that it lends to other lines.
    The terms of a topic are summed once for all its lines; the sum is corrected for terms that a line has itself.
    """
    said, labels, lending = words
    weights = measures[0].weights if measures else WEIGHTS
    near = near_terms(lines, lending, weights)
    session, half = weights.session, weights.saturation
    least = session / (session + half) if session else 0.0
    shared: Mapping[tuple[int, int], frozenset[str]] = shared_terms(lines, lending, monologues) if session else {}
    weighed = {line.topic: measure.rarity for line, measure in zip(lines, measures, strict=True)}
    by_topic = {topic: least * sum([weighed[topic][term] for term in terms]) for topic, terms in shared.items()}
    covered: list[float] = []
    for at, (line, measure) in enumerate(zip(lines, measures, strict=True)):
        of_topic, total = shared.get(line.topic, frozenset()), by_topic.get(line.topic, 0.0)
        rarity, damping = measure.rarity, measure.damping(line)
        for term, count in counts_of(said[at], labels[at], near[at], weights).items():
            if term in of_topic:
                total += rarity[term] * ((count + session) / (count + session + half) - least)
            else:
                total += rarity[term] * (count / (count + (damping if term in said[at] else half)))
        covered.append(total * (half + 1.0))
    return covered


def _hit(lines: Sequence[TalkLine], at: int, worth: float) -> Hit:
    line = lines[at]
    near = range(max(at - SHOWN, 0), min(at + SHOWN + 1, len(lines)))
    shown = (lines[other] for other in near if other != at)
    neighbours = tuple(other.message for other in shown if other.talk == line.talk)
    said, reply_to = line.message.as_event(), line.message.reply_to or ""
    return Hit(said, worth, lexical=worth, relevance=worth, neighbours=neighbours, reply_to=reply_to)
