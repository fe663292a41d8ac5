"""Chinese and English numerals."""

from __future__ import annotations

import re

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_EITHER = _DIGITS | {str(value): value for value in range(10)}  # people mix both: 三12
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_STEPS = {"万": 10_000, "亿": 100_000_000}
_UP_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_WORDS = {"a": 1, "an": 1} | {word: value for value, word in enumerate(_UP_TO_TWELVE.split(), 1)}
_NO_NUMBER = re.compile("[一二三四五六七八九两]{2}|[^零一二三四五六七八九两十百]|^$")  # 两三天 is no single number


def number(text: str) -> int:
    """Parse digits, Chinese numerals below a thousand, or an English word up to twelve; raise ValueError otherwise."""
    word = text.casefold()
    if word.isascii():
        return _WORDS[word] if word in _WORDS else int(word)
    if _NO_NUMBER.search(text):
        raise ValueError(text)
    return worth(text)


def worth(numeral: str) -> int:
    """Return the value of a numeral of any size; spelt digits (二零二六) and short forms (两千四) are supported."""
    if all(char in _EITHER for char in numeral):
        return int("".join(str(_EITHER[char]) for char in numeral))
    total = section = digit = 0
    last = 1
    for char in numeral:
        if char in _EITHER:
            digit, last = _EITHER[char], 1 if char == "零" else last
        elif char in _UNITS:
            last = _UNITS[char]
            section, digit = section + (digit or 1) * last, 0
        else:
            last = _STEPS[char]
            total, section, digit = (total + section + digit or 1) * last, 0, 0
    return total + section + digit * max(last // 10, 1)
