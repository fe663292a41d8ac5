"""The checkpoint of each generation of a vector store."""

from __future__ import annotations

from dataclasses import dataclass
from sqlite3 import Connection

from ..database.database import Database
from ..database.rows import bound


@dataclass(frozen=True, order=True)
class Checkpoint:
    """A position in the ledger's sequence of changes: all changes up to it are applied."""

    revision: int = 0
    seq: int = 0


class CheckpointBook:
    """The checkpoint of each generation of a vector store.

    It is stored in the ledger, so that after a crash or a restored backup it is never ahead of the ledger's changes.
    """

    def __init__(self, database: Database) -> None:
        """Keep checkpoints in a database."""
        self._database = database

    async def checkpoint(self, build_id: str) -> Checkpoint | None:
        """Return the checkpoint of the generation with this ``build_id``; None if none was stored."""
        return await self._database.read(_checkpoint, build_id)

    async def furthest(self) -> Checkpoint | None:
        """Return the furthest checkpoint of all generations; None if none was stored."""
        return await self._database.read(_furthest)

    async def note(self, build_id: str, checkpoint: Checkpoint) -> None:
        """Store a generation's checkpoint; those of other generations are kept."""
        await self._database.write(_note, build_id, checkpoint)

    async def keep_only(self, build_id: str) -> None:
        """Delete the checkpoints of all other generations."""
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
