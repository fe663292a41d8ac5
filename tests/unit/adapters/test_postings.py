"""Tests of the word postings of a place."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.store.search.postings import Postings
from cognitive_memory_core.store.search.top_rows import best

WORDS = st.lists(st.sampled_from("甲乙丙丁戊"), max_size=6)
STEPS = st.lists(st.tuples(st.integers(0, 12), WORDS | st.none()), max_size=60)
ASKED = [*"甲乙丙丁戊", "没有"]


def scored(postings: Postings, terms: list[str]) -> dict[int, float]:
    """Return the score of each row by its sequence number."""
    return dict(zip(postings.seqs.tolist(), postings.scores(terms).tolist(), strict=True))


def bm25(rows: dict[int, list[str]], terms: list[str]) -> dict[int, float]:
    """Compute the scores by definition."""
    usual = max(sum(map(len, rows.values())) / max(len(rows), 1), 1.0)
    having = Counter(term for words in rows.values() for term in set(words))
    rarity = {term: math.log1p((len(rows) - having[term] + 0.5) / (having[term] + 0.5)) for term in terms}
    return {
        seq: sum(
            rarity[term] * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(words) / usual))
            for term in terms
            if (count := words.count(term))
        )
        for seq, words in rows.items()
    }


@given(STEPS)
def test_any_history_scores_like_the_book(steps: list[tuple[int, list[str] | None]]) -> None:
    """After any additions, removals and changes the scores equal those by definition."""
    rows: dict[int, list[str]] = {}
    postings = Postings()
    for seq, words in steps:
        postings = postings.without([seq])
        rows.pop(seq, None)
        if words is not None:
            postings = postings.having([(seq, words)])
            rows[seq] = words
    expected = bm25(rows, ASKED)
    found = scored(postings, ASKED)
    assert found.keys() == expected.keys()
    assert all(math.isclose(found[seq], expected[seq]) for seq in expected)
    assert found == scored(Postings().having(list(rows.items())), ASKED)


def test_what_postings_show_never_changes() -> None:
    """Postings are immutable, so that a running search sees one state."""
    before = Postings().having([(number, ["甲", "乙"]) for number in range(10)])
    seen = scored(before, ["甲"])
    before.having([(99, ["甲"])])
    before.without([3])
    assert scored(before, ["甲"]) == seen


def test_what_is_left_out_leaves_nothing_behind() -> None:
    """Removing rows removes all their numbers."""
    kept = Postings().having([(1, ["甲"])])
    both = kept.having([(2, ["乙", "丙"])]).without([2])
    assert both.bytes == kept.bytes
    assert {number for segment in both.segments for number in segment.terms.tolist()} == {hash("甲")}


def test_adding_one_by_one_leaves_few_segments() -> None:
    """Adding rows one by one leaves few segments."""
    postings = Postings()
    for number in range(1000):
        postings = postings.having([(number, ["甲", str(number)])])
    assert len(postings.segments) <= 12
    assert sum(len(segment.rows) for segment in postings.segments) == 2000


def test_a_term_counts_by_its_times_up_to_a_bound() -> None:
    """The count of a term in a row is limited."""
    postings = Postings().having([(1, ["甲"] * 100_000), (2, ["乙"])])
    assert postings.segments[0].counts.tolist().count(255) == 1
    assert scored(postings, ["甲"])[1] > 0


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=12), st.integers(0, 14))
def test_the_best_are_the_highest_and_of_equals_the_newest(scores: list[float], limit: int) -> None:
    """The best rows are those with the highest scores, and of equal ones the newest."""
    seqs = np.arange(len(scores))[::-1].copy()
    expected = sorted(zip(seqs.tolist(), scores, strict=True), key=lambda row: (-row[1], -row[0]))[:limit]
    assert list(best(seqs, np.array(scores), limit).items()) == expected


def test_of_many_terms_the_rarest_are_searched():
    """A rare term counts, however many commoner ones stand before it; a term of no row takes no place."""
    common = [f"w{number}" for number in range(10)]
    postings = Postings().having([(1, common), (2, common), (3, ["乌龙"])])
    found = dict(zip((1, 2, 3), postings.scores([*common, "没有", "乌龙"], 3).tolist(), strict=True))
    few = dict(zip((1, 2, 3), postings.scores(["乌龙", *common[:2]], 3).tolist(), strict=True))
    assert found == few
    assert found[3] > 0


def test_the_commonest_terms_of_a_large_place_are_not_read():
    """A place where common terms have very many rows is searched by its rarer ones; eight terms are always read."""
    common = [f"w{number}" for number in range(9)]
    rows = [(seq, [*common, "乌龙"] if seq == 7 else common) for seq in range(1, 4_200)]
    postings = Postings().having(rows)
    found = postings.scores([*common, "乌龙"])
    assert postings.seqs[found.argmax()] == 7
    assert found.tolist() == postings.scores([*common[:7], "乌龙"]).tolist()
