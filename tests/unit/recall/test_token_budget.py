"""Tests of how the token budget is split among the sections of a context."""

from __future__ import annotations

import pytest

from cognitive_memory_core.recall.render import SHARES, Part, block, fenced, fitted
from cognitive_memory_core.text.tokens import token_count

FRAME = token_count(fenced(()))
NEARLY = 0.15  # only whole lines are kept, and token counts are rounded up


def a_part(kind="events", lines=50, *, newest_last=False, text="阿棠喜欢乌龙茶。"):
    """Return a part whose section has equal numbered lines."""
    return Part(kind, kind, tuple(f"- {number:03} {text}" for number in range(lines)), newest_last)


def tokens(section):
    """Count the tokens of a section with its heading."""
    return token_count(block([section])) - FRAME


def test_each_kind_has_its_share():
    """If all parts need more than there is, profiles and events get 35 % each, memos and the rest 15 % each."""
    sections = fitted([a_part(kind) for kind in ("rest", "profiles", "events", "memos")], 1_000 + FRAME)
    for section in sections:
        assert tokens(section) == pytest.approx(1_000 * SHARES[section.title], rel=NEARLY)


def test_what_one_leaves_unused_flows_on():
    """Budget that other sections do not use goes to the events."""
    (section,) = fitted([a_part("profiles", 0), a_part("events", 200), a_part("memos", 0)], 1_000 + FRAME)
    assert tokens(section) == pytest.approx(1_000, rel=NEARLY)
