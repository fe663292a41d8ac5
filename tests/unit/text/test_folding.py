"""Tests of normalising texts before patterns are matched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.text.characters import folded


@given(st.text())
def test_every_character_keeps_its_place(text: str) -> None:
    """Normalising keeps the position of every character."""
    assert [folded(char) for char in text] == list(folded(text))
