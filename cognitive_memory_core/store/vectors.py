"""One vector per event, profile and belief, and what changed of those of events."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from sqlite3 import Connection
from typing import Generic, TypeVar

from .. import sentences
from ..domain.event import Event
from ..errors import BadArgument
from ..ports import Vector
from .database.database import Database, Table, reads, writes
from .database.rows import EVENT, LISTED, Columns, bound, bounded, listed, next_revision, select, vector_of
from .search.corpora import STANDING, dimensions_of

T = TypeVar("T")


@dataclass(frozen=True, order=True)
class Checkpoint:
    """A position in the ledger's sequence of changes: all changes up to it are applied."""

    revision: int = 0
    seq: int = 0


_BEGINNING = Checkpoint(1)  # events without any change have revision 0
_LATER = "(e.revision, e.seq) > (?, ?)"


VectorRow = tuple[str | int, str, Vector]
"""A vector to be stored, after the key of its row and the text that it was made from."""


class VectorBook(Table, Generic[T]):
    """One vector for each row of a table, of the model that its ``embedded_as`` names."""

    def __init__(
        self,
        database: Database,
        columns: Columns[T],
        vectors: str,
        text: Callable[[T], str],
        *,
        key: str = "id",
        where: str = "TRUE",
    ) -> None:
        """Keep vectors of ``text`` in the table ``vectors``, for rows that match a condition; ``key`` names a row."""
        super().__init__(database)
        self._columns, self._vectors, self._text, self._key, self._where = columns, vectors, text, key, where
        others = (f"e.embedded_as {order} ?1 AND {where}" for order in "<>")  # instead of <>, to use an index
        self._others = " UNION ALL ".join(select("e.seq", f"{columns.table} e", one) for one in others)

    @reads
    def waiting(self, connection: Connection, fingerprint: str, limit: int) -> list[tuple[str | int, str]]:
        """Return keys and texts of rows without a vector of this fingerprint (embedding model)."""
        rest = f"WHERE e.seq IN ({self._others} LIMIT ?2) ORDER BY e.seq"
        rows = self._columns.beside(connection, f"e.{self._key}", rest, bound(fingerprint, bounded(limit)))
        return [(key, self._text(one)) for key, one in rows]

    async def store(self, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        """Store vectors; drop rows that are gone or have another text now."""
        for key, _, vector in rows:
            if not has_direction(vector):
                told = sentences.storage_errors.VECTOR_WITH_DIRECTION
                raise BadArgument(sentences.caller.bad_value("vector", key, told))
        await self.database.write(self._store, fingerprint, rows)

    def _store(self, connection: Connection, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        rest = f"WHERE e.{self._key} = ? AND {self._where}"
        for key, text, vector in rows:
            for seq, one in self._columns.numbered(connection, rest, bound(key)):
                if text == self._text(one):
                    put(connection, self._columns.table, self._vectors, seq, fingerprint, vector)


class VectorLedger(VectorBook[Event]):
    """Vectors stored with their events, so that an index is rebuilt without embedding again."""

    def __init__(self, database: Database) -> None:
        """Keep vectors in a database."""
        super().__init__(database, EVENT, "vectors", attrgetter("text"), where="e.retired_at IS NULL")

    def _store(self, connection: Connection, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        super()._store(connection, fingerprint, rows)
        changed = (next_revision(connection), *bound(fingerprint), listed(bound(*(key for key, *_ in rows))))
        connection.execute(f"UPDATE events SET revision = ? WHERE embedded_as = ? AND id IN {LISTED}", changed)

    @reads
    def lag(self, connection: Connection, fingerprint: str) -> int:
        """Return the number of events that :meth:`waiting` would return without a limit."""
        return connection.execute(select("count(*)", f"({self._others})", "TRUE"), bound(fingerprint)).fetchone()[0]

    @reads
    def dimensions(self, connection: Connection, fingerprint: str) -> int:
        """Return the length of the stored vectors of a fingerprint; 0 if there are none."""
        return dimensions_of(connection, fingerprint)

    @reads
    def changes(
        self, connection: Connection, fingerprint: str, after: Checkpoint, limit: int
    ) -> list[tuple[Checkpoint, Event, Vector | None]]:
        """Return at most ``limit`` changes after a checkpoint, in order, each with its own.

        An event that changed several times occurs once, in its current state, and without a vector unless it is active
        and has one of the fingerprint: vector search must no longer find it then. Erased events do not occur.
        """
        vector, mark = f"CASE WHEN {STANDING} THEN v.vector END", max(after, _BEGINNING)
        rest = f"LEFT JOIN vectors v ON v.seq = e.seq WHERE {_LATER} ORDER BY e.revision, e.seq LIMIT ?"
        values = *bound(fingerprint), mark.revision, mark.seq, bounded(limit)
        rows = EVENT.beside(connection, f"e.revision, e.seq, {vector}", rest, values)
        return [
            (Checkpoint(revision, seq), event, None if stored is None else vector_of(stored))
            for revision, seq, stored, event in rows
        ]

    @reads
    def index_mark(self, connection: Connection) -> tuple[str, Checkpoint] | None:
        """Return which generation of a vector store was in use last, by ``build_id``, and what it is complete up to.

        This is stored in the ledger, so that after a crash or a restored backup it is never ahead of the changes.
        """
        query = "SELECT birth, revision, seq FROM index_marks ORDER BY revision DESC, seq DESC LIMIT 1"
        row = connection.execute(query).fetchone()
        return row and (row[0], Checkpoint(*row[1:]))

    @writes
    def note_index(self, connection: Connection, build_id: str, checkpoint: Checkpoint) -> None:
        """Store which generation is in use, and its checkpoint."""
        connection.execute("DELETE FROM index_marks")
        row = bound(build_id, checkpoint.revision, checkpoint.seq)
        connection.execute("INSERT INTO index_marks VALUES (?, ?, ?)", row)

    @reads
    def behind(self, connection: Connection, after: Checkpoint) -> int:
        """Return the number of changes after a checkpoint; a change is one for any model."""
        mark = max(after, _BEGINNING)
        return connection.execute(select("count(*)", "events e", _LATER), (mark.revision, mark.seq)).fetchone()[0]

    @reads
    def embedded_ids(self, connection: Connection, fingerprint: str) -> frozenset[str]:
        """Return the ids of all active events with a vector of the fingerprint."""
        rows = connection.execute(select("e.id", "events e", STANDING), bound(fingerprint)) if fingerprint else ()
        return frozenset(row[0] for row in rows)


def has_direction(vector: Vector) -> bool:
    """Return whether a vector has a finite length above 0."""
    length = math.hypot(*vector)
    return math.isfinite(length) and length > 0


def put(connection: Connection, table: str, vectors: str, seq: int, fingerprint: str, vector: Vector) -> None:
    """Store the vector of a row."""
    connection.execute(f"INSERT OR REPLACE INTO {vectors} VALUES (?, ?)", (seq, vector.tobytes()))
    connection.execute(f"UPDATE {table} SET embedded_as = ? WHERE seq = ?", (*bound(fingerprint), seq))


def drop(connection: Connection, table: str, vectors: str, seq: int) -> None:
    """Delete the vector of a row, because its text changed."""
    connection.execute(f"DELETE FROM {vectors} WHERE seq = ?", (seq,))
    connection.execute(f"UPDATE {table} SET embedded_as = '' WHERE seq = ?", (seq,))
