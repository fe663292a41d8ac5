"""Term coverage of a query by a text: the basis of all lexical scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import nlargest

from ..text.lexical.frequency import telling
from ..text.lexical.related import RELATED, Related, meant
from ..text.lexical.terms import SEARCHED

SATURATION = 0.5


def covered(
    terms: Sequence[str],
    texts: Sequence[frozenset[str]],
    among: int | None = None,
    related: Sequence[Related] = (),
) -> list[float]:
    """Return, for each text, the share of the query's term weight that it contains, in [0, 1].

    A term's weight is its rarity in the language and among ``among`` texts (None: the given ones). Of a long query only
    as many of the heaviest terms make up the whole as are searched. Other words for what the query names (``related``)
    add :data:`RELATED` of their weight.
    """
    count = len(texts) if among is None else among
    weights = {term: _weight(term, texts, count) for term in terms}
    whole = sum(nlargest(SEARCHED, weights.values()))
    if related:
        texts = [text.union(meant(related, text)) for text in texts]
        weights |= {one.term: RELATED * math.log1p(count / max(_having(one.term, texts), 1)) for one in related}
    shares = (sum([weight for term, weight in weights.items() if term in text]) / whole for text in texts)
    return [min(share, 1.0) for share in shares]


def saturated(coverage: float, half_point: float = SATURATION) -> float:
    """Return a coverage in [0, 1] on a saturation curve: 0 and 1 stay; a smaller ``half_point`` raises the middle."""
    return coverage * (1.0 + half_point) / (coverage + half_point)


def _weight(term: str, texts: Sequence[frozenset[str]], among: int) -> float:
    """Return a term's weight; a term found in no text counts as found in one."""
    return math.prod(map(telling, term)) * math.log1p(among / max(_having(term, texts), 1))


def _having(term: str, texts: Sequence[frozenset[str]]) -> int:
    return sum([term in text for text in texts])
