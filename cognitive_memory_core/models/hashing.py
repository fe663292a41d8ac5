"""Vectors without a model, by hashing characters, pairs and words. They measure shared wording, not meaning."""

from __future__ import annotations

import asyncio
import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import add, mul

from ..ports import HASHING, Calibration, Vector
from ..text.characters import cleared_on_erasure
from ..text.terms import FUNCTION_WORDS, pieces_of, telling_of

DIMENSIONS = 512
_BATCH = 16  # texts that may be embedded on the event loop
_MOST_CACHED = 30_000  # features whose positions are cached
_NOTHING = 0  # the position used for a text without words
_PADDED = 16  # positions that hold padding, after it
_RESERVED = 1 + _PADDED  # positions without features
_WEIGHT_OF_PAIR = 0.3
_WEIGHT_OF_PART = 0.4
_WEIGHT_OF_FUNCTION_WORD = 0.1
_PADDING = 3.0  # about the length of a chat line
_PART = 3
_TOO_SHORT = 1e-6


class HashingEmbedder:
    """Feature hashing of characters, character pairs, words and parts of words; equal texts always get equal vectors.

    Documents are padded: each gets a fixed weight at vector positions that no query uses, so that two shared characters
    count more in a full sentence than in a line of three characters (as BM25 normalises by length). A text without
    words has a fixed vector.
    """

    name = "hash"
    fingerprint = f"{HASHING}v1-{DIMENSIONS}"
    calibration = Calibration(unrelated=0.004, paraphrase=0.35)  # measured on the pairs of the test suite

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents."""
        if len(texts) <= _BATCH:
            return _documents(texts)
        return await asyncio.to_thread(_documents, texts)

    async def embed_query(self, text: str) -> Vector:
        """Embed a query."""
        return _vector(_sums(text))


def _documents(texts: Sequence[str]) -> list[Vector]:
    vectors: list[Vector] = []
    for text in texts:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=2).digest()
        padding = _PADDING if digest[1] & 1 else -_PADDING
        vectors.append(_vector({**_sums(text), 1 + digest[0] % _PADDED: padding}))
    return vectors


def _sums(text: str) -> dict[int, float]:
    sums: dict[int, float] = {}
    for feature, count in Counter(_features(text)).items():
        times = 1.0 if count == 1 else 1.0 + math.log(count)
        for position, weight in _positions_of(feature):
            sums[position] = sums.get(position, 0.0) + weight * times
    return sums


@cleared_on_erasure
@lru_cache(_MOST_CACHED)
def _positions_of(feature: str) -> tuple[tuple[int, float], tuple[int, float]]:
    """Return the two vector positions of a feature, each with its signed weight."""
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    weight, room = _weight(feature) / math.sqrt(2.0), DIMENSIONS - _RESERVED
    one, other = (int.from_bytes(half, "big") for half in (digest[:4], digest[4:]))
    first, second = ((_RESERVED + (half >> 1) % room, weight if half & 1 else -weight) for half in (one, other))
    return first, second


def _vector(sums: dict[int, float]) -> Vector:
    vector = array("f", bytes(4 * DIMENSIONS))
    length = math.sqrt(math.fsum(map(mul, sums.values(), sums.values())))
    if length < _TOO_SHORT:
        vector[_NOTHING] = 1.0
        return vector
    for position, value in sums.items():
        vector[position] = value / length
    return vector


def _features(text: str) -> Iterator[str]:
    """Yield the features of a text; a word is marked by a leading space and a part of a word by a trailing one."""
    for run, word in pieces_of(text):
        if run:
            yield from run
            yield from map(add, run, run[1:])
        else:
            yield f" {word}"
            if len(word) > _PART and word.isalpha() and word not in FUNCTION_WORDS:  # codes that share digits differ
                marked = f"^{word}$"
                yield from (marked[at : at + _PART] + " " for at in range(len(marked) - _PART + 1))


def _weight(feature: str) -> float:
    if feature.startswith(" "):
        return _WEIGHT_OF_FUNCTION_WORD if feature[1:] in FUNCTION_WORDS else 1.0
    if feature.endswith(" "):
        return _WEIGHT_OF_PART
    return telling_of(feature) if len(feature) == 1 else _WEIGHT_OF_PAIR * telling_of(feature)
