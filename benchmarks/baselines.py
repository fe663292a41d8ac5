"""Simple methods for comparison with the memory: exact numpy over a scope, and its postings in memory.

Postings were the fastest bare lexical query found; SQLite's FTS5 over pairs of characters was slower at every size.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cognitive_memory_core.text.terms import index_terms, query_terms

from .workload import Line, vector_of

K = 12
K1, B = 1.2, 0.75
Search = Callable[[str], object]


def numpy_search(lines: Sequence[Line]) -> Search:
    """Return an exact vector search of one scope: one matrix product, then the best ``K``."""
    matrix = np.stack([vector_of(line.text) for line in lines])

    def search(query: str) -> object:
        scores = matrix @ vector_of(query)
        best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
        return best[np.argsort(-scores[best])]

    return search


def postings_search(lines: Sequence[Line]) -> Search:
    """Return a search over one scope's postings, held in memory with precomputed BM25 weights."""
    bodies = [Counter(_terms(line.text)) for line in lines]
    mean = sum(body.total() for body in bodies) / len(bodies)
    holders: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, body in enumerate(bodies):
        for term, count in body.items():
            norm = K1 * (1 - B + B * body.total() / mean)
            holders[term].append((number, count * (K1 + 1) / (count + norm)))
    postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
    for term, found in holders.items():
        rarity = math.log(1 + (len(lines) - len(found) + 0.5) / (len(found) + 0.5))
        numbers, weights = zip(*found, strict=True)
        postings[term] = (np.array(numbers), rarity * np.array(weights))

    def search(query: str) -> object:
        scores = np.zeros(len(lines))
        for term in query_terms(query):
            if term in postings:
                numbers, weights = postings[term]
                scores[numbers] += weights
        best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
        return best[np.argsort(-scores[best])]

    return search


def _terms(text: str) -> list[str]:
    return [term for term in index_terms(text) if len(term) > 1]
