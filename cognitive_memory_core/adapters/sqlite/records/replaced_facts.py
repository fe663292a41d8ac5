"""Marks the facts of events that a later statement of the same speaker replaces, so that a profile follows."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection

from ..database.statements import LISTED, listed
from ..search.keys import KEY_COLUMNS

_SAME_PROFILE = " AND ".join(f"g.{name} = facts.{name}" for name in KEY_COLUMNS)
_REPLACED_BY = "n.replaces = o.id AND n.scope = o.scope AND n.sender_id = o.sender_id AND n.at_us >= o.at_us"
_IS_REPLACED = (  # by an active event that feeds the same profile
    f"EXISTS (SELECT 1 FROM events n JOIN facts g ON g.event_seq = n.seq WHERE {_REPLACED_BY} AND n.replaces <> ''"
    f" AND n.retired_at IS NULL AND n.seq <> o.seq AND {_SAME_PROFILE})"
)
_IS_FALLEN = f"(SELECT o.retired_at IS NOT NULL OR {_IS_REPLACED} FROM events o WHERE o.seq = facts.event_seq)"
_CONCERNED = (
    f"SELECT seq FROM events WHERE seq IN {LISTED} UNION SELECT o.seq FROM events n JOIN events o ON o.id = n.replaces"
    f" WHERE n.seq IN {LISTED} AND n.replaces <> ''"
)
_SETTLE = f"UPDATE facts SET fallen = {_IS_FALLEN} WHERE event_seq IN ({_CONCERNED}) AND fallen <> {_IS_FALLEN}"


def settle(connection: Connection, seqs: Iterable[int]) -> None:
    """Update which facts of these events, and of those that they replace, no longer hold."""
    events = listed(seqs)
    connection.execute(_SETTLE, (events, events))
