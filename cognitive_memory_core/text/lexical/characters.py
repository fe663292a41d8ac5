"""Character translation tables that are filled on demand."""

from __future__ import annotations

from collections.abc import Callable

_REMEMBERED = 20_000  # more than a busy chat uses; bounds memory for text with very many distinct characters


class CharacterTable(dict[int, str]):
    """A table for ``str.translate`` that calls ``rule`` once per character and caches the result."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        """Create an empty table."""
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str:
        """Call the rule and cache its result."""
        if len(self) >= _REMEMBERED:
            self.clear()
        self[code] = answer = self._rule(chr(code))
        return answer
