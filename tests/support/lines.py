"""Searches of the log: by words alone, and of given lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.database.rows import micros
from cognitive_memory_core.store.database.words import line_words
from cognitive_memory_core.store.search import lines as ranker
from cognitive_memory_core.store.search.lines import FoundLine, LineSearch, Reach
from cognitive_memory_core.text.query import Query
from tests.support.clock import NOON

LATER = NOON.replace(year=NOON.year + 1)


async def lines_with(
    lexical: Any, terms: Iterable[str], read_filter: ReadFilter, limit: int
) -> list[tuple[Message, float]]:
    """Return the lines that contain one of the terms, with their relevance, best first; none from around them."""
    search = LineSearch(Query("", tuple(terms)), read_filter, limit, NOON, Reach(limit, 0))
    found = await lexical._database.read(lexical.found_lines, search)
    return [(one.line, one.relevance) for one in found.lines]


def found_in(
    terms: Iterable[str],
    passages: Iterable[Iterable[Message]],
    weights: Mapping[str, float] | None = None,
    *,
    now: datetime = LATER,
    explains: bool = False,
    **query: Any,
) -> list[FoundLine]:
    """Search lines of one place for all lines that answer, best first; ``weights`` replace constants of the ranker."""
    lines = [line for passage in passages for line in passage]
    rows = ranker.LineRows()
    if lines:
        rows.load([(at, line_words(line, micros(line.sent_at))) for at, line in enumerate(lines)])
    everybody = ReadFilter(Scene.operator())
    count = max(len(lines), 1)
    asked = Query("", tuple(terms), **query)
    search = LineSearch(asked, everybody, count, now, Reach(count, count), explains=explains)
    with pytest.MonkeyPatch.context() as patched:
        for name, weight in (weights or {}).items():
            patched.setattr(ranker, name, weight)
        found = ranker.found_lines(rows, search, lambda some: {row: lines[row] for row in some})
        return [*found.lines]
