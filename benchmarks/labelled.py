"""What the benchmarks of labelled sets share: a memory to fill, a clock to set, answers and their figures, plain BM25.

A set is a pure reading of its file: places with lines, and questions whose evidence is known. Everything that is
measured goes through the façade.
"""

from __future__ import annotations

import importlib
import math
import re
import tempfile
from array import array
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

import cognitive_memory_core as core
from cognitive_memory_core.domain.hit import Hit
from cognitive_memory_core.errors import TransientError
from cognitive_memory_core.ports.models import Calibration, Embedder

ZONE = timezone(timedelta(hours=8))  # of the default settings
TOP = 10
WAIT = 60.0  # seconds
K1, B = 1.2, 0.75
KEPT = {
    "capture": {"log_days": 3650},  # sets tell of months; what a log forgets is not what is measured
    "vector_store": {"backend": "exact"},  # few enough to be compared one by one, which is exact anyway
}
_WORD = re.compile(r"\w+")
_RUN = re.compile("([一-龥]+)|([a-z0-9]+)")


@dataclass
class SetClock:
    """A clock that says what it was set to."""

    at: datetime = datetime(2026, 1, 1, tzinfo=ZONE)

    def now(self) -> datetime:
        """Give that instant."""
        return self.at


class NoEmbedder:
    """An embedder that is away whenever something is asked: what is found then is found by words."""

    fingerprint = "away"
    calibration = Calibration(unrelated=0.0, paraphrase=1.0)

    async def embed_documents(self, texts: Sequence[str]) -> list[array[float]]:
        """Give one and the same vector."""
        return [array("f", (1.0,)) for _ in texts]

    async def embed_query(self, text: str) -> array[float]:
        """Refuse."""
        raise TransientError("away")


@dataclass(frozen=True)
class Tuning:
    """How the memory that is measured differs from its defaults: settings by group, and the embedder."""

    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    embedder: Embedder | None = None


DEFAULTS = Tuning()


@asynccontextmanager
async def opened(clock: SetClock, tuning: Tuning = DEFAULTS) -> AsyncGenerator[core.CognitiveMemory, None]:
    """Open an empty memory without a model and without work in the background."""
    groups = {name: {**KEPT.get(name, {}), **tuning.settings.get(name, {})} for name in {*KEPT, *tuning.settings}}
    settings = core.Settings.from_mapping(groups)
    with tempfile.TemporaryDirectory() as folder:
        async with core.CognitiveMemory.open(
            settings, Path(folder), background=False, clock=clock, embedder=tuning.embedder
        ) as memory:
            yield memory


def written(lines: Iterable[Mapping[str, object]], path: Path) -> Path:
    """Write lines as an export file, which a memory imports."""
    head: Mapping[str, object] = {"format": "cognitive-memory", "version": 1}
    path.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in (head, *lines)))
    return path


@dataclass(frozen=True)
class Answer:
    """What one question was answered with: the evidence that each of the first hits stands for, and what lay beside."""

    shown: tuple[frozenset[str], ...]
    beside: frozenset[str] = frozenset()

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> Answer:
        """Read hits: a line of the log stands for itself, an event for the lines that it was made of."""
        first = list(hits)[:TOP]
        beside = (line.id for hit in first for line in hit.neighbours)
        return cls(tuple(_stands_for(hit) for hit in first), frozenset(beside))

    @property
    def found(self) -> frozenset[str]:
        """Everything that the hits themselves stand for."""
        return frozenset().union(*self.shown)

    def recall(self, evidence: Iterable[str]) -> float:
        """Give the share of the evidence that was found."""
        wanted = frozenset(evidence)
        return len(wanted & self.found) / len(wanted)


def _stands_for(hit: Hit) -> frozenset[str]:
    return frozenset((hit.event.id,) if hit.event.kind == "message" else hit.event.message_ids)


def mean(values: Sequence[float]) -> float:
    """Give the mean in %; of nothing it is no number."""
    return 100 * sum(values) / len(values) if values else math.nan


# --- plain BM25, what the memory is compared with ------------------------------------------------------------------


def words(text: str) -> list[str]:
    """Give the lower-case words."""
    return _WORD.findall(text.lower())


def characters(text: str) -> list[str]:
    """Give the Chinese characters and their pairs, and the other words whole."""
    terms: list[str] = []
    for run, word in _RUN.findall(text.lower()):
        terms += (word,) if word else (*run, *(run[at : at + 2] for at in range(len(run) - 1)))
    return terms


def bm25(terms: Sequence[str], texts: Sequence[Counter[str]]) -> list[int]:
    """Give the numbers of the texts that share a term, best first."""
    asked = list(dict.fromkeys(terms))
    lengths = [text.total() for text in texts]
    usual = sum(lengths) / max(len(lengths), 1) or 1.0
    having = {term: sum(term in text for text in texts) for term in asked}
    rarity = {term: math.log(1 + (len(texts) - count + 0.5) / (count + 0.5)) for term, count in having.items()}
    scores = [
        sum(rarity[term] * _saturated(text[term], length / usual) for term in asked if term in text)
        for text, length in zip(texts, lengths, strict=True)
    ]
    return sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])


def _saturated(count: int, length: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length))


class Bm25s:
    """The library bm25s over words that somebody else cuts."""

    def __init__(self, cut: Callable[[str], list[str]]) -> None:
        """Load it."""
        self._library: Any = importlib.import_module("bm25s")
        self._words = cache(cut)

    def best(self, question: str, texts: Sequence[str], count: int = TOP) -> list[int]:
        """Give the numbers of the best texts that share a word, best first."""
        return self.over(texts)(question, count)

    def over(self, texts: Sequence[str]) -> Callable[[str, int], list[int]]:
        """Index texts that are asked more than once."""
        index = self._library.BM25()
        index.index([self._words(text) or [""] for text in texts], show_progress=False)

        def best(question: str, count: int) -> list[int]:
            asked = [self._words(question) or [""]]
            found, scores = index.retrieve(asked, k=min(count, len(texts)), show_progress=False)
            return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]

        return best


def chinese_peer() -> Bm25s | None:
    """Give bm25s over the words of jieba, where both are installed."""
    if not _are_there("bm25s", "jieba"):
        return None
    jieba: Any = importlib.import_module("jieba")
    jieba.setLogLevel("ERROR")
    return Bm25s(lambda text: [word for word in jieba.lcut(text.lower()) if word.strip()])


def english_peer() -> Bm25s | None:
    """Give bm25s as it cuts English: no stop words, and stems where PyStemmer is installed too."""
    if not _are_there("bm25s"):
        return None
    library: Any = importlib.import_module("bm25s")
    stemmer = importlib.import_module("Stemmer").Stemmer("english") if _are_there("Stemmer") else None
    options = {"stopwords": "en_plus", "stemmer": stemmer, "return_ids": False, "show_progress": False}
    return Bm25s(lambda text: list(library.tokenize([text], **options)[0]))


def _are_there(*names: str) -> bool:
    return all(map(find_spec, names))
