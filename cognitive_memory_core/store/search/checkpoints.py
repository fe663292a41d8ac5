"""The checkpoint of each generation of a vector store."""

from __future__ import annotations

from sqlite3 import Connection

from ...ports.ledger import Checkpoint
from ..database.database import Database
from ..database.rows import bound


class SqliteCheckpoints:
    """Stores the checkpoint of each vector index: the last change of the ledger that the index contains."""

    def __init__(self, database: Database) -> None:
        """Keep checkpoints in a database."""
        self._database = database

    async def checkpoint(self, build_id: str) -> Checkpoint | None:
        """Return how far a generation (one build of the vector index) has followed the ledger; None if unknown."""
        return await self._database.read(_checkpoint, build_id)

    async def furthest(self) -> Checkpoint | None:
        """Return the furthest checkpoint of all generations; None if there is none."""
        return await self._database.read(_furthest)

    async def note(self, build_id: str, checkpoint: Checkpoint) -> None:
        """Store how far a generation (one build of the vector index) has followed the ledger."""
        await self._database.write(_note, build_id, checkpoint)

    async def keep_only(self, build_id: str) -> None:
        """Delete the checkpoints of all generations but one."""
        await self._database.write(_keep_only, build_id)


def _checkpoint(connection: Connection, build_id: str) -> Checkpoint | None:
    row = connection.execute("SELECT revision, seq FROM index_marks WHERE birth = ?", bound(build_id)).fetchone()
    return None if row is None else Checkpoint(*row)


def _furthest(connection: Connection) -> Checkpoint | None:
    row = connection.execute(
        "SELECT revision, seq FROM index_marks ORDER BY revision DESC, seq DESC LIMIT 1"
    ).fetchone()
    return None if row is None else Checkpoint(*row)


def _note(connection: Connection, build_id: str, checkpoint: Checkpoint) -> None:
    query = "INSERT OR REPLACE INTO index_marks VALUES (?, ?, ?)"
    connection.execute(query, bound(build_id, checkpoint.revision, checkpoint.seq))


def _keep_only(connection: Connection, build_id: str) -> None:
    connection.execute("DELETE FROM index_marks WHERE birth <> ?", bound(build_id))
