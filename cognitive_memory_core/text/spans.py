"""Spans of a text: quotations, titles, known names; and a text with some of its spans blanked."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

Span = tuple[int, int]
MASK = "\u9f98"  # stands for what is not read as words: a character next to which no word begins or ends
_QUOTED = re.compile(
    "《[^《》]*》|“[^“”]*”|「[^「」]*」|『[^『』]*』|【[^【】]*】"
    '|"[^"\n]*"|`[^`\n]*`|(?:https?|ftp)://[!-~]+|(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}'
    "|(?<![A-Za-z0-9.-])(?:[A-Za-z0-9-]{1,63}[.]){1,4}(?:com|org|net|cn|io|ai|app|dev|tv|xyz|edu|gov)(?![A-Za-z0-9])"
)
LABEL = re.compile(r"[(（]([^()（）\s]{1,128})[)）]")  # an id, or another note, behind a name
_QUOTATION = re.compile(r"[^“”]{0,60}[：:]\s*“(.+)”[^“”]{0,40}$", re.DOTALL)


def blanked(text: str, spans: Iterable[Span], by: str = " ") -> str:
    """Return a text of the same length, with each character of the spans replaced."""
    chars = list(text)
    for start, stop in spans:
        chars[start:stop] = by * (min(stop, len(chars)) - start)
    return "".join(chars)


def quoted(text: str) -> Iterator[Span]:
    """Yield the spans of titles, quotations and addresses, including their delimiters."""
    return (match.span() for match in _QUOTED.finditer(text))


def named(text: str, names: Collection[str], is_word: Callable[[str], bool]) -> Iterator[Span]:
    """Yield the spans of known names, each including an id that follows it.

    A part of a longer Latin word or number is no name. A name that is one character, only digits, or an ordinary word
    (a person called 昨天) counts only as ``name(id)``: otherwise choosing a word as a name would disable that word.
    """
    for name in names:
        if name not in text or not name.strip():
            continue
        needs_label, start = len(name) == 1 or name.isdecimal() or is_word(name), text.find(name)
        while start >= 0:
            stop = start + len(name)
            label = LABEL.match(text, stop)
            is_part = _clings(text[start - 1 : start], name[0]) or _clings(name[-1], text[stop : stop + 1])
            if not is_part and (label or not needs_label):
                yield start, label.end() if label else stop
            start = text.find(name, stop)


def is_whole(text: str, start: int, name: str) -> bool:
    """Return whether a name stands at this index of a text and is not only the end of a longer word."""
    before = text[max(start - 1, 0) : max(start, 0)]
    clings = before.isalnum() if len(name) == 1 else _clings(before, name[:1])
    return start >= 0 and text.startswith(name, start) and not clings


def _clings(left: str, right: str) -> bool:
    return left.isascii() and right.isascii() and left.isalnum() and right.isalnum()


def unquoted(statement: str) -> str:
    """Return the words inside the quotation marks if a statement is one quotation, else the statement."""
    quoted = _QUOTATION.match(statement)
    return quoted[1] if quoted else statement
