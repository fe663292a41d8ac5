"""A cheap look for what names somebody, over every row of a table."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from sqlite3 import Connection

from ..database.statements import listed, select
from ..search.filters import Filter

FEW = 8  # up to so many SQLite looks for one after the other, beyond it one look at a text finds any number
_FUNCTION = "names_somebody"


class Needles:
    """Texts, one of which stands wherever somebody is named; people may have had any number of names."""

    def __init__(self, connection: Connection, needles: Iterable[str]) -> None:
        """Look through a connection, one person at a time."""
        self._needles = sorted({needle for needle in needles if needle})
        self._by_start: dict[str, list[str]] = {}
        for needle in self._needles:
            self._by_start.setdefault(needle[:2], []).append(needle)
        connection.create_function(_FUNCTION, 1, self.name, deterministic=True)

    def name(self, text: str) -> bool:
        """Tell whether one of them stands in a text, in a time that their number hardly matters to."""
        starts = {*text, *map("".join, pairwise(text))}
        return any(needle in text for start in self._by_start.keys() & starts for needle in self._by_start[start])

    def within(self, texts: str) -> Filter:
        """Compile the look at an expression."""
        if len(self._needles) > FEW:
            return f"{_FUNCTION}({texts})", ()
        found = select("1", "json_each(?) needle", f"instr({texts}, needle.value)")
        return f"EXISTS ({found})", (listed(self._needles),)
