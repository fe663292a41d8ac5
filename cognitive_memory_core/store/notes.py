"""Memos and pins."""

from __future__ import annotations

from collections.abc import Collection
from sqlite3 import Connection

from ..domain.erasure import stays_out
from ..domain.message import Message
from ..domain.notes import Memo, Pin
from ..domain.scope import Scope
from .consent import tombstones_of
from .database.database import Table, reads, writes
from .database.rows import LISTED, MEMO, PIN, bound, bounded, listed, micros

SHORTEST_QUOTE = 5  # characters; a shorter line is quoted by a memo that has no other words


class NoteBook(Table):
    """Memos and pins."""

    @writes
    def write_memo(self, connection: Connection, memo: Memo) -> None:
        """Store a memo; writing the same id twice stores one."""
        if not stays_out(tombstones_of(connection), memo):
            MEMO.added(connection, memo)

    @reads
    def memos(self, connection: Connection, scope: Scope, limit: int, *, without: Collection[str] = ()) -> list[Memo]:
        """Return the newest ``limit`` memos of a place, newest last, leaving out those of the people ``without``."""
        newest_first = f"WHERE scope = ? AND user_id NOT IN {LISTED} ORDER BY at_us DESC, seq DESC LIMIT ?"
        return MEMO.found(connection, newest_first, (scope.key, listed(without), bounded(limit)))[::-1]

    @reads
    def latest_memos(self, connection: Connection, limit: int) -> list[Memo]:
        """Return the newest memos of all places, newest last."""
        return MEMO.found(connection, "ORDER BY seq DESC LIMIT ?", (bounded(limit),))[::-1]

    @reads
    def memo_ids(self, connection: Connection, user_id: str) -> list[str]:
        """Return the ids of the memos of a person's turns, in all places."""
        return [row[0] for row in connection.execute("SELECT id FROM memos WHERE user_id = ?", bound(user_id))]

    @writes
    def erase_copies(self, connection: Connection, line: Message) -> list[str]:
        """Delete the memos of a line's place, written since, that quote it; return their ids."""
        query = (
            "DELETE FROM memos WHERE scope = ?1 AND at_us >= ?2"
            " AND (text = ?3 OR length(?3) >= ?4 AND instr(text, ?3)) RETURNING id"
        )
        values = bound(line.scene.scope.key, micros(line.sent_at), line.text.strip(), SHORTEST_QUOTE)
        return [row[0] for row in connection.execute(query, values).fetchall()]

    @writes
    def write_pin(self, connection: Connection, pin: Pin) -> None:
        """Store a pin, or replace text and author of the pin with this id."""
        again = "ON CONFLICT (id) DO UPDATE SET text = excluded.text, author_id = excluded.author_id"
        if not stays_out(tombstones_of(connection), pin):
            connection.execute(f"{PIN.insert} {again}", PIN.values(pin))

    @reads
    def find_pin(self, connection: Connection, pin_id: str) -> Pin | None:
        """Return a pin of any place; None if there is none."""
        return PIN.first(connection, "WHERE id = ?", bound(pin_id))

    @reads
    def pins(self, connection: Connection, scope: Scope) -> list[Pin]:
        """Return all pins of a place, of every owner, oldest first."""
        return PIN.found(connection, "WHERE scope = ? ORDER BY at_us, seq", (scope.key,))

    @writes
    def erase_pin(self, connection: Connection, pin_id: str) -> None:
        """Delete a pin; does nothing if there is none."""
        connection.execute("DELETE FROM pins WHERE id = ?", bound(pin_id))
