"""One vector per event."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from ... import sentences
from ...errors import BadArgument
from ...ports.models import Vector
from ..database.database import Database
from ..database.rows import bound
from ..database.statements import bounded, next_revision
from . import vector_changes
from .checkpoints import Checkpoint
from .exact_search import SqliteExactSearch
from .vector_changes import VectorChange


@dataclass(frozen=True)
class VectorRow:
    """A vector to be stored, with the text that it was made from (None if the text cannot have changed)."""

    event_id: str
    vector: Vector
    text: str | None = None


class VectorLedger:
    """Vectors stored with their events, so that an index is rebuilt without embedding again."""

    def __init__(self, database: Database, index: SqliteExactSearch) -> None:
        """Keep vectors in a database; ``index`` follows the model whose vectors are stored."""
        self._database = database
        self._index = index

    async def waiting(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Return ids and texts of active events without a vector of this embedding model, oldest first."""
        self._index.follow(fingerprint)
        return await self._database.read(_waiting, fingerprint, bounded(limit))

    async def store(self, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        """Store vectors; drop rows whose event is gone or has another text now."""
        for row in rows:
            if not has_direction(row.vector):
                raise BadArgument(
                    sentences.caller.bad_value("vector", row.event_id, sentences.storage_errors.VECTOR_WITH_DIRECTION)
                )
        self._index.follow(fingerprint)
        await self._database.write(_store, fingerprint, rows)

    async def lag(self, fingerprint: str) -> int:
        """Return the number of events that :meth:`waiting` would return without a limit."""
        self._index.follow(fingerprint)
        return await self._database.read(_lag, fingerprint)

    async def dimensions(self, fingerprint: str) -> int:
        """Return the length of the stored vectors of a fingerprint; 0 if there are none."""
        return await self._database.read(vector_changes.dimensions_of, fingerprint)

    async def changes(self, fingerprint: str, after: Checkpoint, limit: int) -> list[VectorChange]:
        """Return at most ``limit`` changes after a checkpoint, in order.

        An event that changed several times occurs once, in its current state; its ``row`` is None unless the event is
        active and has a vector of the fingerprint. Erased events do not occur; :class:`Eraser` returns their ids.
        """
        return await self._database.read(vector_changes.changes_after, fingerprint, after, bounded(limit))

    async def behind(self, fingerprint: str, after: Checkpoint) -> int:  # noqa: ARG002  # the port's: a change is one for any model
        """Return the number of changes after a checkpoint."""
        return await self._database.read(vector_changes.changes_left, after)

    async def embedded_ids(self, fingerprint: str) -> frozenset[str]:
        """Return the ids of all active events with a vector of the fingerprint."""
        return await self._database.read(vector_changes.embedded_ids, fingerprint)


def has_direction(vector: Vector) -> bool:
    """Return whether a vector has a finite length above 0."""
    length = math.hypot(*vector)
    return math.isfinite(length) and length > 0


def put(connection: Connection, seq: int, fingerprint: str, vector: Vector, revision: int) -> None:
    """Store the vector of an event."""
    connection.execute(
        "INSERT INTO vectors VALUES (?, ?) ON CONFLICT (seq) DO UPDATE SET vector = excluded.vector",
        (seq, vector.tobytes()),
    )
    connection.execute(
        "UPDATE events SET embedded_as = ?, revision = ? WHERE seq = ?", (*bound(fingerprint), revision, seq)
    )


def _store(connection: Connection, fingerprint: str, rows: Sequence[VectorRow]) -> None:
    revision = next_revision(connection)
    for row in rows:
        event = connection.execute("SELECT seq, text FROM events WHERE id = ?", bound(row.event_id)).fetchone()
        if event is not None and row.text in (None, event[1]):
            put(connection, event[0], fingerprint, row.vector, revision)
    connection.execute("UPDATE meta SET value = ? WHERE key = 'fingerprint'", bound(fingerprint))


def _waiting(connection: Connection, fingerprint: str, limit: int) -> list[tuple[str, str]]:
    query = "SELECT seq, id, text FROM events WHERE embedded_as = ? AND retired_at IS NULL ORDER BY seq LIMIT ?"
    found = [row for name in _other_models(connection, fingerprint) for row in connection.execute(query, (name, limit))]
    return [(event_id, text) for _, event_id, text in sorted(found)[:limit]]


def _lag(connection: Connection, fingerprint: str) -> int:
    query = "SELECT count(*) FROM events WHERE embedded_as = ? AND retired_at IS NULL"
    return sum(connection.execute(query, (name,)).fetchone()[0] for name in _other_models(connection, fingerprint))


def _other_models(connection: Connection, fingerprint: str) -> Iterator[str]:
    """Yield the other models of active events, at one index seek each; "" stands for events without a vector."""
    query = "SELECT min(embedded_as) FROM events WHERE embedded_as > ? AND retired_at IS NULL"
    name: str | None = ""
    while name is not None:
        if name != fingerprint:
            yield name
        name = connection.execute(query, (name,)).fetchone()[0]
