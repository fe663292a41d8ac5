"""Regular expressions compiled on first use: compiling all of them at import would double the import time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .needed_characters import needed_characters


@dataclass(frozen=True)
class Pattern:
    """A regular expression, compiled on first use and not searched in texts without the characters that it needs."""

    source: str

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.source)

    @cached_property
    def needed(self) -> frozenset[str] | None:
        """Characters of which a text must have one to match; None if unknown."""
        return needed_characters(self.source)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find all non-overlapping matches, in order."""
        return self.compiled.finditer(text) if self._may_be_in(text) else iter(())

    def is_in(self, text: str) -> bool:
        """Return whether the text contains a match."""
        return self._may_be_in(text) and self.compiled.search(text) is not None

    def replaced(self, text: str, word: str) -> str:
        """Return the text with each match replaced by a word, as :meth:`re.Pattern.sub` does."""
        return self.compiled.sub(word, text) if self._may_be_in(text) else text

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text; None if it does not match."""
        return self.compiled.fullmatch(text)

    def _may_be_in(self, text: str) -> bool:
        return self.needed is None or not self.needed.isdisjoint(text)
