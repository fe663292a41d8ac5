"""Spans of a text that are not read as words: names, titles, quotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from .characters import folded

Span = tuple[int, int]
_QUOTED = re.compile(
    "《[^《》]*》|“[^“”]*”|「[^「」]*」|『[^『』]*』|【[^【】]*】"
    '|"[^"\n]*"|`[^`\n]*`|(?:https?|ftp)://[!-~]+|(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}'
    "|(?<![A-Za-z0-9.-])(?:[A-Za-z0-9-]{1,63}[.]){1,4}(?:com|org|net|cn|io|ai|app|dev|tv|xyz|edu|gov)(?![A-Za-z0-9])"
)
_LABEL = re.compile(r"[(（][^()（）\s]{1,128}[)）]")

_READ = 300  # characters of a statement
_NOTES = re.compile(
    r"[(（][0-9a-z_-]{1,128}[)）]|\d{4}[-/年]\d{1,2}(?:[-/月]\d{1,2}日?)?|\d{1,2}:\d{2}|\d{1,2}月\d{1,2}[日号]?"
)
_SPEECH = re.compile(r"^[^：:“”\"]{1,40}(?:说)?[：:]")
_QUOTATION = re.compile(r"[^“”]{0,60}[：:]\s*“(.+)”[^“”]{0,40}$", re.DOTALL)
_FRAME = " “”\"'（）()"
_SIGNS = re.compile(r"[\W_]+")


class TextMask:
    """The positions in one text whose characters are not read as words."""

    def __init__(self, length: int, spans: Iterable[Span] = ()) -> None:
        """Mask the characters of the spans."""
        self._marks = bytearray(length)
        for start, stop in spans:
            self._marks[start:stop] = b"\x01" * (min(stop, length) - start)

    def touches(self, start: int, stop: int) -> bool:
        """Return whether any of the characters is masked."""
        return any(self._marks[start:stop])

    def blanked(self, text: str) -> str:
        """Return the text with each masked character replaced by a space."""
        chars, start = list(text), self._marks.find(1)
        while start >= 0:
            stop = self._marks.find(0, start)
            stop = len(chars) if stop < 0 else stop
            chars[start:stop] = " " * (stop - start)
            start = self._marks.find(1, stop)
        return "".join(chars)


def quoted(text: str) -> Iterator[Span]:
    """Yield the spans of titles, quotations and addresses, including their delimiters."""
    return (match.span() for match in _QUOTED.finditer(text))


def named(text: str, names: Collection[str], is_word: Callable[[str], bool]) -> Iterator[Span]:
    """Yield the spans of known names, each including an id that follows it.

    A name that is one character, only digits, or an ordinary word (a person called 昨天) counts only as
    ``name(id)``: otherwise choosing a word as a name would disable that word.
    """
    for name in names:
        if name not in text or not name.strip():
            continue
        needs_label = len(name) == 1 or name.isdecimal() or is_word(name)
        for start, stop in occurrences(text, name):
            label = _LABEL.match(text, stop)
            if label or not needs_label:
                yield start, label.end() if label else stop


def occurrences(text: str, name: str) -> Iterator[Span]:
    """Yield the occurrences of a name that are not part of a longer Latin word or number."""
    at = text.find(name)
    while at >= 0:
        stop = at + len(name)
        if not (_clings(text[at - 1 : at], name[0]) or _clings(name[-1], text[stop : stop + 1])):
            yield at, stop
        at = text.find(name, stop)


def is_whole(text: str, start: int, name: str) -> bool:
    """Return whether a name stands at this index of a text and is not only the end of a longer word."""
    before = text[max(start - 1, 0) : max(start, 0)]
    clings = before.isalnum() if len(name) == 1 else _clings(before, name[:1])
    return start >= 0 and text.startswith(name, start) and not clings


def _clings(left: str, right: str) -> bool:
    return left.isascii() and right.isascii() and left.isalnum() and right.isalnum()


def outspoken(statement: str) -> str:
    """Return a statement without its speaker, ids, dates and times, folded by :func:`folded`."""
    return _SPEECH.sub("", _NOTES.sub("", folded(statement[:_READ])), count=1).strip(_FRAME)


def unquoted(statement: str) -> str:
    """Return the words inside the quotation marks if a statement is one quotation, else the statement."""
    quoted = _QUOTATION.match(statement)
    return quoted[1] if quoted else statement


def character_pairs(said: str) -> frozenset[str]:
    """Return the pairs of neighbouring characters of a text, after removing punctuation and spaces."""
    plain = _SIGNS.sub("", said)
    return frozenset(plain[at : at + 2] for at in range(len(plain) - 1))
