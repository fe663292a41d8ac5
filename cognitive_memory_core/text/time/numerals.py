"""Chinese and English numerals."""

from __future__ import annotations

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2}
_EITHER = _DIGITS | {str(value): value for value in range(10)}  # people mix both: 三12
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_STEPS = {"万": 10_000, "亿": 100_000_000}
_UP_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_WORDS = {"a": 1, "an": 1} | {word: value for value, word in enumerate(_UP_TO_TWELVE.split(), 1)}


def number(text: str) -> int:
    """Parse digits, Chinese numerals below a thousand, or an English word up to twelve; raise ValueError otherwise."""
    word = text.casefold()
    if word.isascii():
        return _WORDS[word] if word in _WORDS else int(word)
    return _chinese(text)


def digits(text: str) -> int:
    """Parse a number spelt digit by digit (二零二五); raise ValueError otherwise."""
    return int("".join(str(_EITHER.get(char, char)) for char in text))


def worth(numeral: str) -> str:
    """Return a numeral in digits; spelt digits (二零二六) and short forms (两千四) are supported."""
    if numeral.isascii():
        return numeral.lstrip("0") or "0"
    if all(char in _EITHER for char in numeral):
        return "".join(str(_EITHER[char]) for char in numeral).lstrip("0") or "0"
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
    return str(total + section + digit * max(last // 10, 1))


def _chinese(text: str) -> int:
    total, digit = 0, None
    for char in text:
        if char in "十百":
            total += (1 if digit is None else digit) * (10 if char == "十" else 100)
            digit = None
        elif digit in (None, 0) and char in _DIGITS:
            digit = _DIGITS[char]
        else:  # 两三天: two adjacent digits are not a number
            raise ValueError(text)
    return total + (digit or 0)
