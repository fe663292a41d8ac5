"""The terms under which a text is indexed and searched, the same on both sides of a search.

Chinese, Japanese and Korean are written without spaces, so pairs of neighbouring characters serve as words, in
simplified characters; other words are reduced to their stem. A term has only characters that SQLite's unicode61
treats as letters and leaves unchanged, so that one term is one token of the index.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable
from functools import cache
from operator import add
from zlib import crc32

from .characters import CharacterTable
from .frequency import ASKING_WORDS, FUNCTION_WORDS, telling
from .word_forms import simplified, stem

TERMS_VERSION = 3
_READ = 8_000  # characters of a text that are read
_INDEXED = 4_000  # terms of a text: 2,000 characters of Chinese
ASKED = 256  # terms of a question that are read: a question may stand at the end of a long message
SEARCHED = 64  # of them that are searched: the rarest
LEAST_TELLING = 0.5  # minimum weight of a single character searched beside pairs
_WORD_LENGTH = 64
_LAST_OF_16_BITS = "\uffff"
_FIRST_WITHOUT_ACCENTS = "\u2000"
_ONCE_MARKS = frozenset(map(chr, (*range(0x19B0, 0x19CA), 0x1CF2, 0x1CF3)))  # letters now; SQLite's Unicode is older

_HAN = "\U00020000", "\U000323af"
_IDEOGRAPHS = "㐀", "鿿"
_RUNNING_ON = f"々-〇ぁ-ゖゝ-ゟァ-ヺー-ヿㄅ-ㄯㇰ-ㇿ㐀-䶿一-鿿가-힣\uf900-\ufaff{_HAN[0]}-{_HAN[1]}"
_WORD = f"[^\\W_{_RUNNING_ON}]+"
_PIECE = re.compile(f"([{_RUNNING_ON}]+)|({_WORD}(?:[-._'@+]{_WORD})*)")
_PARTS = re.compile(r"[^\W_]+")
_CODE = re.compile(r"([^\W\d_]{2,})(\d{2,})|(\d{2,})([^\W\d_]{2,})|(\d{2,})x(\d{2,})")


def index_terms(text: str) -> list[str]:
    """Return the terms of a text with repetitions: characters, pairs, words and emoji."""
    terms: list[str] = []
    for run, word in pieces_of(text):
        if word:
            terms += _words(word)
        else:
            characters = _spelled(run)
            terms += characters
            terms += map(add, characters, characters[1:])
        if len(terms) >= _INDEXED:
            break
    return terms[:_INDEXED]


def query_terms(text: str, *, characters: bool = False) -> list[str]:
    """Return the distinct terms of a question in order: pairs and words, or single characters if there are no pairs.

    Very frequent terms and question words are used only if there are no others. With ``characters`` single characters
    are added beside the pairs, except the most frequent: short lines of chat may share characters
    without sharing a pair.
    """
    pieces = pieces_of(text)
    has_pairs = any(len(run) > 1 for run, _ in pieces)
    terms: list[str] = []
    for run, word in pieces:
        if word:
            terms += _asked(word)
        elif not has_pairs:
            terms += _spelled(run)
        else:
            spelled = _spelled(run)
            terms += map(add, spelled, spelled[1:])
            terms += _telling(run) if characters else ()
    asked = list(dict.fromkeys(terms))
    idle = _idle_terms()
    return ([term for term in asked if term not in idle] or asked)[:ASKED]


def hashed(term: str) -> int:
    """Return the 32-bit hash under which a term is indexed: the same in every process, and no text."""
    return crc32(term.encode("utf-8", "replace"))


def packed(label: Iterable[str], said: Iterable[str]) -> bytes:
    """Return a row's terms as it stores them: the number of the label's terms, their hashes, and those of the text."""
    labels = set(map(hashed, label))
    return array("I", (len(labels), *labels, *set(map(hashed, said)))).tobytes()


def pieces_of(text: str) -> list[tuple[str, str]]:
    """Split a text into (run, word) pairs: one is a run of unspaced script or a word, the other is ""."""
    folded = unicodedata.normalize("NFKC", text[:_READ]).casefold()
    return _PIECE.findall(folded.translate(_FOLDED))


def _spelled(run: str) -> list[str]:
    """Return each character of a run as a term; one above U+FFFF is written as its code point."""
    return (
        list(run)
        if max(run) <= _LAST_OF_16_BITS
        else [_numbered(char) if char > _LAST_OF_16_BITS else char for char in run]
    )


def _telling(run: str) -> list[str]:
    return [term for char, term in zip(run, _spelled(run), strict=True) if telling(char) >= LEAST_TELLING]


@cache
def _idle_terms() -> frozenset[str]:
    return frozenset(map(stem, FUNCTION_WORDS | ASKING_WORDS))


def _words(word: str) -> list[str]:
    """Return a word's stem, then its parts' stems: v2.3.1 as v231, v2, 3 and 1; 84bpm also as 84 and bpm."""
    if word.isalpha() or word.isdecimal():
        return [stem(word[:_WORD_LENGTH])]
    parts = [stem(part[:_WORD_LENGTH]) for part in _PARTS.findall(word)]
    terms = ["".join(parts)[:_WORD_LENGTH], *parts] if len(parts) > 1 else parts
    for part in parts:
        if halves := _CODE.fullmatch(part):
            terms += filter(None, halves.groups())
    return terms


def _asked(word: str) -> list[str]:
    return [term for term in _words(word) if len(term) > 1] or [word]


def _folded(char: str) -> str:
    """Fold a character as unicode61 needs it: no accents, an emoji becomes a word, other signs separate words."""
    category = unicodedata.category(char)
    if category[0] == "M":
        return ""
    if category[0] in "LN":
        return _folded_letter(char)
    if category == "So":
        return f" {_numbered(char)} "
    return char if char in "-._'@+" else " "


def _folded_letter(char: str) -> str:
    if _HAN[0] <= char <= _HAN[1] or _IDEOGRAPHS[0] <= char <= _IDEOGRAPHS[1]:
        return simplified(char)
    if char > _LAST_OF_16_BITS or char in _ONCE_MARKS:
        return f" {_numbered(char)} "
    return unicodedata.normalize("NFKD", char)[0] if char < _FIRST_WITHOUT_ACCENTS else char


def _numbered(char: str) -> str:
    return f"u{ord(char):x}"


_FOLDED = CharacterTable(_folded)
