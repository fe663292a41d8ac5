"""Tests of the rows of a place and their words."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.store.database.words import hashed
from cognitive_memory_core.store.search import rows as held_rows
from cognitive_memory_core.store.search.rows import ALWAYS_READ, EventRows, WordRows
from cognitive_memory_core.text.terms import SEARCHED, telling_of

WORDS = st.lists(st.sampled_from("甲乙丙丁戊"), max_size=6)
STEPS = st.lists(st.tuples(st.integers(0, 12), WORDS | st.none()), max_size=60)
ASKED = [*"甲乙丙丁戊", "没有"]


def scored(rows: EventRows, terms: list[str]) -> dict[int, float]:
    """Return the score of each row by its sequence number."""
    return dict(zip(rows.seqs.values.tolist(), rows.scores(terms).tolist(), strict=True))


def order(scores: dict[int, float]) -> list[int]:
    """Return the rows, the best first."""
    return sorted(scores, key=lambda seq: -scores[seq])


def stored(seq: int, words: Iterable[str]) -> tuple[int, bytes]:
    """Return a row with these words, as it is read from the ledger."""
    return seq, array("I", {*map(hashed, words)}).tobytes()


def rows_of(rows: Iterable[tuple[int, Iterable[str]]]) -> EventRows:
    """Return rows with these seqs and terms, added at once."""
    held = EventRows()
    held.load([stored(*row) for row in rows])
    return held


def terms_in(rows: WordRows) -> set[int]:
    """Return the hashed terms of all rows."""
    return {*rows.terms.values.tolist(), *rows._index[0].tolist()}


def by_definition(rows: dict[int, set[str]], terms: list[str]) -> dict[int, float]:
    """Compute the scores: the share of the terms' weights, saturating, half of it scaled by BM25."""
    usual = sum(map(len, rows.values())) / max(len(rows), 1) or 1.0
    having = Counter(term for words in rows.values() for term in words)
    rarity = {term: math.log1p((len(rows) - having[term] + 0.5) / (having[term] + 0.5)) for term in terms}
    whole = sum(rarity[term] * telling_of(term) for term in terms)
    share = {
        seq: sum(rarity[term] * telling_of(term) for term in terms if term in words) / whole
        for seq, words in rows.items()
    }
    bm25 = {
        seq: sum(rarity[term] / (1 + 1.2 * (0.25 + 0.75 * len(words) / usual)) for term in terms if term in words)
        for seq, words in rows.items()
    }
    best = max(bm25.values(), default=0.0) or 1.0
    return {seq: one * 1.75 / (one + 0.75) * (0.5 + 0.5 * bm25[seq] / best) for seq, one in share.items()}


@pytest.mark.parametrize("scanned", [3, 10_000])
@given(steps=STEPS)
def test_any_history_scores_like_the_book(scanned: int, steps: list[tuple[int, list[str] | None]]) -> None:
    """After any additions, removals and changes the scores equal those by definition, with an index and without."""
    rows: dict[int, set[str]] = {}
    held = EventRows()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(held_rows, "SCANNED", scanned)
        for seq, words in steps:
            held.keep(held.seqs.values != seq)
            rows.pop(seq, None)
            if words is not None:
                held.load([stored(seq, words)])
                rows[seq] = set(words)
            expected, found = by_definition(rows, ASKED), scored(held, ASKED)
            assert found.keys() == expected.keys()
            assert all(math.isclose(found[one], expected[one]) for one in expected)
        assert scored(held, ASKED) == scored(rows_of(rows.items()), ASKED)  # to the last bit


def test_of_many_terms_the_rarest_are_searched() -> None:
    """A rare term counts, however many commoner ones stand before it; a term of no row takes no place."""
    common = [f"w{number}" for number in range(SEARCHED + 3)]
    rows = rows_of([(1, common), (2, common), (3, ["乌龙"])])
    found = scored(rows, [*common, "没有", "乌龙"])
    assert order(found) == order(scored(rows, ["乌龙", *common[: SEARCHED - 1]]))
    assert found[3] > 0


def test_the_commonest_terms_of_a_large_place_are_not_read() -> None:
    """A place where common terms have very many rows is searched by its rarer ones; eight terms are always read."""
    common = [f"w{number}" for number in range(9)]
    rows = rows_of((seq, [*common, "乌龙"] if seq == 7 else common) for seq in range(1, 4_200))
    found = scored(rows, [*common, "乌龙"])
    assert max(found, key=lambda seq: found[seq]) == 7
    assert order(found) == order(scored(rows, [*common[:7], "乌龙"]))
    read, _, _ = rows.find(np.fromiter(map(hashed, [*common, "乌龙"]), np.uint32))
    assert len(set(read.tolist())) == ALWAYS_READ
