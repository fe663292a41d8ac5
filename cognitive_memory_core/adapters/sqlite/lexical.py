"""Search by words."""

from __future__ import annotations

from collections.abc import Sequence
from sqlite3 import Connection
from typing import TypeVar

from ...domain.event import Event
from ...domain.hit import Reading
from ...domain.message import Message
from .corpus import EVENTS, MESSAGES, Corpus
from .database import Database
from .statements import bounded, select
from .words import match

SPARE = 8  # best matches looked at beyond the limit, before a narrow reading pays for a join
T = TypeVar("T")


class SqliteLexical:
    """BM25 over FTS5."""

    def __init__(self, database: Database) -> None:
        """Search a database."""
        self._database = database

    async def events(self, terms: Sequence[str], reading: Reading, limit: int) -> list[tuple[Event, float]]:
        """Find events that share terms, best first."""
        return await self._database.read(_found, EVENTS, terms, reading, bounded(limit))

    async def messages(self, terms: Sequence[str], reading: Reading, limit: int) -> list[tuple[Message, float]]:
        """Find messages that share terms, best first."""
        return await self._database.read(_found, MESSAGES, terms, reading, bounded(limit))


def _found(
    connection: Connection, corpus: Corpus[T], terms: Sequence[str], reading: Reading, limit: int
) -> list[tuple[T, float]]:
    expression = match(terms, reading)
    if expression is None or not limit:
        return []
    ranked = _ranked(connection, corpus, expression, limit + SPARE)
    found = _admitted(connection, corpus, reading, ranked)
    if len(found) < limit and len(ranked) == limit + SPARE:  # too many of the best lie outside a narrow reading
        found = _admitted(connection, corpus, reading, _ranked_within(connection, corpus, expression, reading, limit))
    return found[:limit]


def _ranked(connection: Connection, corpus: Corpus[T], expression: str, limit: int) -> dict[int, float]:
    query = select("rowid, rank", corpus.words, f"{corpus.words} MATCH ?", "ORDER BY rank LIMIT ?")
    return dict(connection.execute(query, (expression, limit)))


def _ranked_within(
    connection: Connection, corpus: Corpus[T], expression: str, reading: Reading, limit: int
) -> dict[int, float]:
    clause, values = corpus.filter_of(reading)
    source = f"{corpus.words} w CROSS JOIN {corpus.table} e ON e.seq = w.rowid"  # CROSS: the words first
    query = select("w.rowid, w.rank", source, f"{corpus.words} MATCH ? AND {clause}", "ORDER BY w.rank LIMIT ?")
    return dict(connection.execute(query, (expression, *values, limit)))


def _admitted(
    connection: Connection, corpus: Corpus[T], reading: Reading, ranked: dict[int, float]
) -> list[tuple[T, float]]:
    items = corpus.at(connection, reading, list(ranked))
    return [(item, -ranked[seq]) for seq, item in items.items()]
