"""Tombstones: keyed hashes of what was erased, and whether a purge is due."""

from __future__ import annotations

from datetime import datetime
from sqlite3 import Connection

from ..domain.erasure import Tombstones, covered_until
from ..domain.figures import PurgeState
from .database.rows import instant_of, micros


def tombstones_of(connection: Connection) -> Tombstones:
    """Read all tombstones; cheap while there are none."""
    found = connection.execute("SELECT digest, at_us FROM erasures").fetchall()
    marks = {digest: instant_of(at_us) for digest, at_us in found}
    return Tombstones(_key(connection), marks) if marks else Tombstones()


def keyed(connection: Connection) -> Tombstones:
    """Read all tombstones with the key of their hashes, which is created if there is none yet."""
    return Tombstones(_key(connection), tombstones_of(connection).marks)


def record(connection: Connection, digest: str, at: datetime) -> None:
    """Record an erasure, and that a purge is due."""
    standing = tombstones_of(connection).marks.get(digest)
    query = "INSERT INTO erasures VALUES (?, ?) ON CONFLICT (digest) DO UPDATE SET at_us = excluded.at_us"
    connection.execute(query, (digest, micros(covered_until(at, standing))))
    record_purge_due(connection, at)


def record_purge_due(connection: Connection, at: datetime) -> None:
    """Record that a purge (removal of erased bytes from the files) is due because of an erasure at ``at``."""
    connection.execute("UPDATE meta SET value = min(coalesce(value, ?1), ?1) WHERE key = 'purge_due_us'", (micros(at),))


def purge_state(connection: Connection) -> PurgeState:
    """Return when the oldest erasure was whose bytes are still on disk, and when the last purge was."""
    return PurgeState(_moment(connection, "purge_due_us"), _moment(connection, "purged_us"))


def purged(connection: Connection, at: datetime) -> None:
    """Record that the bytes of all erased rows are removed."""
    connection.execute("UPDATE meta SET value = NULL WHERE key = 'purge_due_us'")
    connection.execute("UPDATE meta SET value = ? WHERE key = 'purged_us'", (micros(at),))


def _key(connection: Connection) -> bytes:
    return bytes.fromhex(connection.execute("SELECT value FROM meta WHERE key = 'erasure_key'").fetchone()[0])


def _moment(connection: Connection, key: str) -> datetime | None:
    value = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0]
    return None if value is None else instant_of(value)
