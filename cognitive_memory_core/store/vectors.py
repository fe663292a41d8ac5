"""One vector per event."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from .. import sentences
from ..errors import BadArgument
from ..ports import EmbeddedEvent, Vector
from .database.database import Database, Table, reads, writes
from .database.rows import EVENT, bound, bounded, next_revision, select, vector_of
from .search.corpora import STANDING, Corpora, dimensions_of


@dataclass(frozen=True, order=True)
class Checkpoint:
    """A position in the ledger's sequence of changes: all changes up to it are applied."""

    revision: int = 0
    seq: int = 0


class CheckpointBook(Table):
    """The checkpoint of each generation of a vector store.

    It is stored in the ledger, so that after a crash or a restored backup it is never ahead of the ledger's changes.
    """

    @reads
    def checkpoint(self, connection: Connection, build_id: str) -> Checkpoint | None:
        """Return the checkpoint of the generation with this ``build_id``; None if none was stored."""
        row = connection.execute("SELECT revision, seq FROM index_marks WHERE birth = ?", bound(build_id)).fetchone()
        return None if row is None else Checkpoint(*row)

    @reads
    def furthest(self, connection: Connection) -> Checkpoint | None:
        """Return the furthest checkpoint of all generations; None if none was stored."""
        row = connection.execute(
            "SELECT revision, seq FROM index_marks ORDER BY revision DESC, seq DESC LIMIT 1"
        ).fetchone()
        return None if row is None else Checkpoint(*row)

    @writes
    def note(self, connection: Connection, build_id: str, checkpoint: Checkpoint) -> None:
        """Store a generation's checkpoint; those of other generations are kept."""
        query = "INSERT OR REPLACE INTO index_marks VALUES (?, ?, ?)"
        connection.execute(query, bound(build_id, checkpoint.revision, checkpoint.seq))

    @writes
    def keep_only(self, connection: Connection, build_id: str) -> None:
        """Delete the checkpoints of all other generations."""
        connection.execute("DELETE FROM index_marks WHERE birth <> ?", bound(build_id))


_BEGINNING = Checkpoint(1)  # events without any change have revision 0
_LATER = "(e.revision, e.seq) > (?, ?)"
_OF_A_MODEL = "embedded_as = ? AND retired_at IS NULL"
_COLUMNS = ", ".join(f"e.{name}" for name in ("revision", "seq", *EVENT.fields))


@dataclass(frozen=True)
class VectorChange:
    """A change of one event's vector; if ``row`` is None, vector search must no longer find the event."""

    checkpoint: Checkpoint
    event_id: str
    row: EmbeddedEvent | None


@dataclass(frozen=True)
class VectorRow:
    """A vector to be stored, with the text that it was made from (None if the text cannot have changed)."""

    event_id: str
    vector: Vector
    text: str | None = None


class VectorLedger(Table):
    """Vectors stored with their events, so that an index is rebuilt without embedding again."""

    def __init__(self, database: Database, corpora: Corpora) -> None:
        """Keep vectors in a database; ``corpora`` compare those of the model that is stored."""
        super().__init__(database)
        self._corpora = corpora

    @reads
    def waiting(self, connection: Connection, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Return ids and texts of active events without a vector of this embedding model, oldest first."""
        self._corpora.follow(fingerprint)
        query = f"{select('seq, id, text', 'events', _OF_A_MODEL)} ORDER BY seq LIMIT ?"
        names = _other_models(connection, fingerprint)
        found = [row for name in names for row in connection.execute(query, (name, bounded(limit)))]
        return [(event_id, text) for _, event_id, text in sorted(found)[:limit]]

    async def store(self, fingerprint: str, rows: Sequence[VectorRow]) -> None:
        """Store vectors; drop rows whose event is gone or has another text now."""
        for row in rows:
            check_direction(row.vector, row.event_id)
        self._corpora.follow(fingerprint)
        await self.database.write(_store, fingerprint, rows)

    @reads
    def lag(self, connection: Connection, fingerprint: str) -> int:
        """Return the number of events that :meth:`waiting` would return without a limit."""
        self._corpora.follow(fingerprint)
        query, names = select("count(*)", "events", _OF_A_MODEL), _other_models(connection, fingerprint)
        return sum(connection.execute(query, (name,)).fetchone()[0] for name in names)

    @reads
    def dimensions(self, connection: Connection, fingerprint: str) -> int:
        """Return the length of the stored vectors of a fingerprint; 0 if there are none."""
        return dimensions_of(connection, fingerprint)

    @reads
    def changes(self, connection: Connection, fingerprint: str, after: Checkpoint, limit: int) -> list[VectorChange]:
        """Return at most ``limit`` changes after a checkpoint, in order.

        An event that changed several times occurs once, in its current state; its ``row`` is None unless the event is
        active and has a vector of the fingerprint. Erased events do not occur; :class:`Eraser` returns their ids.
        """
        vector, mark = f"CASE WHEN {STANDING} THEN v.vector END", max(after, _BEGINNING)
        source = "events e LEFT JOIN vectors v ON v.seq = e.seq"
        query = select(f"{_COLUMNS}, {vector}", source, _LATER, "ORDER BY e.revision, e.seq LIMIT ?")
        found: list[VectorChange] = []
        for revision, seq, *fields, stored in connection.execute(
            query, (*bound(fingerprint), mark.revision, mark.seq, bounded(limit))
        ):
            event = EVENT.read(fields)
            row = None if stored is None else EmbeddedEvent(event, fingerprint, vector_of(stored))
            found.append(VectorChange(Checkpoint(revision, seq), event.id, row))
        return found

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


def check_direction(vector: Vector, whose: object) -> None:
    """Raise BadArgument for a vector without a direction."""
    if not has_direction(vector):
        told = sentences.storage_errors.VECTOR_WITH_DIRECTION
        raise BadArgument(sentences.caller.bad_value("vector", whose, told))


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


def _other_models(connection: Connection, fingerprint: str) -> Iterator[str]:
    """Yield the other models of active events, at one index seek each; "" stands for events without a vector."""
    query = "SELECT min(embedded_as) FROM events WHERE embedded_as > ? AND retired_at IS NULL"
    name: str | None = ""
    while name is not None:
        if name != fingerprint:
            yield name
        name = connection.execute(query, (name,)).fetchone()[0]
