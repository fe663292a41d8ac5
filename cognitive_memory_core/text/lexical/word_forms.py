"""One form for words that mean the same: simplified for traditional characters, the stem for an English word.

Both libraries are imported when the first such word comes along, which takes some fifty milliseconds: whoever opens a
memory calls :func:`prepare` in a thread.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import version
from threading import Lock
from typing import Protocol, cast

from ..caches import cleared_on_erasure

_REMEMBERED = 20_000
_SHORTEST = 4  # letters of a word that has an ending to lose
_LONGEST = 32
_stemming = Lock()  # a stemmer holds the word that it is at


class _Converter(Protocol):
    """What one library, which has no types, gives."""

    def convert(self, text: str) -> str:
        """Give a text in simplified characters."""
        ...


class _Stemmer(Protocol):
    """What the other gives."""

    def stemWord(self, word: str) -> str:  # noqa: N802  # the library's name
        """Give a word without its ending."""
        ...


def prepare() -> None:
    """Import what the other functions need."""
    simplified("龍")
    stem("words")


def forms_version() -> str:
    """Name the libraries' releases: another one may give other forms."""
    return "/".join(map(version, ("opencc", "snowballstemmer")))


def simplified(char: str) -> str:
    """Give the simplified form of one character."""
    return _converter().convert(char)


@cleared_on_erasure
@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """Give an English word, in small letters, without its ending; other words, codes and short words as they are."""
    if not (_SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()):
        return word
    with _stemming:
        return _stemmer().stemWord(word)


@cache
def _converter() -> _Converter:
    return cast("_Converter", import_module("opencc").OpenCC("t2s"))


@cache
def _stemmer() -> _Stemmer:
    return cast("_Stemmer", import_module("snowballstemmer.english_stemmer").EnglishStemmer())
