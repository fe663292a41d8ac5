"""Finds amounts of money in a text that its source does not contain: 675元 is not in 67块5."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from ..time.numerals import worth

_DIGITS = "0-9一二两三四五六七八九"
_AMOUNT = re.compile(
    "(?P<number>[0-9]{1,12}(?:,[0-9]{3}){0,4}(?:[.][0-9]{1,4})?|[零一二两三四五六七八九十百千万亿]{1,16}) ?"
    f"(?P<scale>[百千万亿kw]{{0,2}})(?P<rest>[{_DIGITS}](?![0-9百千万]))? ?(?:[多余几来好] ?)?"
    f"(?P<unit>块钱?|元(?![旦宵素件气首年])|美[元刀金])?(?P<part>[{_DIGITS}半](?![0-9十百千万]))?"
)
_SCALES = {"百": 100, "千": 1_000, "k": 1_000, "万": 10_000, "w": 10_000, "亿": 100_000_000}
_UNITS = "十百千万亿"
_HALF = "半"
_FEW = 10  # 三块蛋糕


class _Amount(NamedTuple):
    """The parts of one number with its suffixes: 1万8, 67块5."""

    number: str
    scale: str
    rest: str
    unit: str
    part: str

    @property
    def is_money(self) -> bool:
        """Whether it is almost certainly money."""
        if self.unit:
            return self.unit != "块" or self.whole >= _FEW
        return "万" in self.scale and self.number.replace(".", "").isdecimal()

    @property
    def whole(self) -> float:
        """The full value, 67.5 for 67块5."""
        if not (self.part and self.unit):
            return self.scaled
        return self.scaled + (0.5 if self.part == _HALF else _number(self.part) / 10)

    @property
    def scaled(self) -> float:
        """The value without the part after the unit."""
        scale = prod(_SCALES[char] for char in self.scale)
        rest = _number(self.rest) * scale / 10 if self.rest and scale > 1 else 0
        return _number(self.number) * scale + rest

    @property
    def readings(self) -> Iterator[float]:
        """All possible values: with and without the suffixes, and each of 三五千."""
        yield from (_number(self.number), self.scaled, self.whole)
        if not self.number[0].isascii():
            last = _number(self.number[-1]) if self.number[-1] in _UNITS else 1
            yield from (_number(char) * last for char in self.number if char not in _UNITS)


def strange_amounts(text: str, given: str) -> list[str]:
    """Return the amounts of money in a text that are not in ``given``; both are in plain spelling.

    Any number in ``given`` may be an amount, in each of its possible readings; sums are not computed.
    """
    written = {match[0].strip(): _Amount(*match.groups("")) for match in _AMOUNT.finditer(text.lower())}
    told = {word: amount for word, amount in written.items() if amount.is_money}
    if not told:
        return []
    numbers = {_Amount(*groups) for groups in _AMOUNT.findall(given.lower())}
    known = {round(value, 2) for amount in numbers for value in amount.readings}
    return [word for word, it in told.items() if known.isdisjoint((round(it.whole, 2), round(it.scaled, 2)))]


def _number(numeral: str) -> float:
    digits = numeral.replace(",", "")
    return float(digits) if digits.isascii() else float(worth(digits))
