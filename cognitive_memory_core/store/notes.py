"""Memos and pins."""

from __future__ import annotations

from collections.abc import Collection
from sqlite3 import Connection

from ..domain.erasure import stays_out
from ..domain.message import Message
from ..domain.note import Memo, Pin
from ..domain.scope import Scope
from .consent import tombstones_of
from .database.rows import MEMO_COLUMNS, PIN_COLUMNS, bound, memo_of, memo_values, micros, pin_of, pin_values
from .database.statements import LISTED, bounded, delete, insert, listed, select
from .database.table import Table, reads, writes

_WRITTEN_AGAIN = "ON CONFLICT (id) DO UPDATE SET text = excluded.text, author_id = excluded.author_id"
SHORTEST_QUOTE = 5  # characters; a shorter line is quoted by a memo that has no other words


class NoteBook(Table):
    """Memos and pins."""

    @writes
    def write_memo(self, connection: Connection, memo: Memo) -> None:
        """Store a memo; writing the same id twice stores one."""
        if not stays_out(tombstones_of(connection), memo):
            add_memo(connection, memo)

    @reads
    def memos(self, connection: Connection, scope: Scope, limit: int, *, without: Collection[str] = ()) -> list[Memo]:
        """Return the newest ``limit`` memos of a place, newest last, leaving out those of the people ``without``."""
        without = tuple(without)
        clause = f"scope = ? AND user_id NOT IN {LISTED}" if without else "scope = ?"
        values = (scope.key, listed(without)) if without else (scope.key,)
        query = select(", ".join(MEMO_COLUMNS), "memos", clause, "ORDER BY at_us DESC, seq DESC LIMIT ?")
        newest_first = [memo_of(row) for row in connection.execute(query, (*values, bounded(limit)))]
        return newest_first[::-1]

    @reads
    def latest_memos(self, connection: Connection, limit: int) -> list[Memo]:
        """Return the newest memos of all places, newest last."""
        query = select(", ".join(MEMO_COLUMNS), "memos", "TRUE", "ORDER BY seq DESC LIMIT ?")
        newest_first = [memo_of(row) for row in connection.execute(query, (bounded(limit),))]
        return newest_first[::-1]

    @reads
    def memo_ids(self, connection: Connection, user_id: str) -> list[str]:
        """Return the ids of the memos of a person's turns, in all places."""
        return [row[0] for row in connection.execute(select("id", "memos", "user_id = ?"), bound(user_id))]

    @writes
    def erase_copies(self, connection: Connection, line: Message) -> list[str]:
        """Delete the memos of a line's place, written since, that quote it; return their ids."""
        copies = "scope = ?1 AND at_us >= ?2 AND (text = ?3 OR length(?3) >= ?4 AND instr(text, ?3))"
        values = bound(line.scene.scope.key, micros(line.sent_at), line.text.strip(), SHORTEST_QUOTE)
        return [row[0] for row in connection.execute(f"{delete('memos', copies)} RETURNING id", values).fetchall()]

    @writes
    def write_pin(self, connection: Connection, pin: Pin) -> None:
        """Store a pin, or replace text and author of the pin with this id."""
        query = insert("pins", PIN_COLUMNS, _WRITTEN_AGAIN)
        if not stays_out(tombstones_of(connection), pin):
            connection.execute(query, pin_values(pin))

    @reads
    def find_pin(self, connection: Connection, pin_id: str) -> Pin | None:
        """Return a pin of any place; None if there is none."""
        query = select(", ".join(PIN_COLUMNS), "pins", "id = ?")
        row = connection.execute(query, bound(pin_id)).fetchone()
        return None if row is None else pin_of(row)

    @reads
    def pins(self, connection: Connection, scope: Scope) -> list[Pin]:
        """Return all pins of a place, of every owner, oldest first."""
        query = select(", ".join(PIN_COLUMNS), "pins", "scope = ?", "ORDER BY at_us, seq")
        return [pin_of(row) for row in connection.execute(query, (scope.key,))]

    @writes
    def erase_pin(self, connection: Connection, pin_id: str) -> None:
        """Delete a pin; does nothing if there is none."""
        connection.execute("DELETE FROM pins WHERE id = ?", bound(pin_id))


def add_memo(connection: Connection, memo: Memo) -> bool:
    """Write a memo unless it is known; return whether it was written."""
    query = insert("memos", MEMO_COLUMNS, "ON CONFLICT DO NOTHING")
    return connection.execute(query, memo_values(memo)).rowcount > 0


def add_pin(connection: Connection, pin: Pin) -> bool:
    """Write a pin unless it is known; return whether it was written."""
    query = insert("pins", PIN_COLUMNS, "ON CONFLICT DO NOTHING")
    return connection.execute(query, pin_values(pin)).rowcount > 0
