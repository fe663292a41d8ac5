"""Lines of the log that are hidden while an event is forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from sqlite3 import Connection
from typing import Literal

from ..domain.event import Event
from ..domain.message import Message
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scene
from ..text.safety.retold_events import retells, statement_of
from . import event_rows
from .database.rows import EVENT_FIELDS, MESSAGE_FIELDS, bound, bytes_replaced, event_of, message_of
from .database.statements import listed, select
from .search import words
from .search.read_filter_sql import NOT_HIDDEN, ON_REQUEST

Cause = Literal["author", "other", "correction"]  # of an event's being forgotten, see schema.py
FORM = 1  # version of the rule that finds hidden lines; another one is applied to all lines at the next start
STANDS_AGAIN = select(
    "1",
    "events t",
    "t.scope = e.scope AND t.sender_id = e.sender_id AND t.duplicate_key = e.duplicate_key AND t.retired_at IS NULL",
)
_EVENT = ", ".join(f"e.{name}" for name in EVENT_FIELDS)
_LINE = ", ".join(f"e.{name}" for name in ("seq", *MESSAGE_FIELDS))
_WITHDRAWN = select("1", "withdrawals", "scope = ? AND message_id = ?")
_HIDDEN = select("1", "messages e", f"e.scope = ? AND e.id = ? AND NOT {NOT_HIDDEN}")
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
        if cause != "correction":
            _drop_own_quotes(connection, row[0], at, cause)


def _drop_own_quotes(connection: Connection, seq: int, at: datetime, cause: Cause) -> None:
    """Take the lines of a forgotten event's voice out of other events; those left without one are forgotten, too."""
    event = event_of(connection.execute(select(_EVENT, "events e", "e.seq = ?"), (seq,)).fetchone())
    own = [quote.message_id for quote in event.quotes if quote.message_id and quote.sender_id == event.sender_id]
    fallen = event_rows.drop_quotes(connection, event.scope.key, own, but=seq) if own else []
    event_rows.retire(connection, fallen, at)
    connection.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", [(one, cause) for one in fallen])


def unhide(connection: Connection, event_id: str) -> None:
    """Show the hidden lines of a forgotten event again.

    Used if the event itself stays retired when it is restored, because an equal event is active.
    """
    of_event = "DELETE FROM veils WHERE event_seq = (SELECT seq FROM events WHERE id = ?)"
    connection.execute(of_event, bound(event_id))


def put_back(connection: Connection, seqs: Sequence[int]) -> None:
    """Show the lines of corrected wordings again if one of these events says again what the first wording said."""
    connection.execute(_PUT_BACK, (listed(seqs),))


def note(connection: Connection, lines: Iterable[tuple[int, Message]]) -> None:
    """Hide those of the new lines, each with its seq, that retell a forgotten event."""
    if _is_anything_forgotten(connection):
        for seq, message in lines:
            connection.executemany(_PUT, [(seq, event_seq) for event_seq in _told_by(connection, message)])


def shown(connection: Connection, messages: Sequence[Message]) -> list[Message]:
    """Return the lines that are neither withdrawn nor hidden and retell no forgotten event; they need not be stored."""
    is_anything = _is_anything_forgotten(connection)
    left = (message for message in messages if not _is_out(connection, message))
    return [message for message in left if not (is_anything and _told_by(connection, message))]


def refresh(connection: Connection) -> None:
    """Apply the rule by which lines retell an event to all lines again, if the rule changed with a new release."""
    known = connection.execute("SELECT value FROM meta WHERE key = 'veils'").fetchone()[0]
    if known != FORM:
        with bytes_replaced(connection):
            for row in connection.execute(select("seq", "forgotten f", ON_REQUEST)).fetchall():
                with suppress(sqlite3.DataError):  # a damaged row, which nobody can read; its hidden lines stay hidden
                    _hide(connection, row[0])
        connection.execute("UPDATE meta SET value = ? WHERE key = 'veils'", (FORM,))


def _hide(connection: Connection, seq: int) -> None:
    event = event_of(connection.execute(select(_EVENT, "events e", "e.seq = ?"), (seq,)).fetchone())
    connection.execute(_SOURCES, (seq,))
    found = (line for line, message in _similar_lines(connection, event) if retells(message, event))
    connection.executemany(_PUT, [(line, seq) for line in found])


def _similar_lines(connection: Connection, event: Event) -> list[tuple[int, Message]]:
    """Return the lines by the bot or the event's sender that share words with an event."""
    expression = words.match(sorted(statement_of(event).trace.terms), ReadFilter(Scene.operator(event.agent)))
    if expression is None:
        return []
    source = f"{words.MESSAGE_WORDS} w CROSS JOIN messages e ON e.seq = w.rowid"  # CROSS forces the word index first
    voiced = "(e.is_bot = 1 OR (e.scope = ? AND e.sender_id = ?))"
    query = select(_LINE, source, f"{words.MESSAGE_WORDS} MATCH ? AND {voiced}")
    rows = connection.execute(query, (expression, *bound(event.scope.key, event.person)))
    return [(row[0], message_of(row[1:])) for row in rows]


def _told_by(connection: Connection, message: Message) -> list[int]:
    """Return the seqs of the forgotten events that a line tells.

    A line tells an event that was made from it, and, unless an equal event is active or a correction took its place, an
    event that it retells.
    """
    scope, sources = message.scene.scope.key, "forgotten f JOIN events e ON e.seq = f.seq"
    resting = f"{sources} JOIN event_sources s ON s.seq = e.seq"
    query = select("e.seq", resting, "s.message_id = ? AND e.scope = ?")
    found = [row[0] for row in connection.execute(query, bound(message.id, scope))]
    near = f"(e.scope = ? OR (e.agent = ? AND ? IN (e.sender_id, e.user_id))) AND NOT EXISTS ({STANDS_AGAIN})"
    rows = connection.execute(
        select(f"e.seq, {_EVENT}", sources, f"{ON_REQUEST} AND {near}"),
        bound(scope, message.scene.agent, message.scene.user_id),
    )
    return [*found, *(row[0] for row in rows if retells(message, event_of(row[1:])))]


def _is_out(connection: Connection, message: Message) -> bool:
    """Return whether a line was withdrawn, or is hidden because an event was forgotten."""
    place = bound(message.scene.scope.key, message.id)
    found = connection.execute(f"{_WITHDRAWN} UNION ALL {_HIDDEN}", (*place, *place))
    return found.fetchone() is not None


def _is_anything_forgotten(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM forgotten LIMIT 1").fetchone() is not None


def hidden_seqs(connection: Connection, seqs: Sequence[int]) -> list[int]:
    """Return the seqs of the lines that are hidden because of these events."""
    query = "SELECT DISTINCT seq FROM veils WHERE event_seq IN (SELECT value FROM json_each(?))"
    return [row[0] for row in connection.execute(query, (listed(seqs),))]
