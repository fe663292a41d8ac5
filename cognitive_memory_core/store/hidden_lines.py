"""Lines of the log that are hidden while an event is forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from sqlite3 import Connection
from typing import Literal

from ..domain.message import Message
from ..domain.reading import ReadFilter
from ..domain.scope import Scene
from ..text.retelling import retells, statement_of
from . import event_rows
from .database.rows import EVENT, MESSAGE, always_kept, bound, bytes_replaced, listed
from .search import words
from .search.corpus import NOT_HIDDEN, ON_REQUEST

Cause = Literal["author", "other", "correction"]  # of an event's being forgotten, see schema.py
FORM = 1  # version of the rule that finds hidden lines; another one is applied to all lines at the next start
STANDS_AGAIN = """
SELECT 1 FROM events t WHERE t.scope = e.scope AND t.sender_id = e.sender_id AND t.duplicate_key = e.duplicate_key
AND t.retired_at IS NULL"""
_PUT = "INSERT OR IGNORE INTO veils VALUES (?, ?)"
_SOURCES = (
    "INSERT OR IGNORE INTO veils SELECT m.seq, e.seq FROM events e JOIN messages m ON m.scope = e.scope"
    " WHERE e.seq = ? AND (m.id IN (SELECT s.message_id FROM event_sources s WHERE s.seq = e.seq)"
    " OR m.id IN (SELECT value FROM json_each(e.message_ids)))"
)
_PUT_BACK = """
WITH worded AS (
    SELECT e.seq, t.duplicate_key = first_value(e.duplicate_key) OVER (PARTITION BY t.seq ORDER BY e.seq) AS is_back
    FROM events t JOIN events e ON e.scope = t.scope AND e.at_us = t.at_us
    JOIN forgotten f ON f.seq = e.seq AND f.cause = 'correction'
    WHERE e.message_ids = t.message_ids AND t.seq IN (SELECT value FROM json_each(?))
) DELETE FROM veils WHERE event_seq IN (SELECT seq FROM worded WHERE is_back)"""


def forget(connection: Connection, event_id: str, at: datetime, cause: Cause) -> None:
    """Retire an event on request or for a correction, and hide the lines that tell it."""
    for row in connection.execute("SELECT seq FROM events WHERE id = ?", bound(event_id)).fetchall():
        event_rows.retire(connection, row, at)
        connection.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", (*row, cause))
        _hide(connection, row[0])
        if cause != "correction":  # the lines of its voice go from other events; those left without one are forgotten
            event = event_rows.event_at(connection, row[0])
            own = [one.message_id for one in event.quotes if one.message_id and one.sender_id == event.sender_id]
            fallen = event_rows.drop_quotes(connection, event.scope.key, own, but=row[0]) if own else []
            event_rows.retire(connection, fallen, at)
            connection.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", [(one, cause) for one in fallen])


def put_back(connection: Connection, seqs: Sequence[int]) -> None:
    """Show the lines of corrected wordings again if one of these events says again what the first wording said."""
    connection.execute(_PUT_BACK, (listed(seqs),))


def note(connection: Connection, seq: int, message: Message) -> None:
    """Hide a new line if it retells a forgotten event."""
    connection.executemany(_PUT, [(seq, event_seq) for event_seq in _told_by(connection, message)])


def shown(connection: Connection, messages: Sequence[Message]) -> list[Message]:
    """Return the lines that are neither withdrawn nor hidden and retell no forgotten event; they need not be stored."""
    out = (
        "SELECT 1 FROM withdrawals WHERE scope = ?1 AND message_id = ?2"
        f" UNION ALL SELECT 1 FROM messages e WHERE e.scope = ?1 AND e.id = ?2 AND NOT {NOT_HIDDEN}"
    )
    return [
        message
        for message in messages
        if connection.execute(out, bound(message.scene.scope.key, message.id)).fetchone() is None
        and not _told_by(connection, message)
    ]


def refresh(connection: Connection) -> None:
    """Apply the rule by which lines retell an event to all lines again, if the rule changed with a new release."""
    known = always_kept(connection, "veils")
    if known != FORM:
        with bytes_replaced(connection):
            for row in connection.execute(f"SELECT seq FROM forgotten f WHERE {ON_REQUEST}").fetchall():
                with suppress(sqlite3.DataError):  # a damaged row, which nobody can read; its hidden lines stay hidden
                    _hide(connection, row[0])
        connection.execute("UPDATE meta SET value = ? WHERE key = 'veils'", (FORM,))


def _hide(connection: Connection, seq: int) -> None:
    """Hide the lines that an event was made of, and those by the bot or the event's sender that retell it."""
    event = event_rows.event_at(connection, seq)
    connection.execute(_SOURCES, (seq,))
    expression = words.match(sorted(statement_of(event).trace), ReadFilter(Scene.operator(event.agent)))
    if expression is None:
        return
    similar = connection.execute(  # CROSS forces the word index first
        f"SELECT e.seq, {MESSAGE.of('e')} FROM {words.MESSAGE_WORDS} w CROSS JOIN messages e ON e.seq = w.rowid"
        f" WHERE {words.MESSAGE_WORDS} MATCH ? AND (e.is_bot = 1 OR (e.scope = ? AND e.sender_id = ?))",
        (expression, *bound(event.scope.key, event.person)),
    ).fetchall()
    connection.executemany(_PUT, [(row[0], seq) for row in similar if retells(MESSAGE.read(row[1:]), event)])


def _told_by(connection: Connection, message: Message) -> list[int]:
    """Return the seqs of the forgotten events that a line tells.

    A line tells an event that was made from it, and, unless an equal event is active or a correction took its place, an
    event that it retells.
    """
    if connection.execute("SELECT 1 FROM forgotten LIMIT 1").fetchone() is None:
        return []
    scene = message.scene
    made_of_it = (
        "SELECT e.seq FROM forgotten f JOIN events e ON e.seq = f.seq JOIN event_sources s ON s.seq = e.seq"
        " WHERE s.message_id = ? AND e.scope = ?"
    )
    found = [row[0] for row in connection.execute(made_of_it, bound(message.id, scene.scope.key))]
    near = (
        f"WHERE e.seq IN (SELECT seq FROM forgotten f WHERE {ON_REQUEST}) AND NOT EXISTS ({STANDS_AGAIN})"
        " AND (e.scope = ? OR (e.agent = ? AND ? IN (e.sender_id, e.user_id)))"
    )
    forgotten = EVENT.numbered(connection, near, bound(scene.scope.key, scene.agent, scene.user_id))
    return [*found, *(seq for seq, event in forgotten if retells(message, event))]
