"""The terms that lines of a talk lend to each other: neighbours, replies, and lines of one topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .line_measures import Weights
from .talk_lines import TalkLine

REACH = 4  # lines before and after a line that count as its neighbours
MONOLOGUE = 0.5  # factor of an adjacent line by the same person in private: remarks of a diary, not an answer


def near_terms(
    lines: Sequence[TalkLine], lending: Sequence[frozenset[str]], weights: Weights
) -> Sequence[Sequence[tuple[frozenset[str], float]]]:
    """Return, for each line, the sets of terms that it borrows from other lines, each with its weight.

    A line borrows from the lines next to it, from the line that it answers and from those that answer it. ``lending``
    has the terms that each line lends.
    """
    near: list[list[tuple[frozenset[str], float]]] = [[] for _ in lines]
    shares = [(distance, weights.window * 0.5 ** (distance - 1)) for distance in range(1, REACH + 1)]
    ends = {line.talk: at for at, line in enumerate(lines)}
    starts = {line.talk: at for at, line in reversed([*enumerate(lines)])}
    for at, (line, terms) in enumerate(zip(lines, lending, strict=True)):
        start, end, is_private = starts[line.talk], ends[line.talk], line.is_private
        for distance, share in shares if terms and weights.window else ():
            for other in (at - distance, at + distance):
                if start <= other <= end:
                    goes_on = is_private and lines[other].message.sender_id == line.message.sender_id
                    near[other].append((terms, share * MONOLOGUE if goes_on else share))
    for at, answered in _replies(lines) if weights.reply else ():
        near[answered].append((lending[at], weights.reply))
        near[at].append((lending[answered], weights.reply))
    return near


def _replies(lines: Sequence[TalkLine]) -> Iterator[tuple[int, int]]:
    """Yield (index of a reply, index of the line that it replies to) for replies to one of the lines."""
    replying = [at for at, line in enumerate(lines) if line.message.reply_to]
    if replying:
        places = {(line.message.scene.scope, line.message.id): at for at, line in enumerate(lines)}
        for at in replying:
            answered = places.get((lines[at].message.scene.scope, lines[at].message.reply_to or ""))
            if answered is not None:
                yield at, answered


def shared_terms(
    lines: Sequence[TalkLine], lending: Sequence[frozenset[str]], monologues: frozenset[tuple[int, int]]
) -> Mapping[tuple[int, int], frozenset[str]]:
    """Map each topic to the terms that its lines lend to each other; a monologue in a private chat lends none.

    What one person says there in a row need not belong together, unlike an answer and its question.
    """
    shared: dict[tuple[int, int], set[str]] = defaultdict(set)
    for line, terms in zip(lines, lending, strict=True):
        if line.topic not in monologues:
            shared[line.topic] |= terms
    return {topic: frozenset(terms) for topic, terms in shared.items()}


def monologues_of(lines: Iterable[TalkLine]) -> frozenset[tuple[int, int]]:
    """Return the topics of private chats in which one side alone speaks."""
    speakers: dict[tuple[int, int], set[str]] = defaultdict(set)
    for line in lines:
        if line.is_private:
            speakers[line.topic].add(line.message.sender_id)
    return frozenset(topic for topic, of_topic in speakers.items() if len(of_topic) == 1)


def counts_of(
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
