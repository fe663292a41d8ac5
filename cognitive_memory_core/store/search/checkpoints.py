"""The checkpoint of each generation of a vector store."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from ..database.rows import bound
from ..database.table import Table, reads, writes


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
