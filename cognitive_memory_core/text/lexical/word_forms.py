"""Normal forms of words: simplified characters for traditional ones, the stem of an English word.

Both libraries are imported on first use, which takes about fifty milliseconds: callers on an event loop
call :func:`prepare` in a thread first.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import version
from threading import Lock
from typing import Protocol, cast

from ..caches import cleared_on_erasure

_REMEMBERED = 20_000
_SHORTEST = 4  # minimum letters of a word that is stemmed
_LONGEST = 32
_stemming = Lock()  # a stemmer keeps state while it works on a word


class _Converter(Protocol):
    """The interface of the untyped library opencc."""

    def convert(self, text: str) -> str:
        """Convert a text to simplified characters."""
        ...


class _Stemmer(Protocol):
    """The interface of the untyped library snowballstemmer."""

    def stemWord(self, word: str) -> str:  # noqa: N802  # the library's name
        """Return the stem of a word."""
        ...


def prepare() -> None:
    """Import and initialise both libraries."""
    simplified("龍")
    stem("words")


def forms_version() -> str:
    """Return the versions of both libraries, because another version may produce other forms."""
    return "/".join(map(version, ("opencc", "snowballstemmer")))


def simplified(char: str) -> str:
    """Return the simplified form of one character."""
    return _converter().convert(char)


@cleared_on_erasure
@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; other words, codes and short words are unchanged."""
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
