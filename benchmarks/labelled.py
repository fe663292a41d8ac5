"""Shared parts of the labelled benchmarks: the settings of a memory, answers with figures, plain BM25.

A set is read from its file: places with lines, and questions with known evidence. Everything measured goes through the
memory's public API.
"""

from __future__ import annotations

import importlib
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from importlib.util import find_spec
from itertools import chain
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.domain.answer import Hit
from tests.support.clock import FrozenClock

from .faults import world

ZONE = timezone(timedelta(hours=8))  # of the default settings
START = datetime(2026, 1, 1, tzinfo=ZONE)
TOP = 10
MESSAGES = ("message",)
WAIT = 60.0  # seconds
K1, B = 1.2, 0.75
SETTINGS = core.Settings.from_mapping(
    {
        "capture": {"log_days": 3650},  # sets cover months, and pruning of the log is not measured
        "vector_store": {"backend": "exact"},  # few enough for exact comparison
        "historian": {"poll_interval_seconds": 0.05},
    }
)
Search = Callable[[str, int], Sequence[int]]  # returns the numbers of so many texts for a question, best first
Peer = Callable[[Sequence[str]], Search]
_WORD = re.compile(r"\w+")
_RUN = re.compile("([一-龥]+)|([a-z0-9]+)")


@dataclass(frozen=True)
class Answer:
    """The answer to one question: all evidence behind the first hits, and the ids of adjacent lines."""

    found: frozenset[str]
    beside: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> Answer:
        """Build from hits: a log line stands for itself, an event for its source lines."""
        first = [*hits][:TOP]
        ids = ((hit.event.id,) if hit.event.kind == "message" else hit.event.message_ids for hit in first)
        return cls(frozenset(chain(*ids)), frozenset(line.id for hit in first for line in hit.neighbours))

    def recall(self, evidence: Collection[str]) -> float:
        """Return the share of the evidence that was found."""
        return len(self.found.intersection(evidence)) / len(evidence)


def mean(values: Sequence[float]) -> float:
    """Return the mean in percent; NaN for no values."""
    return 100 * sum(values) / len(values) if values else math.nan


# Conversations that are heard whole and asked about a day later.


@dataclass(frozen=True)
class Talk:
    """The turns of a conversation, oldest first, what is asked about it, and where; by default a stranger asks."""

    id: str
    turns: Sequence[core.Message]
    questions: Sequence[str]
    asker: core.Scene | None = None


async def heard(talks: Iterable[Talk], *counts: int) -> list[list[Sequence[str]]]:
    """Let a memory observe the talks; return the turns found for each question, in a list of each length."""
    clock, found = FrozenClock(START), list[list[Sequence[str]]]()
    async with world.a_memory(SETTINGS, background=False, clock=clock) as (memory, _):
        for talk in talks:
            for turn in talk.turns:
                await memory.observe(turn)
            await memory.drain(WAIT)  # lines are written behind: the first questions would find half of the log
            clock.instant = talk.turns[-1].sent_at + timedelta(days=1)
            scene = talk.asker or core.Scene.group(talk.id, "stranger")
            for question in talk.questions:
                asked = [await memory.search_events(scene, question, kinds=MESSAGES, top_k=count) for count in counts]
                found.append([[hit.event.id for hit in hits] for hits in asked])
    return found


def searched(talks: Iterable[Talk], peer: Peer, count: int) -> Iterator[Sequence[str]]:
    """Yield what a peer finds for each question among the turns with their speakers' names."""
    for talk in talks:
        best = peer([f"{turn.scene.user_name} {turn.text}" for turn in talk.turns])
        for question in talk.questions:
            yield [talk.turns[at].id for at in best(question, count)]


# Plain BM25, for comparison.


def plain(texts: Sequence[str]) -> Search:
    """Return a search by BM25 over lower-case words."""
    counts = [Counter(_WORD.findall(text.lower())) for text in texts]
    return lambda question, count: bm25(_WORD.findall(question.lower()), counts)[:count]


def bigrams(texts: Sequence[str]) -> Search:
    """Return a search by BM25 over characters and their pairs."""
    counts = [*map(_counted, texts)]
    return lambda question, count: bm25(characters(question), counts)[:count]


@cache
def _counted(text: str) -> Counter[str]:
    return Counter(characters(text))


def characters(text: str) -> list[str]:
    """Return Chinese characters and their pairs, and other words whole."""
    terms: list[str] = []
    for run, word in _RUN.findall(text.lower()):
        terms += (word,) if word else (*run, *(run[at : at + 2] for at in range(len(run) - 1)))
    return terms


def bm25(terms: Sequence[str], texts: Sequence[Counter[str]]) -> list[int]:
    """Return the indexes of the texts that share a term, best first."""
    asked = list(dict.fromkeys(terms))
    lengths = [text.total() for text in texts]
    usual = sum(lengths) / max(len(lengths), 1) or 1.0
    having = {term: sum(term in text for text in texts) for term in asked}
    rarity = {term: math.log(1 + (len(texts) - count + 0.5) / (count + 0.5)) for term, count in having.items()}
    scores = list[float]()
    for text, length in zip(texts, lengths, strict=True):
        slack = K1 * (1 - B + B * length / usual)
        scores.append(sum(rarity[one] * text[one] * (K1 + 1) / (text[one] + slack) for one in asked if one in text))
    return sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])


def _bm25s(cut: Callable[[str], list[str]]) -> Peer:
    """Return the library bm25s over words cut by a function."""
    library: Any = importlib.import_module("bm25s")
    words = cache(lambda text: cut(text) or [""])

    def over(texts: Sequence[str]) -> Search:
        index = library.BM25()
        index.index([words(text) for text in texts], show_progress=False)

        def best(question: str, count: int) -> list[int]:
            found, scores = index.retrieve([words(question)], k=min(count, len(texts)), show_progress=False)
            return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]

        return best

    return over


def chinese_peer() -> Peer | None:
    """Return bm25s over the words of jieba; None if either is not installed."""
    if not (find_spec("bm25s") and find_spec("jieba")):
        return None
    jieba: Any = importlib.import_module("jieba")
    jieba.setLogLevel("ERROR")
    return _bm25s(lambda text: [word for word in jieba.lcut(text.lower()) if word.strip()])


def english_peer() -> Peer | None:
    """Return bm25s with its English tokenizer: no stop words, stems if PyStemmer is installed; None if missing."""
    if not find_spec("bm25s"):
        return None
    library: Any = importlib.import_module("bm25s")
    stemmer = importlib.import_module("Stemmer").Stemmer("english") if find_spec("Stemmer") else None
    options = {"stopwords": "en_plus", "stemmer": stemmer, "return_ids": False, "show_progress": False}
    return _bm25s(lambda text: list(library.tokenize([text], **options)[0]))
