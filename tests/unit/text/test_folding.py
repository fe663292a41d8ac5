"""The one spelling that patterns meet."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.text.lexical.folding import folded


def test_spelling() -> None:
    """Width, script, case and accents make no difference to a pattern."""
    assert folded("上週　後天 ＬＡＳＴ Août ３月") == "上周 后天 last aout 3月"


@given(st.text())
def test_every_character_keeps_its_place(text: str) -> None:
    """A place found in the folded text is the same place in the text, whatever it holds."""
    assert [folded(char) for char in text] == list(folded(text))
