"""The share of a query's terms that a text contains: the basis of all scores of word search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import chain

from ..text.caches import cleared_on_erasure
from ..text.lexical.frequency import telling_of
from ..text.lexical.terms import SEARCHED

SATURATION = 0.5


def covered(terms: Sequence[str], texts: Sequence[frozenset[str]], among: int | None = None) -> list[float]:
    """Return, for each text, the share of the query's term weight that the text contains, in [0, 1].

    A term weighs more the rarer it is in the language and among ``among`` texts (None: the given ones); one that no
    text has weighs as if one text had it. Of a long query only the heaviest terms count, as many as are searched.
    """
    if not texts:
        return []
    count = len(texts) if among is None else among
    asked = frozenset(terms)
    common = [asked & text for text in texts]
    having = Counter(chain.from_iterable(common))
    weights = {term: usual_weight(term) * math.log1p(count / (having.get(term) or 1)) for term in asked}
    whole = math.fsum(nlargest(SEARCHED, weights.values()))  # fsum: the order of a set says nothing
    return [min(math.fsum(map(weights.__getitem__, some)) / whole, 1.0) for some in common]


def saturated(coverage: float, half_point: float = SATURATION) -> float:
    """Map a coverage in [0, 1] to a saturation curve: 0 and 1 stay; a smaller ``half_point`` raises the middle."""
    return coverage * (1.0 + half_point) / (coverage + half_point)


@cleared_on_erasure
@lru_cache(maxsize=8192)
def usual_weight(term: str) -> float:
    """Return the weight of a term by its characters alone, in (0, 1]: lower for frequent ones."""
    return telling_of(term)
