"""Tests of other everyday words for what a question names."""

from __future__ import annotations

from cognitive_memory_core.text.lexical.related import (
    GROUPS,
    MOST,
    meant,
    other_words,
    related,
)
from cognitive_memory_core.text.lexical.terms import index_terms, query_terms


def test_every_word_of_the_list_is_one_term_of_the_index() -> None:
    """A word of the list can be found: the index has it as one term."""
    for word in " ".join(GROUPS).split():
        assert word in index_terms(f"甲{word}乙"), word


def test_a_question_also_looks_for_other_words() -> None:
    """A question for one word looks for the others of its group, and none without such a word."""
    [one] = related(query_terms("这周在哪儿碰头"))
    assert one.asked == {"碰头"}
    assert {"集合", "见面"} <= one.others
    assert set(other_words((one,))) == one.others
    assert related(query_terms("量子纠缠")) == ()


def test_another_word_counts_only_where_the_own_one_is_missing() -> None:
    """A text with the question's own word gains nothing from another one."""
    found = related(("碰头",))
    assert list(meant(found, frozenset(index_terms("三点集合")))) == [found[0].term]
    assert list(meant(found, frozenset(index_terms("碰头的时候再集合")))) == []
    assert list(meant(found, frozenset(index_terms("今天好热")))) == []


def test_a_long_question_looks_for_a_few_groups() -> None:
    """The number of groups of one question is bounded."""
    assert len(related(" ".join(GROUPS).split()[::3])) == MOST
