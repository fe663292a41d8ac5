"""How events come into the ledger, and how they leave its readings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from sqlite3 import Connection

from ...domain.event import Event
from . import words
from .rows import EVENT_COLUMNS, EVENT_FIELDS, bound, digest, event_of, event_values, instant_of
from .statements import LISTED, insert, listed, new_seq, next_revision, select


def opted_out(connection: Connection) -> frozenset[str]:
    """Give everybody who wants to be left out."""
    return frozenset(row[0] for row in connection.execute("SELECT user_id FROM opt_outs"))


def is_known(connection: Connection, event: Event) -> bool:
    """Tell whether an event of this id stands or stood here."""
    return connection.execute("SELECT 1 FROM events WHERE id = ?", bound(event.id)).fetchone() is not None


def standing_twin(connection: Connection, event: Event) -> int | None:
    """Find the seq of the standing event that says the same, in the same scope, from the same sender."""
    twin = connection.execute(
        "SELECT seq FROM events WHERE scope = ? AND sender_id = ? AND duplicate_key = ? AND retired_at IS NULL",
        bound(event.scope.key, event.sender_id, digest(event.text)),
    ).fetchone()
    return None if twin is None else twin[0]


def is_counted(connection: Connection, event: Event) -> bool:
    """Tell whether one that says the same, standing or retired, rests on all messages of an event already."""
    if not event.message_ids:
        return False
    sources = select("json_group_array(message_id)", "event_sources s", "s.seq = e.seq")
    alike = "e.scope = ? AND e.sender_id = ? AND e.duplicate_key = ?"
    query = select(f"e.message_ids, ({sources})", "events e", alike)
    rows = connection.execute(query, bound(event.scope.key, event.sender_id, digest(event.text)))
    return any({*json.loads(named), *json.loads(left)}.issuperset(event.message_ids) for named, left in rows)


def rests_on_nothing(connection: Connection, event: Event) -> bool:
    """Tell whether all messages of a known event, of which there were some, are withdrawn."""
    query = "SELECT 1 FROM event_sources WHERE seq = (SELECT seq FROM events WHERE id = ?)"
    return bool(event.message_ids) and connection.execute(query, bound(event.id)).fetchone() is None


def withdrawn_at(connection: Connection, event: Event, sources: set[str]) -> datetime | None:
    """Tell when the last of an event's messages was withdrawn; None while one of ``sources`` is left, or had none."""
    if sources or not event.message_ids:
        return None
    query = select("max(at_us)", "withdrawals", f"scope = ? AND message_id IN {LISTED}")
    return instant_of(connection.execute(query, bound(event.scope.key, listed(event.message_ids))).fetchone()[0])


def sources_left(connection: Connection, event: Event) -> set[str]:
    """Give the messages of an event that were not withdrawn."""
    query = select("message_id", "withdrawals", f"scope = ? AND message_id IN {LISTED}")
    withdrawn = connection.execute(query, bound(event.scope.key, listed(event.message_ids)))
    return set(event.message_ids).difference(row[0] for row in withdrawn)


def add(connection: Connection, event: Event, sources: Iterable[str]) -> int:
    """Write an event that is not known, with what it is found by; answers its seq."""
    connection.execute(insert("events", EVENT_COLUMNS), event_values(event))
    seq = new_seq(connection)
    _add_sources(connection, seq, sources)
    connection.executemany(
        "INSERT OR IGNORE INTO event_subjects VALUES (?, ?)", [bound(seq, subject) for subject in event.subjects]
    )
    words.add_event(connection, seq, event)
    return seq


def count_again(connection: Connection, seq: int, event: Event, sources: Iterable[str]) -> None:
    """Let the standing event at ``seq`` absorb one that says the same; it rests on the messages of both then.

    Where either was said without a message, both were: the messages of the other are remembered as sources alone.
    """
    row = connection.execute(select(", ".join(EVENT_FIELDS), "events", "seq = ?"), (seq,)).fetchone()
    standing = event_of(row)
    seen = max(event.last_seen_at or event.happened_at, standing.last_seen_at or standing.happened_at)
    both = standing.message_ids and event.message_ids
    joined = dict.fromkeys((*standing.message_ids, *event.message_ids)) if both else ()
    connection.execute(
        "UPDATE events SET count = count + ?, last_seen_at = ?, message_ids = ? WHERE seq = ?",
        (event.count, seen.isoformat(), listed(joined), seq),
    )
    _add_sources(connection, seq, sources)


def retire(connection: Connection, seqs: Iterable[int], at: datetime) -> int:
    """Take standing events out of every reading; answers how many stood."""
    return connection.execute(
        "UPDATE events SET retired_at = ?, revision = ?"
        " WHERE retired_at IS NULL AND seq IN (SELECT value FROM json_each(?))",
        (at.isoformat(), next_revision(connection), listed(seqs)),
    ).rowcount


def _add_sources(connection: Connection, seq: int, sources: Iterable[str]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO event_sources VALUES (?, ?)", [bound(seq, source) for source in sources]
    )
