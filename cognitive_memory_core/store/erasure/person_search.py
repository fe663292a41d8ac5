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

    def __init__(self, connection: Connection, search_strings: Iterable[str]) -> None:
        """Register the search as an SQL function of a connection, in place of an earlier search."""
        self._search_strings = sorted({text for text in search_strings if text})
        self._by_start: dict[str, list[str]] = {}
        for search_string in self._search_strings:
            self._by_start.setdefault(search_string[:2], []).append(search_string)
        connection.create_function(_FUNCTION, 1, self.is_in, deterministic=True)

    def is_in(self, text: str) -> bool:
        """Return whether a text contains any of the search strings; the time hardly depends on their number."""
        starts = {*text, *map("".join, pairwise(text))}
        return any(wanted in text for start in self._by_start.keys() & starts for wanted in self._by_start[start])

    def within(self, texts: str) -> Filter:
        """Return the SQL condition that ``texts``, an SQL expression, contains one of the search strings."""
        if len(self._search_strings) > FEW:
            return f"{_FUNCTION}({texts})", ()
        found = select("1", "json_each(?) wanted", f"instr({texts}, wanted.value)")
        return f"EXISTS ({found})", (listed(self._search_strings),)
