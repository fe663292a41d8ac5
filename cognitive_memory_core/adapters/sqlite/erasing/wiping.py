"""Rows out of the ledger for good, with everything that they are found by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sqlite3 import Connection

from ..database.rows import EVENT_FIELDS, Row, bound, event_of
from ..database.statements import LISTED, delete, listed, select
from ..records.messages import drop
from ..search import words
from ..search.filters import Filter

TOGETHER = 500  # rows read into memory at a time
_FIELDS = ", ".join(("seq", *EVENT_FIELDS))


def events_of(connection: Connection, which: Filter) -> list[str]:
    """Erase events, retired or not; answers their ids."""
    ids: list[str] = []
    for chunk in chunks(seqs_of(connection, "events e", which)):
        query = select(_FIELDS, "events", f"seq IN {LISTED}")
        events = [(row[0], event_of(row[1:])) for row in connection.execute(query, (listed(chunk),)).fetchall()]
        words.drop_events(connection, events)
        rows(connection, "events", (f"seq IN {LISTED}", (listed(chunk),)))  # what hangs on them goes with them
        ids += [event.id for _, event in events]
    return ids


def messages_of(connection: Connection, which: Filter) -> int:
    """Erase messages; answers how many."""
    return sum(drop(connection, chunk) for chunk in chunks(seqs_of(connection, "messages e", which)))


def rows(connection: Connection, table: str, which: Filter) -> int:
    """Erase rows that nothing hangs on; answers how many."""
    return connection.execute(delete(table, which[0]), which[1]).rowcount


def ids_of(connection: Connection, table: str, which: Filter) -> list[str]:
    """Erase rows that nothing hangs on; answers their ids."""
    ids = [row[0] for row in connection.execute(select("id", table, which[0], "ORDER BY seq"), which[1]).fetchall()]
    rows(connection, table, which)
    return ids


def seqs_of(connection: Connection, source: str, which: Filter) -> list[int]:
    """Give the seqs of rows, in the order of writing."""
    found: Iterator[Row] = connection.execute(select("e.seq", source, which[0], "ORDER BY e.seq"), which[1])
    return [row[0] for row in found]


def chunks(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    """Divide seqs into as many as may be read together."""
    return (seqs[start : start + TOGETHER] for start in range(0, len(seqs), TOGETHER))


def of_private_chats(user_id: str) -> Filter:
    """Compile what was kept in the private chats with a person, of every agent, by the key of its scope."""
    ending = f"\x1fprivate\x1f{user_id}"
    return "substr(scope, -length(?1)) = ?1", bound(ending)
