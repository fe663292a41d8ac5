"""How people who want to be left out vanish from what others said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from ... import sentences
from ..caches import cleared_on_erasure
from ..statements.lexicon import is_leaning_word

LONG_ID = 5  # characters; a shorter id is hidden only in brackets, where it cannot be a day or a count
SHORTEST_NAME = 2  # characters; a shorter name is hidden only before its id
FEW = 8  # up to so many words are looked for one after the other
MANY = 500  # of words that begin like something in a text, so many are looked for like that, too
_LETTERS = "0-9A-Za-z\u00c0-\u024f\u0370-\u052f"  # of scripts that put blanks between words
_ANY_ID = r"(?=[A-Za-z_.:@-]{0,64}[0-9])[0-9A-Za-z_.:@-]{1,64}"


class Vocabulary:
    """Any number of words, of which those that stand in a text are found in a time that hardly grows with them."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        """Sort the words by how they begin."""
        self._words = dict.fromkeys(word for word in words if word)
        self._by_start: dict[str, list[str]] = {}
        self._lengths: dict[str, set[int]] = {}
        for word in self._words:
            self._by_start.setdefault(word[:2], []).append(word)
            self._lengths.setdefault(word[:2], set()).add(len(word))

    def __iter__(self) -> Iterator[str]:
        """Give the words in the order in which they came."""
        return iter(self._words)

    def within(self, text: str) -> tuple[str, ...]:
        """Give the words that stand in a text."""
        if len(self._words) <= FEW:
            return tuple(word for word in self._words if word in text)
        starts = self._by_start.keys() & {*text, *map("".join, pairwise(text))}
        if sum(len(self._by_start[start]) for start in starts) > MANY:
            return tuple(self._words.keys() & self._pieces(text))
        return tuple(word for start in starts for word in self._by_start[start] if word in text)

    def _pieces(self, text: str) -> set[str]:
        """Give every piece of a text that begins like a word and is as long, and every character."""
        starts = enumerate(map("".join, pairwise(text)))
        return {text[at : at + length] for at, start in starts for length in self._lengths.get(start, ())} | {*text}


@dataclass(frozen=True)
class Redaction:
    """Turns ids and names into 某位成员, and leaves other people's words whole.

    A name hides nothing where it stands alone and :func:`hides_alone` says no, or where others bear it too, and
    nothing before somebody else's id: whoever chose it could otherwise unwrite everybody's sentences.
    """

    ids: Vocabulary = field(default_factory=Vocabulary)
    names: Vocabulary = field(default_factory=Vocabulary)
    shared: frozenset[str] = frozenset()
    at_hand: frozenset[str] = frozenset()

    @classmethod
    def of(cls, ids: Iterable[str], names: Iterable[str], shared: Iterable[str] = ()) -> Redaction:
        """Hide people by their ids and every name they had; ``shared`` are those that others bear as well."""
        return cls(Vocabulary(ids), Vocabulary(name.strip() for name in names), frozenset(map(str.strip, shared)))

    def hiding(self, ids: Iterable[str]) -> Redaction:
        """Hide these people, by the names known so far."""
        return replace(self, ids=Vocabulary(ids))

    def knowing(self, names: Iterable[str]) -> Redaction:
        """Hide them also by a few names that were just heard."""
        return replace(self, at_hand=self.at_hand | {name.strip() for name in names if name.strip()})

    def __call__(self, text: str) -> str:
        """Give the text without them."""
        ids = self.ids.within(text)
        names = {*self.names.within(text), *(name for name in self.at_hand if name in text)}
        alone = [name for name in names if name not in self.shared and hides_alone(name)]
        if not ids and not alone:
            return text
        return _pattern(_ordered(ids), _ordered(alone), _ordered(names if ids else ())).sub(_left, text)


def hides_alone(name: str) -> bool:
    """Tell whether a name may be hidden where no id follows: a number, a smile or a word like 我 tells of nobody."""
    has_letter = any(char.isalpha() and not char.isnumeric() for char in name)
    is_word = is_leaning_word(name) or name in sentences.somebody()
    return len(name) >= SHORTEST_NAME and has_letter and not is_word


def _ordered(words: Iterable[str]) -> tuple[str, ...]:
    """The longest first, so that a name inside another leaves no rest."""
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


def _left(match: re.Match[str]) -> str:
    return match[0] if match["other"] else sentences.somebody()


@cleared_on_erasure
@lru_cache(maxsize=512)
def _pattern(ids: tuple[str, ...], alone: tuple[str, ...], names: tuple[str, ...]) -> re.Pattern[str]:
    """Look for no more than what stands in a text. Whom somebody else's id follows is somebody else."""
    theirs = rf"[(（](?:{_any_of(ids)})[)）]"
    numbers = _any_of(one for one in ids if len(one) >= LONG_ID)
    words = "|".join(map(_whole, alone)) or "(?!)"
    return re.compile(
        rf"(?:{_any_of(names)}){theirs}|(?P<other>(?:{words})(?!{theirs})[(（]{_ANY_ID}[)）])|(?:{words})(?:{theirs})?"
        rf"|(?<![0-9A-Za-z])(?:{numbers})(?![0-9A-Za-z])|(?<=[(（])(?:{_any_of(ids)})(?=[)）])"
    )


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, words)) or "(?!)"


def _whole(name: str) -> str:
    """Find a name, but not inside a longer word where words are set apart."""
    before = f"(?<![{_LETTERS}])" if re.match(f"[{_LETTERS}]", name) else ""
    after = f"(?![{_LETTERS}])" if re.search(rf"[{_LETTERS}]\Z", name) else ""
    return before + re.escape(name) + after
