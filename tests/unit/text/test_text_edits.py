"""Tests of applying several replacements to a text at once."""

from __future__ import annotations

from cognitive_memory_core.text.text_edits import Edit, edited


def test_edits_are_made_where_they_were_found() -> None:
    """Edits in any order are applied at their positions in the original text."""
    assert edited("昨天我去了", [Edit(2, 3, "阿棠"), Edit(0, 2, "3日")]) == "3日阿棠去了"


def test_of_two_that_overlap_the_first_given_stands() -> None:
    """Of two overlapping edits the first one is applied, so that a name with a time word stays whole."""
    assert edited("今天也很困来了", [Edit(0, 5, "困(9)"), Edit(0, 2, "4日")]) == "困(9)来了"
