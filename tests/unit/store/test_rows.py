"""Tests of the rows of a place and their words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.store.search.rows import EventRows, Rows, hashed
from cognitive_memory_core.text.terms import SEARCHED

WORDS = st.lists(st.sampled_from("甲乙丙丁戊"), max_size=6)
STEPS = st.lists(st.tuples(st.integers(0, 12), WORDS | st.none()), max_size=60)
ASKED = [*"甲乙丙丁戊", "没有"]


def scored(rows: EventRows, terms: list[str]) -> dict[int, float]:
    """Return the score of each row by its sequence number."""
    return dict(zip(rows.seqs.values.tolist(), rows.bm25(terms).tolist(), strict=True))


def rows_of(rows: Iterable[tuple[int, Iterable[str]]]) -> EventRows:
    """Return rows with these seqs and terms, added at once."""
    held, known = EventRows(), list(rows)
    held.add([seq for seq, _ in known], [[*{*map(hashed, words)}] for _, words in known])
    return held


def terms_in(rows: Rows) -> set[int]:
    """Return the hashed terms of all rows."""
    in_postings = {term for terms, _, _ in rows.postings.segments for term in terms.tolist()}
    assert in_postings == set(rows.terms.values.tolist())
    return in_postings


def bm25(rows: dict[int, set[str]], terms: list[str]) -> dict[int, float]:
    """Compute the scores by definition; a term counts once for a row."""
    usual = max(sum(map(len, rows.values())) / max(len(rows), 1), 1.0)
    having = Counter(term for words in rows.values() for term in words)
    rarity = {term: math.log1p((len(rows) - having[term] + 0.5) / (having[term] + 0.5)) for term in terms}
    return {
        seq: sum(rarity[term] * 2.2 / (1 + 1.2 * (0.25 + 0.75 * len(words) / usual)) for term in terms if term in words)
        for seq, words in rows.items()
    }


@given(STEPS)
def test_any_history_scores_like_the_book(steps: list[tuple[int, list[str] | None]]) -> None:
    """After any additions, removals and changes the scores equal those by definition."""
    rows: dict[int, set[str]] = {}
    held = EventRows()
    for seq, words in steps:
        assert held.remove([seq]).tolist() == ([seq] if rows.pop(seq, None) is not None else [])
        if words is not None:
            held.add([seq], [[*{*map(hashed, words)}]])
            rows[seq] = set(words)
    expected = bm25(rows, ASKED)
    found = scored(held, ASKED)
    assert found.keys() == expected.keys()
    assert all(math.isclose(found[seq], expected[seq]) for seq in expected)
    assert found == scored(rows_of(rows.items()), ASKED)


def test_of_many_terms_the_rarest_are_searched() -> None:
    """A rare term counts, however many commoner ones stand before it; a term of no row takes no place."""
    common = [f"w{number}" for number in range(SEARCHED + 3)]
    rows = rows_of([(1, common), (2, common), (3, ["乌龙"])])
    found = scored(rows, [*common, "没有", "乌龙"])
    assert found == scored(rows, ["乌龙", *common[: SEARCHED - 1]])
    assert found[3] > 0


def test_the_commonest_terms_of_a_large_place_are_not_read() -> None:
    """A place where common terms have very many rows is searched by its rarer ones; eight terms are always read."""
    common = [f"w{number}" for number in range(9)]
    rows = rows_of((seq, [*common, "乌龙"] if seq == 7 else common) for seq in range(1, 4_200))
    found = scored(rows, [*common, "乌龙"])
    assert max(found, key=lambda seq: found[seq]) == 7
    assert found == scored(rows, [*common[:7], "乌龙"])
