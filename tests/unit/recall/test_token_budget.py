"""Tests of how the token budget is split among the sections of a context."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.domain.message import Section
from cognitive_memory_core.recall.render import SHARES, Part, block, fenced, fitted
from cognitive_memory_core.text.terms import token_count

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


def test_the_least_relevant_goes_first():
    """Events lose their last lines first; memos and pins, whose newest lines are last, lose their first."""
    (events,) = fitted([a_part("events")], 200 + FRAME)
    (memos,) = fitted([a_part("memos", newest_last=True)], 200 + FRAME)
    assert events.lines == a_part("events").section.lines[: len(events.lines)]
    assert memos.lines == a_part("memos").section.lines[-len(memos.lines) :]
    assert 0 < len(events.lines) < 50


def test_nothing_less_relevant_slips_in():
    """After a line that does not fit no other line is shown, however short."""
    section = Section("相关回忆", ("- 先说的", f"- {'很长' * 100}", "- 短"))
    (kept,) = fitted([Part("events", section.title, section.lines)], FRAME + 100)
    assert kept.lines == ("- 先说的",)


def test_no_sentence_is_cut_in_half():
    """A line that is too long loses whole sentences from its end."""
    two, three = "- 第一句说的是这个。第二句说的是那个！", "第三句什么都没有说？"
    section = Section("相关回忆", (f"{two}{three}",))
    room = token_count(block([replace(section, lines=(two,))]))
    (kept,) = fitted([Part("events", section.title, section.lines)], room + 4)
    assert kept.lines == (two,)
    assert fitted([Part("events", section.title, section.lines)], FRAME + 8) == ()
