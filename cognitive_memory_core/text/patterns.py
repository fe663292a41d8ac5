"""Regular expressions compiled on first use: compiling all of them at import would double the import time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


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

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text; None if it does not match."""
        return self.compiled.fullmatch(text)
