"""Patterns that are compiled when they are first used: a hundred of them would double the time of an import."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Pattern:
    """A regular expression; only the ways of asking that are needed."""

    source: str

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression, ready for use."""
        return re.compile(self.source)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find every match, in order, none touching another."""
        return self.compiled.finditer(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text, or nothing."""
        return self.compiled.fullmatch(text)
