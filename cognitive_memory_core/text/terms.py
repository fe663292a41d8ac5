"""What a text is found by: the words of the lexical index, the same on both sides of a search."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from .characters import CharacterTable

TERMS_VERSION = 1
_READ = 8_000  # characters of a text that are looked at
_INDEXED = 4_000  # terms of a text that are kept: about 2,000 Chinese characters
_ASKED = 64
_WORD_LENGTH = 64

_WRITTEN_TOGETHER = "々-〇ぁ-ゖゝ-ゟァ-ヺー-ヿㄅ-ㄯㇰ-ㇿ㐀-䶿一-鿿가-힣豈-﫿\U00020000-\U000323af"
_PIECE = re.compile(f"([{_WRITTEN_TOGETHER}]+)|([^\\W_{_WRITTEN_TOGETHER}]+(?:[-._'@+][^\\W_{_WRITTEN_TOGETHER}]+)*)")
_PARTS = re.compile(r"[^\W_]+")
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")


def index_terms(text: str) -> list[str]:
    """Give the terms under which a text is found, repeated as often as they occur."""
    terms: list[str] = []
    for together, word in _PIECE.findall(_normal(text)):
        terms.extend(_written_together(together) if together else _of_word(word))
        if len(terms) >= _INDEXED:
            break
    return terms[:_INDEXED]


def query_terms(text: str) -> list[str]:
    """Give the terms of a question, each once, in order; single characters only where no pair can be asked for."""
    pieces = _PIECE.findall(_normal(text))
    runs = [_spelled(together) for together, _ in pieces if together]
    has_pairs = any(len(run) > 1 for run in runs)
    terms: dict[str, None] = {}
    for together, word in pieces:
        if not together:
            terms.update(dict.fromkeys(_asked(word)))
        else:
            run = _spelled(together)
            terms.update(dict.fromkeys(_pairs(run) if has_pairs else run))
    return list(terms)[:_ASKED]


def _normal(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text[:_READ]).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_CHARACTERS)


def _written_together(run: str) -> Iterator[str]:
    characters = _spelled(run)
    yield from characters
    yield from _pairs(characters)


def _pairs(characters: list[str]) -> list[str]:
    return [first + second for first, second in zip(characters, characters[1:], strict=False)]


def _spelled(run: str) -> list[str]:
    return [char if char <= "\uffff" else f"u{ord(char):x}" for char in run]


def _of_word(word: str) -> list[str]:
    parts = _PARTS.findall(word)
    whole = "".join(parts)[:_WORD_LENGTH]
    return [whole, *(part[:_WORD_LENGTH] for part in parts)] if len(parts) > 1 else [whole]


def _asked(word: str) -> list[str]:
    return [term for term in _of_word(word) if len(term) > 1] or [word]


def _character(char: str) -> str:
    """Fold a character to what FTS5's unicode61 keeps as it is, or to a space."""
    kind = unicodedata.category(char)
    if kind == "So":
        return f" u{ord(char):x} "
    if kind[0] == "M":
        return ""
    if kind[0] not in "LN":
        return char if char in "-._'@+" else " "
    if char > "\uffff" and not "\U00020000" <= char <= "\U000323af":
        return f" u{ord(char):x} "
    return unicodedata.normalize("NFKD", char)[0] if char < "\u2000" else char


_CHARACTERS = CharacterTable(_character)
