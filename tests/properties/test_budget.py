"""The token budget is never exceeded, and lines are cut at whole sentences only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.recall.render import SHARES, Part, block, fenced, fitted
from cognitive_memory_core.text.tokens import sentences_of, token_count

TEXTS = st.text(st.sampled_from("甲乙丙。！？.!? abcé🚢12") | st.characters(exclude_characters="\r\n"), max_size=60)
LINES = st.lists(TEXTS.map("- {}".format), min_size=1, max_size=8).map(tuple)
PARTS = st.lists(st.builds(Part, st.sampled_from(sorted(SHARES)), TEXTS, LINES, st.booleans()), max_size=7)
BUDGETS = st.integers(0, 200).map(lambda room: token_count(fenced(())) + room) | st.integers(-10, 800)


@given(PARTS, BUDGETS)
def test_the_budget_is_never_exceeded(parts, budget):
    """The whole block, including fence and titles, has at most the tokens of the budget."""
    assert token_count(block(fitted(parts, budget))) <= max(budget, 0)


@given(PARTS, BUDGETS)
def test_whole_sentences_are_kept_from_the_relevant_end(parts, budget):
    """Each section keeps its most relevant lines, and of the last kept line whole sentences from its beginning."""
    sections = list(fitted(parts, budget))
    for part in parts:
        if not sections or sections[0].title != part.section.title:
            continue
        kept, given_lines = (list(one.lines) for one in (sections[0], part.section))
        if part.newest_last:
            kept, given_lines = kept[::-1], given_lines[::-1]
        if len(kept) <= len(given_lines) and _is_beginning(kept, given_lines):
            sections.pop(0)
    assert not sections


def _is_beginning(kept, lines):
    cut = sentences_of(lines[len(kept) - 1])
    beginnings = ["".join(cut[:size]) for size in range(1, len(cut) + 1)]
    return kept[:-1] == lines[: len(kept) - 1] and kept[-1] in beginnings


@given(PARTS)
def test_nothing_is_dropped_without_need(parts):
    """If everything fits into the budget, nothing is dropped or reordered."""
    whole = tuple(part.section for part in parts if part.section.lines)
    rounding = sum(len(section.lines) + 1 for section in whole) + 3
    assert fitted(parts, token_count(block(whole)) + token_count(fenced(())) + rounding) == whole
