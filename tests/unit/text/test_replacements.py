"""Replacements made at once."""

from __future__ import annotations

from cognitive_memory_core.text.replacements import Edit, edited


def test_edits_are_made_where_they_were_found() -> None:
    """Edits in any order land at their places of the original text."""
    assert edited("昨天我去了", [Edit(2, 3, "阿棠"), Edit(0, 2, "3日")]) == "3日阿棠去了"


def test_of_two_that_overlap_the_first_given_stands() -> None:
    """A name that holds a time word is not torn apart by it."""
    assert edited("今天也很困来了", [Edit(0, 5, "困(9)"), Edit(0, 2, "4日")]) == "困(9)来了"
