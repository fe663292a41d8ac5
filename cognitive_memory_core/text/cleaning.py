"""Texts without what is not text, on one line, and as ids are sought in them; errors as one line."""

from __future__ import annotations

import re
import unicodedata

from ..domain.event import shortened
from ..errors import CognitiveMemoryError
from .characters import CharacterTable, replacing

_MOST_MARKS = 3  # accents on one letter; no living script needs more
_ERROR_LENGTH = 300
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_USUAL = re.compile("[\n\t -~\u3001\u3002\u3008-\u3011\u4e00-\u9fa5\uff01-\uff5e]*")  # nothing in it is changed
_UNPLAIN = re.compile("[^\n\t -~\u3001\u3002\u4e00-\u9fa5]")  # any other sign may have a plainer spelling
_BLANKS = "\u115f\u1160\u3164\uffa0\u2800"  # letters and symbols that show nothing, worn as invisible names
JOINER = "\u200d"
_UNSEEN_MARKS = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f")
_EMOJI = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_STRAY_STYLE = re.compile(f"(?<![{_EMOJI}0-9#*\u00a9\u00ae\u203c\u2049\u2122\u2139])\ufe0f")
_STRAY_JOINER = re.compile(f"(?<![{_EMOJI}\ufe0f]){JOINER}|{JOINER}(?![{_EMOJI}])")


def one_line(text: str, limit: int | None = None) -> str:
    """Clean a text and put it on one line; over ``limit`` characters it is cut and ends in "…"."""
    line = " ".join(_spaced(clean_text(text)).split())
    return line if limit is None else shortened(line, limit)


def clean_text(text: str) -> str:
    r"""Remove non-text: control, format, private and unassigned characters, lone surrogates, excess accents.

    Line ends of every kind become \n; \n, \t and the joiners inside emoji stay. The result is in NFC.
    """
    if _USUAL.fullmatch(text):
        return text
    text = unicodedata.normalize("NFC", _LINE_END.sub("\n", text)).translate(_TEXT)
    text = _STRAY_JOINER.sub("", _STRAY_STYLE.sub("", text))
    if marks := "".join(char for char in set(text) if unicodedata.category(char)[0] == "M"):
        text = re.sub(f"([{marks}]{{{_MOST_MARKS}}})[{marks}]+", r"\1", text)
    return unicodedata.normalize("NFC", text)


def writable_text(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _shown(char: str) -> str:
    """Return a character, or "" if it is not text."""
    if char in ("\n", "\t", JOINER):
        return char
    is_unseen = unicodedata.category(char)[0] == "C" or char in _UNSEEN_MARKS
    is_variation = "\ufe00" <= char <= "\ufe0e" or "\U000e0100" <= char <= "\U000e01ef"
    return "" if is_unseen or is_variation else char


_TEXT = CharacterTable(_shown)
_spaced = replacing(dict.fromkeys(map(ord, _BLANKS), " "))
_LONGEST_SPELLING = 4  # one sign may expand to a whole sentence under NFKC


def plain(text: str) -> str:
    """Normalise a text for id matching: NFKC per character, no invisible characters, all digits as 0 to 9."""
    return _UNPLAIN.sub(lambda char: _SPELLED[ord(char[0])], clean_text(text))


def _spelled(char: str) -> str:
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    spelled = unicodedata.normalize("NFKC", char)
    return spelled if len(spelled) <= _LONGEST_SPELLING else " "


_SPELLED = CharacterTable(_spelled)


def described(error: BaseException) -> str:
    """Return an error as one bounded line; errors of other libraries are prefixed with their class."""
    is_own = isinstance(error, CognitiveMemoryError) and str(error)
    return one_line(str(error) if is_own else f"{type(error).__name__}: {error}", _ERROR_LENGTH)
