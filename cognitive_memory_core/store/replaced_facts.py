"""Marks facts as outdated when a later statement of the same speaker replaces their event, so that profiles follow."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection

from ..domain.event import Draft
from .database.statements import LISTED, listed, select
from .profile_keys import KEY_COLUMNS

_SAME_PROFILE = " AND ".join(f"g.{name} = facts.{name}" for name in KEY_COLUMNS)
_NEWER = "n.replaces = o.id AND n.scope = o.scope AND n.at_us >= o.at_us"
_SUCCESSOR = select(  # an active event that feeds the same profile
    "1",
    "events n JOIN facts g ON g.event_seq = n.seq",
    f"{_NEWER} AND n.replaces <> '' AND n.retired_at IS NULL AND n.seq <> o.seq AND {_SAME_PROFILE}",
)
_FALLEN = f"({select(f'o.retired_at IS NOT NULL OR EXISTS ({_SUCCESSOR})', 'events o', 'o.seq = facts.event_seq')})"
_REPLACED = select("o.seq", "events n JOIN events o ON o.id = n.replaces", f"n.seq IN {LISTED} AND n.replaces <> ''")
_OUTDATED = f"event_seq IN ({select('seq', 'events', f'seq IN {LISTED}')} UNION {_REPLACED}) AND fallen <> {_FALLEN}"
_UPDATE = f"UPDATE facts SET fallen = {_FALLEN} WHERE {_OUTDATED}"  # noqa: S608  # nobody's text is in it


def settle(connection: Connection, seqs: Iterable[int]) -> None:
    """Mark the facts of these events, and of the events that they replace, as outdated or as current."""
    events = listed(seqs)
    connection.execute(_UPDATE, (events, events))


def settle_draft(connection: Connection, draft: Draft, seqs: Iterable[int]) -> None:
    """Do what :func:`settle` does for the events of a draft, written at ``seqs``, if any of them replaces an event."""
    if any(event.replaces for event in draft.events):
        settle(connection, seqs)
