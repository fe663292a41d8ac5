"""Insertion, update and retirement of event rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from sqlite3 import Connection

from ..domain.erasure_rules import texts_of
from ..domain.event import Event
from ..domain.ids import derived_id
from . import replaced_facts
from .database.rows import EVENT_COLUMNS, EVENT_FIELDS, bound, event_of, event_values, instant_of
from .database.statements import LISTED, delete, insert, listed, new_seq, next_revision, select, update
from .search import words


def opted_out(connection: Connection) -> frozenset[str]:
    """Return the ids of all persons who opted out."""
    return frozenset(row[0] for row in connection.execute("SELECT user_id FROM opt_outs"))


def is_known(connection: Connection, event: Event) -> bool:
    """Return whether an event of this id is stored, active or retired, or was erased after it was forgotten."""
    query = "SELECT 1 FROM events WHERE id = ?1 UNION ALL SELECT 1 FROM gone WHERE digest = ?2"
    return connection.execute(query, bound(event.id, _digest(event.id))).fetchone() is not None


def keep_out(connection: Connection, event_ids: Iterable[str]) -> None:
    """Record erased events so that they are never stored again."""
    digests = [bound(_digest(event_id)) for event_id in event_ids]
    connection.executemany("INSERT OR IGNORE INTO gone VALUES (?)", digests)


def rests_on_nothing(connection: Connection, event: Event) -> bool:
    """Return whether a stored event was made from messages and all of them are withdrawn."""
    query = "SELECT 1 FROM event_sources WHERE seq = (SELECT seq FROM events WHERE id = ?)"
    return bool(event.message_ids) and connection.execute(query, bound(event.id)).fetchone() is None


def withdrawn_at(connection: Connection, event: Event, sources: set[str]) -> datetime | None:
    """Return the instant of the latest message of an event, all of whose messages are withdrawn; else None.

    ``sources`` are the messages that are not withdrawn (:func:`sources_left`).
    """
    if sources or not event.message_ids:
        return None
    query = select("max(at_us)", "withdrawals", f"scope = ? AND message_id IN {LISTED}")
    return instant_of(connection.execute(query, bound(event.scope.key, listed(event.message_ids))).fetchone()[0])


def sources_left(connection: Connection, event: Event) -> set[str]:
    """Return the messages of an event that were not withdrawn."""
    if not event.message_ids:
        return set()
    query = select("message_id", "withdrawals", f"scope = ? AND message_id IN {LISTED}")
    withdrawn = connection.execute(query, bound(event.scope.key, listed(event.message_ids)))
    return set(event.message_ids).difference(row[0] for row in withdrawn)


def add(connection: Connection, event: Event, sources: Iterable[str]) -> int:
    """Insert an event whose id is new, with its words and sources; return its row number (``seq``)."""
    values = event_values(event)
    seq = new_seq(connection.execute(insert("events", EVENT_COLUMNS), values))
    add_sources(connection, seq, sources)
    _add_subjects(connection, seq, event)
    words.add_event(connection, seq, event_of(values[: len(EVENT_FIELDS)]))  # re-read to index the row as stored
    return seq


def put_anew(connection: Connection, seq: int, old: Event, new: Event, revision: int) -> None:
    """Replace the texts and fields of a stored event, and delete its vector if the texts changed."""
    values = event_values(new)
    connection.execute(update("events", (*EVENT_COLUMNS, "revision"), "seq = ?"), (*values, revision, seq))
    gone = delete("event_subjects", f"seq = ? AND subject NOT IN {LISTED}")
    connection.execute(gone, (seq, listed(new.subjects)))
    _add_subjects(connection, seq, new)
    if texts_of(new) != texts_of(old):
        words.drop_events(connection, [(seq, old)])
        words.add_event(connection, seq, event_of(values[: len(EVENT_FIELDS)]))
        connection.execute("DELETE FROM vectors WHERE seq = ?", (seq,))
        connection.execute("UPDATE events SET embedded_as = '' WHERE seq = ?", (seq,))


def retire(connection: Connection, seqs: Iterable[int], at: datetime) -> int:
    """Retire events, so that events which they replaced hold again; return how many were active."""
    retired = tuple(seqs)
    count = connection.execute(
        "UPDATE events SET retired_at = ?, revision = ?"
        " WHERE retired_at IS NULL AND seq IN (SELECT value FROM json_each(?))",
        (at.isoformat(), next_revision(connection), listed(retired)),
    ).rowcount
    replaced_facts.settle(connection, retired)
    return count


def add_sources(connection: Connection, seq: int, sources: Iterable[str]) -> None:
    """Add source messages to an event."""
    connection.executemany(
        "INSERT OR IGNORE INTO event_sources VALUES (?, ?)", [bound(seq, source) for source in sources]
    )


def _digest(event_id: str) -> str:
    return derived_id("gone", event_id)


def _add_subjects(connection: Connection, seq: int, event: Event) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO event_subjects VALUES (?, ?)", [bound(seq, subject) for subject in event.subjects]
    )
