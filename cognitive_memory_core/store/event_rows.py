"""Insertion, update and retirement of event rows; a repeated statement is one event with a count."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from sqlite3 import Connection

from ..domain.erasure import Tombstones, texts_of
from ..domain.event import Event, Quote, exchange, with_absolute_text, without_quotes
from ..domain.ids import derived_id
from . import facts
from .database.rows import EVENT_COLUMNS, EVENT_FIELDS, bound, digest, event_of, event_values, instant_of, moment_of
from .database.statements import LISTED, delete, insert, listed, new_seq, next_revision, select, update
from .search import words


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


def with_admitted_quotes(
    connection: Connection, event: Event, left_out: Iterable[str], erased: Tombstones
) -> Event | None:
    """Return an event without quotes of withdrawn messages and of people who opted out or were erased since.

    None if no line of its voice is left.
    """
    withdrawn = set(event.message_ids).difference(sources_left(connection, event)) if event.quotes else set[str]()
    out = frozenset(left_out)

    def is_gone(quote: Quote) -> bool:
        covered = bool(quote.sender_id) and erased.covers_person(quote.sender_id, event.happened_at)
        return quote.message_id in withdrawn or quote.sender_id in out or covered

    return without_quotes(event, is_gone)


def drop_quotes(connection: Connection, scope: str, message_ids: Iterable[str], *, but: int = 0) -> list[int]:
    """Take the quotes of messages of a place from events; return the seqs of those without a line of their voice left.

    Retired events keep theirs, and so does the event at ``but``.

    An event said again stays with the lines of the log in which it was said again. Facts that contain a quote fall.
    """
    gone = frozenset(message_ids)
    held = select("1", "json_each(?) gone", "instr(e.quotes, gone.value)")
    quoting = f"e.scope = ? AND e.retired_at IS NULL AND e.seq <> ? AND EXISTS ({held})"
    columns = ", ".join(f"e.{name}" for name in ("seq", *EVENT_FIELDS))
    fallen: list[int] = []
    for seq, *row in connection.execute(
        select(columns, "events e", quoting), (*bound(scope), but, listed(gone))
    ).fetchall():
        old = event_of(row)
        left = without_quotes(old, lambda quote: quote.message_id in gone) or _said_again(connection, seq, old, gone)
        for quote in old.quotes:
            if quote.message_id in gone:
                query = update("facts", ("fallen",), "event_seq = ? AND instr(text, ?)")
                connection.execute(query, (True, seq, *bound(quote.text)))
        if left is None:
            fallen.append(seq)
        elif left is not old:
            put_anew(connection, seq, old, left, next_revision(connection))
    return fallen


def _said_again(connection: Connection, seq: int, event: Event, gone: frozenset[str]) -> Event | None:
    """Return an event as the lines of its voice in which it was said again, if the log has any that are not hidden."""
    resting = f"m.scope = ? AND m.sender_id = ? AND m.id IN ({select('message_id', 'event_sources', 'seq = ?')})"
    query = select("m.id, m.text, m.user_name, m.sent_at", "messages m", resting, "ORDER BY m.seq")
    rows = connection.execute(query, (*bound(event.scope.key, event.sender_id), seq)).fetchall()
    quotes = tuple(
        Quote(message_id, event.sender_id, text, name, moment_of(sent_at))
        for message_id, text, name, sent_at in rows
        if message_id not in gone
    )
    return replace(event, text=exchange(quotes[:1]), quotes=quotes[:1], is_absolute=False) if quotes else None


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
    facts.settle(connection, retired)
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


def active_duplicate(connection: Connection, event: Event) -> int | None:
    """Return the seq of the active event with the same text, scope and sender."""
    twin = connection.execute(
        "SELECT seq FROM events WHERE scope = ? AND sender_id = ? AND duplicate_key = ? AND retired_at IS NULL",
        bound(event.scope.key, event.sender_id, digest(event.text)),
    ).fetchone()
    return None if twin is None else twin[0]


def active_event_of_id(connection: Connection, event: Event, event_id: str | None) -> int | None:
    """Return the seq of the active event with this id, if its scope and sender are the same; None without an id."""
    if event_id is None:
        return None
    query = "SELECT seq FROM events WHERE id = ? AND scope = ? AND sender_id = ? AND retired_at IS NULL"
    twin = connection.execute(query, bound(event_id, event.scope.key, event.sender_id)).fetchone()
    return None if twin is None else twin[0]


def is_counted(connection: Connection, event: Event, named: int | None = None) -> bool:
    """Return whether all messages of an event are already sources of an equal event, active or retired.

    The event at the seq ``named`` counts as equal, whatever its text.
    """
    if not event.message_ids:
        return False
    sources = select("json_group_array(message_id)", "event_sources s", "s.seq = e.seq")
    alike = "(e.scope = ? AND e.sender_id = ? AND e.duplicate_key = ?) OR e.seq = ?"
    query = select(f"e.message_ids, ({sources})", "events e", alike)
    rows = connection.execute(query, bound(event.scope.key, event.sender_id, digest(event.text), named))
    return any({*json.loads(named_ids), *json.loads(left)}.issuperset(event.message_ids) for named_ids, left in rows)


def count_again(connection: Connection, seq: int, event: Event, sources: Iterable[str]) -> None:
    """Count a repeated statement in the active event at ``seq`` and add the messages in ``sources`` to its sources.

    The event's ``message_ids`` become those of both, or none if one of the two has none.
    """
    stored = _at(connection, seq)
    seen = max(event.last_seen_at or event.happened_at, stored.last_seen_at or stored.happened_at)
    both = stored.message_ids and event.message_ids
    joined = dict.fromkeys((*stored.message_ids, *event.message_ids)) if both else ()
    connection.execute(
        "UPDATE events SET count = count + ?, last_seen_at = ?, message_ids = ? WHERE seq = ?",
        (event.count, seen.isoformat(), listed(joined), seq),
    )
    add_sources(connection, seq, sources)


def replace_relative_text(connection: Connection, seq: int, event: Event) -> str | None:
    """Replace the text of the active event at ``seq`` by that of its repetition if only the repetition is absolute.

    Returns the id of the changed event; None if nothing changed. Nothing changes if another active event has the text.
    """
    stored = _at(connection, seq)
    better = with_absolute_text(stored, event)
    if better is stored or active_duplicate(connection, event) not in (None, seq):
        return None
    put_anew(connection, seq, stored, better, next_revision(connection))
    return stored.id


def _at(connection: Connection, seq: int) -> Event:
    return event_of(connection.execute(select(", ".join(EVENT_FIELDS), "events", "seq = ?"), (seq,)).fetchone())
