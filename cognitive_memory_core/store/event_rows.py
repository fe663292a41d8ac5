"""Insertion, update and retirement of event rows; a repeated statement is one event with a count.

While an event is forgotten, the lines of the log that tell it are hidden.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Literal

from ..domain.belief import Belief
from ..domain.erasure import Tombstones, texts_of
from ..domain.event import Event, Quote, exchange, without_quotes
from ..domain.ids import derived_id
from ..domain.message import Message
from ..text.retelling import retells, statement_of
from . import facts
from .database.rows import (
    EVENT,
    LISTED,
    MESSAGE,
    Columns,
    always_kept,
    bound,
    bytes_replaced,
    digest,
    instant_of,
    listed,
    moment_of,
    new_seq,
    next_revision,
)
from .search.corpora import lines_sharing
from .search.filters import ON_REQUEST
from .vectors import drop

_ADD_SOURCES = "INSERT OR IGNORE INTO event_sources SELECT ?, value FROM json_each(?)"
_ADD_SUBJECTS = "INSERT OR IGNORE INTO event_subjects SELECT ?, value FROM json_each(?)"


def is_known(connection: Connection, event: Event) -> bool:
    """Return whether an event of this id is stored, active or retired, or was erased after it was forgotten."""
    query = "SELECT 1 FROM events WHERE id = ?1 UNION ALL SELECT 1 FROM gone WHERE digest = ?2"
    return connection.execute(query, bound(event.id, gone_digest(event.id))).fetchone() is not None


def gone_digest(event_id: str) -> str:
    """Return under what an erased event is recorded, so that it is never stored again."""
    return derived_id("gone", event_id)


def sources_of(connection: Connection, told: Event | Belief) -> tuple[set[str], datetime | None]:
    """Return the messages of what was told that were not withdrawn; and, if all were, the instant of the latest."""
    query = f"SELECT message_id, at_us FROM withdrawals WHERE scope = ? AND message_id IN {LISTED}"
    withdrawn = dict(connection.execute(query, bound(told.scope.key, listed(told.message_ids))).fetchall())
    left = set(told.message_ids).difference(withdrawn)
    return left, instant_of(max(withdrawn.values())) if withdrawn and not left else None


def add(connection: Connection, event: Event, sources: Iterable[str]) -> int:
    """Insert an event whose id is new, with its sources; return its row number (``seq``)."""
    seq = new_seq(connection.execute(EVENT.insert, EVENT.values(event)))
    connection.execute(_ADD_SOURCES, (seq, listed(bound(*sources))))
    connection.execute(_ADD_SUBJECTS, (seq, listed(bound(*event.subjects))))
    return seq


def with_admitted_quotes(
    connection: Connection, event: Event, left_out: Iterable[str], erased: Tombstones
) -> Event | None:
    """Return an event without quotes of withdrawn messages and of people who opted out or were erased since.

    None if no line of its voice is left.
    """
    withdrawn = set(event.message_ids).difference(sources_of(connection, event)[0]) if event.quotes else set[str]()
    out = frozenset(left_out)

    def is_gone(quote: Quote) -> bool:
        covered = erased.covers(None, (quote.sender_id,), event.happened_at)
        return quote.message_id in withdrawn or quote.sender_id in out or covered

    return without_quotes(event, is_gone)


def drop_quotes(connection: Connection, scope: str, message_ids: Iterable[str], *, but: int = 0) -> list[int]:
    """Take the quotes of messages of a place from events; return the seqs of those without a line of their voice left.

    Retired events keep theirs, and so does the event at ``but``.

    An event said again stays with the lines of the log in which it was said again. Facts that contain a quote fall.
    """
    gone = frozenset(message_ids)
    quoting = (
        "WHERE scope = ? AND retired_at IS NULL AND seq <> ?"
        " AND EXISTS (SELECT 1 FROM json_each(?) gone WHERE instr(e.quotes, gone.value))"
    )
    fallen: list[int] = []
    for seq, old in EVENT.numbered(connection, quoting, (*bound(scope), but, listed(gone))):
        left = without_quotes(old, lambda quote: quote.message_id in gone) or _said_again(connection, seq, old, gone)
        connection.executemany(
            "UPDATE facts SET fallen = 1 WHERE event_seq = ? AND instr(text, ?)",
            [(seq, *bound(quote.text)) for quote in old.quotes if quote.message_id in gone],
        )
        if left is None:
            fallen.append(seq)
        elif left is not old:
            put_anew(connection, seq, old, left, next_revision(connection))
    return fallen


def _said_again(connection: Connection, seq: int, event: Event, gone: frozenset[str]) -> Event | None:
    """Return an event as the first line of its voice in which it was said again; None if the log has none."""
    rows = connection.execute(
        "SELECT id, text, user_name, sent_at FROM messages WHERE scope = ? AND sender_id = ?"
        " AND id IN (SELECT message_id FROM event_sources WHERE seq = ?) ORDER BY seq",
        (*bound(event.scope.key, event.sender_id), seq),
    ).fetchall()
    for message_id, text, name, sent_at in rows:
        if message_id not in gone:
            quotes = (Quote(message_id, event.sender_id, text, name, moment_of(sent_at)),)
            return replace(event, text=exchange(quotes), quotes=quotes, is_absolute=False)
    return None


def put_anew(connection: Connection, seq: int, old: Event, new: Event, revision: int) -> None:
    """Replace the texts and fields of a stored event, and delete its vector if the texts changed."""
    connection.execute(f"{EVENT.update}, revision = ? WHERE seq = ?", (*EVENT.values(new), revision, seq))
    gone = f"DELETE FROM event_subjects WHERE seq = ? AND subject NOT IN {LISTED}"
    connection.execute(gone, (seq, listed(new.subjects)))
    connection.execute(_ADD_SUBJECTS, (seq, listed(bound(*new.subjects))))
    if texts_of(new) != texts_of(old):
        drop(connection, "events", "vectors", seq)


def retire(connection: Connection, seqs: Iterable[int], at: datetime) -> int:
    """Retire events, so that events which they replaced hold again; return how many were active."""
    retired = tuple(seqs)
    count = connection.execute(
        f"UPDATE events SET retired_at = ?, revision = ? WHERE retired_at IS NULL AND seq IN {LISTED}",
        (at.isoformat(), next_revision(connection), listed(retired)),
    ).rowcount
    facts.settle(connection, retired)
    return count


def active_duplicate(connection: Connection, event: Event) -> int | None:
    """Return the seq of the active event with the same text, scope and sender."""
    query = "SELECT seq FROM events WHERE scope = ? AND sender_id = ? AND duplicate_key = ? AND retired_at IS NULL"
    row = connection.execute(query, bound(event.scope.key, event.sender_id, digest(event.text))).fetchone()
    return row and row[0]


def count_again(connection: Connection, seq: int, event: Event, sources: Iterable[str]) -> None:
    """Count a repeated statement in the active event at ``seq`` and add the messages in ``sources`` to its sources.

    The event's ``message_ids`` become those of both, or none if one of the two has none.
    """
    stored = event_at(connection, seq)
    seen = max(event.last_seen_at or event.happened_at, stored.last_seen_at or stored.happened_at)
    both = stored.message_ids and event.message_ids
    joined = dict.fromkeys((*stored.message_ids, *event.message_ids)) if both else ()
    connection.execute(
        "UPDATE events SET count = count + ?, last_seen_at = ?, message_ids = ? WHERE seq = ?",
        (event.count, seen.isoformat(), listed(joined), seq),
    )
    connection.execute(_ADD_SOURCES, (seq, listed(bound(*sources))))


def event_at(connection: Connection, seq: int) -> Event:
    """Return the event of a row."""
    return EVENT.found(connection, "WHERE seq = ?", (seq,))[0]


def seqs_of(
    connection: Connection, table: str, where: str, values: Sequence[object] | Mapping[str, object]
) -> list[int]:
    """Return the seqs of the rows of a table, as ``e``, that match a condition, in insertion order."""
    return [row[0] for row in connection.execute(f"SELECT e.seq FROM {table} e WHERE {where} ORDER BY e.seq", values)]


def delete(
    connection: Connection, kind: Columns[Any], where: str, values: Sequence[object] | Mapping[str, object]
) -> list[str]:
    """Delete rows of ``events e`` or ``messages e`` with what depends on them; return their ids."""
    return [row[0] for row in connection.execute(f"DELETE FROM {kind.table} AS e WHERE {where} RETURNING id", values)]


Cause = Literal["author", "other", "correction"]  # of an event's being forgotten, see schema.py
FORM = 1  # version of the rule that finds hidden lines; another one is applied to all lines at the next start
STANDS_AGAIN = """
SELECT 1 FROM events t WHERE t.scope = e.scope AND t.sender_id = e.sender_id AND t.duplicate_key = e.duplicate_key
AND t.retired_at IS NULL"""
PUT = "INSERT OR IGNORE INTO veils VALUES (?, ?)"
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
        retire(connection, row, at)
        connection.execute("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", (*row, cause))
        _hide(connection, row[0])
        if cause != "correction":  # the lines of its voice go from other events; those left without one are forgotten
            event = event_at(connection, row[0])
            own = [one.message_id for one in event.quotes if one.message_id and one.sender_id == event.sender_id]
            fallen = drop_quotes(connection, event.scope.key, own, but=row[0]) if own else []
            retire(connection, fallen, at)
            connection.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", [(one, cause) for one in fallen])


def put_back(connection: Connection, seqs: Sequence[int]) -> None:
    """Show the lines of corrected wordings again if one of these events says again what the first wording said."""
    connection.execute(_PUT_BACK, (listed(seqs),))


def refresh_hidden(connection: Connection) -> None:
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
    event = event_at(connection, seq)
    connection.execute(_SOURCES, (seq,))
    theirs = "e.agent = ? AND (e.is_bot = 1 OR (e.scope = ? AND e.sender_id = ?))"
    whose = bound(event.agent, event.scope.key, event.person)
    if terms := statement_of(event).trace:
        similar = lines_sharing(connection, terms, theirs, whose)
        lines = MESSAGE.numbered(connection, f"WHERE e.seq IN {LISTED}", (listed(similar),))
        connection.executemany(PUT, [(number, seq) for number, line in lines if retells(line, event)])


def told_by(connection: Connection, message: Message) -> list[int]:
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
