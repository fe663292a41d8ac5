"""Tables from single characters to what stands for them, filled as characters come along."""

from __future__ import annotations

from collections.abc import Callable

_REMEMBERED = 20_000  # more than a busy chat uses, and a bound against text that holds every character there is


class CharacterTable(dict[int, str]):
    """A table for ``str.translate`` that asks ``rule`` once for each character it meets."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        """Begin empty."""
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str:
        """Ask the rule, and remember its answer."""
        if len(self) >= _REMEMBERED:
            self.clear()
        self[code] = answer = self._rule(chr(code))
        return answer
