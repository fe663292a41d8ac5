"""Hiding people: their ids and names in texts become 某位成员."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from .. import sentences
from .callnames import SHORTEST_NAME
from .characters import cleared_on_erasure
from .ids import BARE_ID
from .relative_words import is_leaning_word

_LETTERS = "0-9A-Za-z\u00c0-\u024f\u0370-\u052f"  # of scripts that put blanks between words
_ANY_ID = r"(?=[A-Za-z_.:@-]{0,64}[0-9])[0-9A-Za-z_.:@-]{1,64}"
Finder = Callable[[str], frozenset[str]]


def finder(words: Iterable[str]) -> Finder:
    """Return a function that finds which of the words occur in a text, whose time hardly depends on their number."""
    known = frozenset(words) - {""}
    lengths: dict[str, set[int]] = {}  # by the first two characters
    for word in known:
        lengths.setdefault(word[:2], set()).add(len(word))

    def found(text: str) -> frozenset[str]:
        pieces = (text[at : at + length] for at in range(len(text)) for length in lengths.get(text[at : at + 2], ()))
        return known.intersection({*pieces, *text}) if known else known

    return found


_NOTHING = finder(())


@dataclass(frozen=True)
class Redaction:
    """Replaces ids and names by 某位成员, and leaves other people's text unchanged.

    A name is hidden without an id only if :func:`hides_alone` allows it and no other person has it, and never
    before another person's id: otherwise a chosen name could blank out everybody's sentences.
    """

    ids: Finder = _NOTHING
    names: Finder = _NOTHING
    shared: frozenset[str] = frozenset()
    at_hand: frozenset[str] = frozenset()

    @classmethod
    def of(cls, ids: Iterable[str], names: Iterable[str], shared: Iterable[str] = ()) -> Redaction:
        """Create a redaction of people by ids and names.

        Names in ``shared``, which other people have as well, are hidden only beside an id.
        """
        return cls(finder(ids), finder(name.strip() for name in names), frozenset(map(str.strip, shared)))

    def knowing(self, names: Iterable[str]) -> Redaction:
        """Return a redaction that hides these names, too; meant for a few names that were just seen."""
        return replace(self, at_hand=self.at_hand | {name.strip() for name in names if name.strip()})

    def __call__(self, text: str) -> str:
        """Return the text with ids and names hidden."""
        ids = self.ids(text)
        names = {*self.names(text), *(name for name in self.at_hand if name in text)}
        alone = [name for name in names if name not in self.shared and hides_alone(name)]
        if not ids and not alone:
            return text
        return _pattern(_ordered(ids), _ordered(alone), _ordered(names if ids else ())).sub(
            lambda match: match[0] if match["other"] else sentences.context.SOMEBODY, text
        )


def hides_alone(name: str) -> bool:
    """Return whether a name may be hidden without an id beside it; not a number, a smiley or a word like 我."""
    has_letter = any(char.isalpha() and not char.isnumeric() for char in name)
    is_word = is_leaning_word(name) or name in sentences.context.SOMEBODY
    return len(name) >= SHORTEST_NAME and has_letter and not is_word


def _ordered(words: Iterable[str]) -> tuple[str, ...]:
    """Sort the words by length, longest first, so that no part of a longer name remains."""
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


@cleared_on_erasure
@lru_cache(maxsize=512)
def _pattern(ids: tuple[str, ...], alone: tuple[str, ...], names: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern that finds ids and names; a name before another person's id matches as the group ``other``."""
    theirs = rf"[(（](?:{_any_of(ids)})[)）]"
    numbers = _any_of(one for one in ids if len(one) >= BARE_ID)
    words = "|".join(map(_whole, alone)) or "(?!)"
    return re.compile(
        rf"(?:{_any_of(names)}){theirs}|(?P<other>(?:{words})(?!{theirs})[(（]{_ANY_ID}[)）])|(?:{words})(?:{theirs})?"
        rf"|(?<![0-9A-Za-z])(?:{numbers})(?![0-9A-Za-z])|(?<=[(（])(?:{_any_of(ids)})(?=[)）])"
    )


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, words)) or "(?!)"


def _whole(name: str) -> str:
    """Build a pattern for a name that does not match inside a longer word of spaced scripts."""
    before = f"(?<![{_LETTERS}])" if re.match(f"[{_LETTERS}]", name) else ""
    after = f"(?![{_LETTERS}])" if re.search(rf"[{_LETTERS}]\Z", name) else ""
    return before + re.escape(name) + after
