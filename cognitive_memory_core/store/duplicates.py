"""Repeated statements: one event with a count, not a second event."""

from __future__ import annotations

import json
from collections.abc import Iterable
from sqlite3 import Connection

from ..domain.event import Event, with_absolute_text
from .database.rows import EVENT_FIELDS, bound, digest, event_of
from .database.statements import listed, next_revision, select
from .event_rows import add_sources, put_anew


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
