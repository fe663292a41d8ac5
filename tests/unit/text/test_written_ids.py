"""Tests of ids in a text: which occur, which number is unknown, which name belongs to another id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.text.names import plain
from cognitive_memory_core.text.people import foreign_ids, ids_in

BEARERS = {"阿棠": {"1"}, "棠": {"2"}, "唐唐": {"2"}, "老齐": {"1", "2"}, "Li": {"3"}}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("阿棠(2000001)和20000", ["2000001", "20000"]),
        ("阿棠(7)", ["7"]),
        ("阿棠7岁，x2000001y，12000001", []),
        ("20000(2000001)", ["2000001"]),
        ("user_one来了", ["user_one"]),
    ],
)
def test_standing(text: str, found: list[str]) -> None:
    """An id counts in brackets, or alone from five characters on, but not inside a word or a name."""
    ids = ["2000001", "20000", "7", "user_one"]
    assert ids_in(text, ids, ["阿棠", "20000"]) == found


@pytest.mark.parametrize(
    ("number", "source"),
    [
        ("12000", "1.2万"), ("12000", "12k"), ("15000", "一万五"), ("20000", "两万"), ("300000", "三十万"),
        ("1200000", "1,200,000"), ("13800138000", "138 0013 8000"), ("12345", "１２３４５"),
    ],
)  # fmt: skip
def test_numbers_that_were_given_in_other_words(number: str, source: str) -> None:
    """A number is known if the source has it with gaps, in another width, or in thousands."""
    assert foreign_ids(f"共{number}", plain(source), {}, ()) == []
    assert foreign_ids(f"共{number}", "别的", {}, ()) == [number]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("阿棠(1)", []),
        ("阿棠(2)", ["2"]),
        ("棠(2)", []),
        ("海棠(1)", []),
        ("老齐(1)和老齐(2)", []),
        ("Charli(1)和Li(1)", ["1"]),
        ("谁(1)，阿棠(9)", []),
        ("唐唐(1)唐唐(1)", ["1"]),
    ],
)
def test_mislabelled(text: str, wrong: list[str]) -> None:
    """The longest known name before a bracket decides; unknown names and ids are ignored."""
    assert foreign_ids(text, "", BEARERS, ("1", "2", "3")) == wrong


@given(st.text(max_size=100), st.text(max_size=100))
def test_what_was_given_is_never_strange(text: str, more: str) -> None:
    """Every number of the source is known."""
    assert foreign_ids(plain(text), plain(text) + "\n" + plain(more), {}, ()) == []
