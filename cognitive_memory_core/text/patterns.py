"""Regular expressions compiled on first use: compiling all of them at import would double the import time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

_NAMED_GROUP = re.compile(r"\(\?P([<=])(\w+)")


@dataclass(frozen=True)
class Pattern:
    """A regular expression that is compiled on first use."""

    source: str

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.source)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find all non-overlapping matches, in order."""
        return self.compiled.finditer(text)

    def is_in(self, text: str) -> bool:
        """Return whether the text contains a match."""
        return self.compiled.search(text) is not None

    def replaced(self, text: str, word: str) -> str:
        """Return the text with each match replaced by a word, as :meth:`re.Pattern.sub` does."""
        return self.compiled.sub(word, text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text; None if it does not match."""
        return self.compiled.fullmatch(text)


def any_of(patterns: Sequence[Pattern]) -> Pattern:
    """Return a pattern that matches wherever one of the patterns does; their named groups are renamed.

    The patterns must not refer to groups by number.
    """
    renamed = (_NAMED_GROUP.sub(rf"(?P\g<1>\g<2>_{number}", pattern.source) for number, pattern in enumerate(patterns))
    return Pattern("|".join(f"(?:{source})" for source in renamed))
