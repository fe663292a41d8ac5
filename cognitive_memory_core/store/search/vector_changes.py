"""The changes of the events' vectors, in order, for vector stores outside the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from ...ports.vectors import EmbeddedEvent
from ..database.rows import EVENT_FIELDS, Row, bound, event_of, vector_of
from ..database.statements import select
from .checkpoints import Checkpoint

_BEGINNING = Checkpoint(1)  # events without any change have revision 0
_FLOAT_BYTES = 4
_LATER = "(e.revision, e.seq) > (?, ?)"
_STANDING = "e.embedded_as = ? AND e.retired_at IS NULL"
_COLUMNS = ", ".join(f"e.{name}" for name in ("revision", "seq", *EVENT_FIELDS))


@dataclass(frozen=True)
class VectorChange:
    """A change of one event's vector; if ``row`` is None, vector search must no longer find the event."""

    checkpoint: Checkpoint
    event_id: str
    row: EmbeddedEvent | None


def dimensions_of(connection: Connection, fingerprint: str) -> int:
    """Return the vector length of the oldest active event with a vector of this model; 0 if there is none.

    The oldest one is used so that later vectors are checked against those already stored.
    """
    source = "events e CROSS JOIN vectors v ON v.seq = e.seq"
    query = select("length(v.vector)", source, _STANDING, "ORDER BY e.seq LIMIT 1")
    row = connection.execute(query, bound(fingerprint)).fetchone() if fingerprint else None
    return 0 if row is None else row[0] // _FLOAT_BYTES


def changes_after(connection: Connection, fingerprint: str, after: Checkpoint, limit: int) -> list[VectorChange]:
    """Return the changes after a checkpoint, each with the event's current state."""
    vector = f"CASE WHEN {_STANDING} THEN v.vector END"
    source = "events e LEFT JOIN vectors v ON v.seq = e.seq"
    query = select(f"{_COLUMNS}, {vector}", source, _LATER, "ORDER BY e.revision, e.seq LIMIT ?")
    rows = connection.execute(query, (*bound(fingerprint), *_position_of(after), limit))
    return [_change_of(row, fingerprint) for row in rows]


def changes_left(connection: Connection, after: Checkpoint) -> int:
    """Count the changes that :func:`changes_after` has yet to return."""
    return connection.execute(select("count(*)", "events e", _LATER), _position_of(after)).fetchone()[0]


def embedded_ids(connection: Connection, fingerprint: str) -> frozenset[str]:
    """Return the ids of all active events with a vector of a model."""
    rows = connection.execute(select("e.id", "events e", _STANDING), bound(fingerprint)) if fingerprint else ()
    return frozenset(row[0] for row in rows)


def _position_of(after: Checkpoint) -> tuple[int, int]:
    mark = max(after, _BEGINNING)
    return mark.revision, mark.seq


def _change_of(row: Row, fingerprint: str) -> VectorChange:
    revision, seq, *fields, vector = row
    event = event_of(fields)
    embedded = None if vector is None else EmbeddedEvent(event, fingerprint, vector_of(vector))
    return VectorChange(Checkpoint(revision, seq), event.id, embedded)
