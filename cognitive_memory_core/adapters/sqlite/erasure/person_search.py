"""Substring search for a person's names and id over the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from sqlite3 import Connection

from ..database.statements import listed, select
from ..search.read_filter_sql import Filter

FEW = 8  # up to this many are searched one by one in SQL; more of them use one Python function
_FUNCTION = "names_somebody"


class PersonSearch:
    """Finds texts that contain one of a person's names or the id, at nearly the same cost for any number of names."""

    def __init__(self, connection: Connection, needles: Iterable[str]) -> None:
        """Register the search as an SQL function of a connection, in place of an earlier search."""
        self._needles = sorted({needle for needle in needles if needle})
        self._by_start: dict[str, list[str]] = {}
        for needle in self._needles:
            self._by_start.setdefault(needle[:2], []).append(needle)
        connection.create_function(_FUNCTION, 1, self.name, deterministic=True)

    def name(self, text: str) -> bool:
        """Return whether a text contains any of the search strings; the time hardly depends on their number."""
        starts = {*text, *map("".join, pairwise(text))}
        return any(needle in text for start in self._by_start.keys() & starts for needle in self._by_start[start])

    def within(self, texts: str) -> Filter:
        """Return the SQL condition that ``texts``, an SQL expression, contains one of the search strings."""
        if len(self._needles) > FEW:
            return f"{_FUNCTION}({texts})", ()
        found = select("1", "json_each(?) needle", f"instr({texts}, needle.value)")
        return f"EXISTS ({found})", (listed(self._needles),)
