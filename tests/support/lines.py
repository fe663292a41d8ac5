"""Searches of the log: by words alone, and of given lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.database.rows import micros
from cognitive_memory_core.store.database.words import line_words
from cognitive_memory_core.store.search import lines as ranker
from cognitive_memory_core.store.search.lines import FoundLine, LineSearch
from tests.support.clock import NOON


async def lines_with(
    lexical: Any, terms: Iterable[str], read_filter: ReadFilter, limit: int
) -> list[tuple[Message, float]]:
    """Return the lines that contain one of the terms, with their relevance, best first; none from around them."""
    search = LineSearch(tuple(terms), read_filter, limit, NOON, limit, reach=0)
    found = await lexical._database.read(lexical.found_lines, search)
    return [(one.line, one.relevance) for one in found.lines]


def found_in(
    terms: Iterable[str],
    passages: Iterable[Iterable[Message]],
    weights: Mapping[str, float] | None = None,
    **search: Any,
) -> list[FoundLine]:
    """Search lines of one place for all lines that answer, best first; ``weights`` replace constants of the ranker."""
    lines = [line for passage in passages for line in passage]
    rows = ranker.LineRows()
    if lines:
        rows.load([(at, line_words(line, micros(line.sent_at))) for at, line in enumerate(lines)])
    everybody = ReadFilter(Scene.operator())
    count = max(len(lines), 1)
    given = {"now": NOON.replace(year=NOON.year + 1), "candidates": count, "reach": count, **search}
    asked = LineSearch(tuple(terms), everybody, count, **given)
    with pytest.MonkeyPatch.context() as patched:
        for name, weight in (weights or {}).items():
            patched.setattr(ranker, name, weight)
        found = ranker.found_lines(rows, asked, lambda some: {row: lines[row] for row in some})
        return [*found.lines]
