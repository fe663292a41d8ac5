"""Permanent deletion of rows, with their index entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sqlite3 import Connection

from ..database.rows import EVENT_FIELDS, Row, bound, event_of
from ..database.statements import LISTED, delete, listed, select
from ..messages import drop
from ..search import words
from ..search.read_filter_sql import Filter

TOGETHER = 500  # rows read into memory at once
_FIELDS = ", ".join(("seq", *EVENT_FIELDS))


def events_of(connection: Connection, which: Filter) -> list[str]:
    """Delete the rows of events, active or retired, with their index entries; returns their ids."""
    ids: list[str] = []
    for chunk in chunks(seqs_of(connection, "events e", which)):
        query = select(_FIELDS, "events", f"seq IN {LISTED}")
        events = [(row[0], event_of(row[1:])) for row in connection.execute(query, (listed(chunk),)).fetchall()]
        words.drop_events(connection, events)
        rows(connection, "events", (f"seq IN {LISTED}", (listed(chunk),)))  # dependent rows are deleted by cascade
        ids += [event.id for _, event in events]
    return ids


def messages_of(connection: Connection, which: Filter) -> int:
    """Delete the rows of messages with their index entries; returns how many."""
    return sum(drop(connection, chunk) for chunk in chunks(seqs_of(connection, "messages e", which)))


def rows(connection: Connection, table: str, which: Filter) -> int:
    """Delete the rows of a table that match a condition, and by cascade their dependents; return how many."""
    return connection.execute(delete(table, which[0]), which[1]).rowcount


def ids_of(connection: Connection, table: str, which: Filter) -> list[str]:
    """Delete the rows of a table that match a condition; return their ids."""
    ids = [row[0] for row in connection.execute(select("id", table, which[0], "ORDER BY seq"), which[1]).fetchall()]
    rows(connection, table, which)
    return ids


def seqs_of(connection: Connection, source: str, which: Filter) -> list[int]:
    """Return the seqs of the rows of ``source`` (a table as ``e``) that match a condition, in insertion order."""
    found: Iterator[Row] = connection.execute(select("e.seq", source, which[0], "ORDER BY e.seq"), which[1])
    return [row[0] for row in found]


def chunks(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    """Split seqs into chunks of at most :data:`TOGETHER`."""
    return (seqs[start : start + TOGETHER] for start in range(0, len(seqs), TOGETHER))


def of_private_chats(user_id: str) -> Filter:
    """Return the SQL condition for the rows of a person's private chats with every agent, by the scope key."""
    ending = f"\x1fprivate\x1f{user_id}"
    return "substr(scope, -length(?1)) = ?1", bound(ending)
