"""How much of a question a text says: what every score by words goes by."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..text.lexical.frequency import telling

HALF_WAY = 0.5


def covered(terms: Sequence[str], texts: Sequence[frozenset[str]], among: int | None = None) -> list[float]:
    """Give, for each text, the share of a question's weight that it says, in [0, 1].

    A term weighs by how rare it is in the language and ``among`` so many texts (None: these).
    """
    weights = {term: _weight(term, texts, len(texts) if among is None else among) for term in terms}
    whole = sum(weights.values())
    return [sum([weight for term, weight in weights.items() if term in text]) / whole for text in texts]


def bent(coverage: float, half_way: float = HALF_WAY) -> float:
    """Lift the middle of [0, 1]: a good answer seldom shares more than a third of what a question says."""
    return coverage * (1.0 + half_way) / (coverage + half_way)


def _weight(term: str, texts: Sequence[frozenset[str]], among: int) -> float:
    """What no text has is as rare as what one has."""
    having = sum([term in text for text in texts])
    return math.prod(map(telling, term)) * math.log1p(among / max(having, 1))
