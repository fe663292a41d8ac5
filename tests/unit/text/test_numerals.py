"""Tests of parsing numbers as people write them."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.time.vocabulary import number, worth


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("两", 2), ("十", 10), ("十二", 12), ("三十一", 31), ("一百零五", 105), ("零", 0), ("two", 2), ("a", 1)],
)
def test_number(text: str, value: int) -> None:
    """Digits, Chinese numerals and English words up to twelve are parsed."""
    assert number(text) == value


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("三千二", 3200),
        ("一百五", 150),
        ("一百零五", 105),
        ("十二万五", 125000),
        ("二零二六", 2026),
        ("千", 1000),
        ("007", 7),
    ],
)
def test_worth(numeral: str, value: int) -> None:
    """A Chinese number of any size has its usual value, even if its last unit is left out."""
    assert worth(numeral) == value
