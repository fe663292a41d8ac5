"""Erasure of single events: hidden while they can be restored, then erased."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from sqlite3 import Connection

from ...domain.event import Event
from ...domain.scope import Scope
from .. import beliefs, event_rows, hidden_lines, tombstones
from ..database.database import Database
from ..database.rows import EVENT_FIELDS, bound, event_of, micros
from ..database.statements import LISTED, listed, select
from ..database.table import Table, reads, writes
from ..messages import drop
from ..search.read_filter_sql import GONE, RESTS_ON_NOTHING
from . import row_deletion
from .eraser import ErasedRows, RowCache

_FIELDS = ", ".join(f"e.{name}" for name in EVENT_FIELDS)
_WITHDRAWN = (
    "INSERT OR IGNORE INTO withdrawals SELECT scope, id, ? FROM messages WHERE seq IN (SELECT value FROM json_each(?))"
)
_SOURCES_WITHDRAWN = (
    "INSERT OR IGNORE INTO withdrawals SELECT e.scope, s.message_id, ? FROM event_sources s"
    " JOIN events e ON e.seq = s.seq WHERE e.seq IN (SELECT value FROM json_each(?))"
)


_PLACES = (
    "SELECT scope, id FROM messages WHERE seq IN (SELECT value FROM json_each(?))"
    " UNION SELECT e.scope, s.message_id FROM event_sources s JOIN events e ON e.seq = s.seq"
    " WHERE e.seq IN (SELECT value FROM json_each(?))"
)


class EventEraser(Table):
    """Forgetting of single events: hidden while they can be restored, erased afterwards.

    While an event is forgotten, no read returns log lines that it was made from or that retell it (:func:`retells`),
    including lines appended later; :meth:`MessageLog.append` still accepts them. :meth:`EventLedger.restore` shows them
    again. A line that is appended while an equal event is active is not hidden.
    """

    def __init__(self, database: Database, *caches: RowCache) -> None:
        """Erase from a database; after each erasure the ``caches`` are cleared."""
        super().__init__(database)
        self._caches = caches

    @writes
    def forget(self, connection: Connection, event_id: str, at: datetime, cause: hidden_lines.Cause = "author") -> None:
        """Retire an event and hide the lines that repeat it, atomically; does nothing if there is no such event."""
        hidden_lines.forget(connection, event_id, at, cause)

    @reads
    def unrepeatable(self, connection: Connection) -> list[Event]:
        """Return the events that no text may repeat: forgotten ones, and those all of whose messages were withdrawn.

        An event is left out if an equal one is active again.
        """
        query = select(_FIELDS, "events e", f"{GONE} AND NOT EXISTS ({hidden_lines.STANDS_AGAIN})", "ORDER BY e.seq")
        return [event_of(row) for row in connection.execute(query)]

    @reads
    def forgotten(self, connection: Connection, user_id: str, since: datetime) -> list[Event]:
        """Return a person's restorable events that were forgotten at ``since`` or later, the latest first.

        These are events that the person said and events of their private chats, not corrected or withdrawn ones, nor
        those that somebody else had forgotten.
        """
        noted = "(e.sender_id = '' AND e.quotes <> '[]')"  # by the bot, in a turn with the person
        own = f"e.sender_id = ? OR (e.user_id = ? AND (e.request_type = 'private' OR {noted}))"
        clause = f"f.cause = 'author' AND ({own}) AND NOT ({RESTS_ON_NOTHING})"
        query = select(_FIELDS, "forgotten f JOIN events e ON e.seq = f.seq", clause, "ORDER BY e.seq DESC")
        found = [event_of(row) for row in connection.execute(query, bound(user_id, user_id))]
        recent = [event for event in found if event.retired_at is not None and event.retired_at >= since]
        return sorted(recent, key=lambda event: event.retired_at or since, reverse=True)

    @reads
    def expired(self, connection: Connection, before: datetime) -> list[Event]:
        """Return the events retired before an instant, and all withdrawn ones that no profile tells any more."""
        told = select("1", "facts f", "f.event_seq = e.seq AND f.merged")
        is_over = f"{RESTS_ON_NOTHING} AND NOT EXISTS ({told})"
        query = select(f"{_FIELDS}, ({is_over})", "events e", "e.retired_at IS NOT NULL", "ORDER BY e.seq")
        found = [(event_of(row[:-1]), row[-1]) for row in connection.execute(query)]
        return [event for event, is_over in found if is_over or (event.retired_at and event.retired_at < before)]

    async def erase(self, event_ids: Sequence[str], at: datetime) -> ErasedRows:
        """Erase retired events and the lines hidden because of them; neither can be stored again.

        Active events are skipped. A purge is due afterwards.
        """
        try:
            return await self.database.write(_erase, event_ids, at)
        finally:
            for caches in self._caches:
                caches.clear_caches()


def _erase(connection: Connection, event_ids: Sequence[str], at: datetime) -> ErasedRows:
    named = f"e.id IN {LISTED} AND e.retired_at IS NOT NULL"
    seqs = row_deletion.seqs_of(connection, "events e", (named, (listed(event_ids),)))
    if not seqs:
        return ErasedRows()
    gone = row_deletion.seqs_of(connection, "events e", (f"{named} AND {GONE}", (listed(event_ids),)))
    lines, told = (hidden_lines.hidden_seqs(connection, some) for some in (seqs, gone))
    for scope, message_id in connection.execute(_PLACES, (listed(told), listed(gone))).fetchall():
        beliefs.withdraw(connection, Scope.of_key(scope), message_id, at)
        event_rows.retire(connection, event_rows.drop_quotes(connection, scope, [message_id]), at)
    connection.execute(_WITHDRAWN, (micros(at), listed(lines)))
    connection.execute(_SOURCES_WITHDRAWN, (micros(at), listed(gone)))  # also of lines pruned from the log
    messages = drop(connection, lines)
    erased = row_deletion.events_of(connection, (f"e.seq IN {LISTED}", (listed(seqs),)))
    event_rows.keep_out(connection, erased)
    tombstones.record_purge_due(connection, at)
    return ErasedRows(events=len(erased), messages=messages, event_ids=tuple(erased))
