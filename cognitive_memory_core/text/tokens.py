"""The number of tokens that a text costs, and its sentences."""

from __future__ import annotations

import re
from functools import lru_cache

from .characters import CharacterTable, cleared_on_erasure
from .terms import FIRST_HAN, LAST_HAN, telling

_HUNDREDTHS = {"h": 100, "H": 160, "R": 210, "e": 400, "o": 100, "a": 25, "A": 50, "0": 100, ".": 100, " ": 10}
_FIRST_RARE = b"\xd8"  # GB 2312 lists the most frequent characters first, by sound, and the others from here on
_FIRST_SYMBOL, _LAST_SYMBOL = "\u2600", "\u27bf"
_SENTENCE = re.compile(r"[^。！？!?\r\n]*(?:[。！？!?]+[”’」』】〕）)\"']*|\r\n|[\r\n]|$)")


def token_count(text: str) -> int:
    """Estimate the number of tokens of a text; the estimate is high rather than low.

    Each kind of character counts as many tokens as in the vocabulary that needs most for this kind, of seven
    measured in November 2026: a Chinese character 1 if it is among the commonest, 1.6 if it is among the 3,755
    of daily use, 2.1 otherwise; an emoji 4, every other sign that is not ASCII 1; a digit 1, an ASCII letter a
    quarter, a capital a half, a space 0.1, other ASCII 1.
    """
    lines = text.split("\n")
    return (sum(map(_hundredths, lines)) + _HUNDREDTHS["."] * (len(lines) - 1) + 99) // 100


@cleared_on_erasure
@lru_cache(maxsize=4_096)  # the same lines are shown again and again
def _hundredths(line: str) -> int:
    kinds = line.translate(_KINDS)
    return sum(kinds.count(kind) * cost for kind, cost in _HUNDREDTHS.items())


def sentences_of(text: str) -> list[str]:
    """Split a text at line ends and after 。！？!? with closing quotes and brackets; no character is lost."""
    return [part for part in _SENTENCE.findall(text) if part]


def _kind(char: str) -> str:
    if char.isalpha() and char.isascii():
        return "A" if char.isupper() else "a"
    if char.isascii():
        return "0" if char.isdigit() else " " if char == " " else "."
    if FIRST_HAN <= char <= LAST_HAN:
        is_daily = b"\x7f" < char.encode("gb2312", "ignore") < _FIRST_RARE
        return "h" if telling(char) < 1.0 else "H" if is_daily else "R"
    return "e" if char > "\uffff" or _FIRST_SYMBOL <= char <= _LAST_SYMBOL else "o"


_KINDS = CharacterTable(_kind)
