"""The recent-message log."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from sqlite3 import Connection

from ..domain.erasure import stays_out
from ..domain.message import Message, Passage
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scope
from . import beliefs, event_rows, hidden_lines, log_size
from .database.rows import MESSAGE_COLUMNS, MESSAGE_FIELDS, bound, found_message, message_of, message_values, micros
from .database.statements import LISTED, bounded, insert, listed, new_seq, select
from .database.table import Table, reads, writes
from .search import words
from .search.passages import passages_around
from .search.read_filter_sql import NOT_HIDDEN
from .tombstones import record_purge_due, tombstones_of

log = logging.getLogger(__name__)
PRUNED_TOGETHER = 500  # messages per transaction, which bounds how long writes wait behind the daily clean-up
_FIELDS = ", ".join(MESSAGE_FIELDS)


class MessageLog(Table):
    """The recent-message log."""

    async def append(self, messages: Sequence[Message]) -> None:
        """Store messages; an existing one (same scope and id) is unchanged, a withdrawn one is skipped."""
        if messages:
            await self.database.write(_append_all, messages)

    @reads
    def recent(
        self,
        connection: Connection,
        scope: Scope,
        limit: int,
        *,
        before: datetime | None = None,
        without: Collection[str] = (),
    ) -> list[Message]:
        """Return the newest messages of a place, oldest first; with ``before``, only older ones.

        Lines of the people ``without``, and the bot's lines to them, are left out and do not count towards ``limit``.
        """
        without = tuple(without)
        clause, values = f"scope = ? AND {NOT_HIDDEN}", [scope.key]
        if before is not None:
            clause, values = f"{clause} AND at_us < ?", [*values, micros(before)]
        if without:
            clause, values = f"{clause} AND user_id NOT IN {LISTED}", [*values, listed(without)]
        query = select(_FIELDS, "messages e", clause, "ORDER BY at_us DESC, seq DESC LIMIT ?")
        newest_first = [found_message(row) for row in connection.execute(query, (*values, bounded(limit)))]
        return newest_first[::-1]

    @reads
    def find(self, connection: Connection, scope: Scope, message_ids: Collection[str]) -> list[Message]:
        """Return those of the given messages of a place that are in the log, oldest first."""
        query = select(_FIELDS, "messages e", f"scope = ? AND id IN {LISTED} AND {NOT_HIDDEN}", "ORDER BY at_us, seq")
        return [message_of(row) for row in connection.execute(query, (scope.key, listed(message_ids)))]

    @reads
    def learned(self, connection: Connection, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return which of the messages of a place are sources of an event, active or retired (forgotten, corrected)."""
        sources = f"e.scope = ? AND s.message_id IN {LISTED}"
        query = select("DISTINCT s.message_id", "event_sources s JOIN events e ON e.seq = s.seq", sources)
        return frozenset(row[0] for row in connection.execute(query, (scope.key, listed(message_ids))))

    @reads
    def around(
        self, connection: Connection, messages: Sequence[Message], read_filter: ReadFilter, reach: int
    ) -> list[Passage]:
        """Return each message with those of the ``reach`` lines before and after it that the read filter admits.

        Overlapping passages are merged. A message that is gone or not admitted has no passage.
        """
        return passages_around(connection, messages, read_filter, bounded(reach))

    @reads
    def shown(self, connection: Connection, messages: Sequence[Message]) -> list[Message]:
        """Return those of the lines that are neither withdrawn nor hidden because they tell a forgotten event.

        The lines need not be in the log; see :class:`EventEraser`.
        """
        return hidden_lines.shown(connection, messages)

    @writes
    def withdraw(self, connection: Connection, scope: Scope, message_id: str, at: datetime) -> int:
        """Remove a message and the quotes of it, record it as withdrawn, and retire events that rest on nothing now.

        Returns the number of retired events. Also accepts messages that are not in the log.
        """
        place = bound(scope.key, message_id)
        connection.execute("INSERT INTO withdrawals VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (*place, micros(at)))
        beliefs.withdraw(connection, scope, message_id, at)  # first: it reads who said the message
        known = connection.execute(select("seq", "messages", "scope = ? AND id = ?"), place).fetchall()
        if drop(connection, [row[0] for row in known]):
            record_purge_due(connection, at)
        resting = connection.execute(
            "SELECT e.seq FROM event_sources s JOIN events e ON e.seq = s.seq WHERE s.message_id = ? AND e.scope = ?",
            place[::-1],
        ).fetchall()
        unfounded = _without_source(connection, [row[0] for row in resting], place[1])
        voiceless = event_rows.drop_quotes(connection, scope.key, [message_id])
        return event_rows.retire(connection, (*unfounded, *voiceless), at)

    async def prune(self, before: datetime) -> int:
        """Delete messages, withdrawal records and done-job records older than ``before``; return the message count."""
        await self.database.write(_prune_marks, micros(before))
        pruned = 0
        while dropped := await self.database.write(_prune_some, micros(before)):
            pruned += dropped
        return pruned

    async def shrink(self, most: int, *, kept_per_place: int) -> int:
        """Delete the oldest messages until the rest weighs at most ``most`` bytes; return how many were deleted.

        The ``kept_per_place`` newest messages of each place stay, however much they weigh. The weight of a message is
        :attr:`Message.weight`. Records of withdrawals and done marks of jobs stay.
        """
        excess, place, shrunk = await self._weight() - most, log_size.BEGINNING, 0
        while excess > 0 and place is not None:
            excess, place, dropped = await self.database.write(_shrink_some, excess, place, kept_per_place)
            shrunk += dropped
        return shrunk

    async def _weight(self) -> int:
        """Return the size of the log in bytes; it is read in slices, so that other reads wait for one slice at most."""
        last = await self.database.read(log_size.last)
        firsts = range(0, last + 1, log_size.WEIGHED_TOGETHER)
        return sum([await self.database.read(log_size.weight, first) for first in firsts])


def append(connection: Connection, messages: Iterable[Message]) -> int:
    """Write messages that are neither known nor withdrawn; returns their number."""
    return sum(_append(connection, message) for message in messages)


def _append(connection: Connection, message: Message) -> bool:
    place = bound(message.scene.scope.key, message.id)
    query = "SELECT 1 FROM withdrawals WHERE scope = ? AND message_id = ?"
    if connection.execute(query, place).fetchone() is not None:
        return False
    query = insert("messages", MESSAGE_COLUMNS, "ON CONFLICT DO NOTHING")
    inserted = connection.execute(query, message_values(message))
    is_new = inserted.rowcount > 0
    if is_new:
        seq = new_seq(inserted)
        words.add_message(connection, seq, message)
        hidden_lines.note(connection, [(seq, message)])
    return is_new


def _append_all(connection: Connection, messages: Sequence[Message]) -> None:
    erased = tombstones_of(connection)
    append(connection, (message for message in messages if not stays_out(erased, message)))


def _without_source(connection: Connection, seqs: Sequence[int], message_id: str) -> list[int]:
    """Remove a message from the sources of events; return the seqs of the events that have no source left."""
    connection.executemany(
        "DELETE FROM event_sources WHERE seq = ? AND message_id = ?", [(seq, message_id) for seq in seqs]
    )
    resting = select("1", "event_sources s", "s.seq = e.seq")
    fallen = f"e.seq IN {LISTED} AND e.message_ids <> '[]' AND NOT EXISTS ({resting})"
    return [row[0] for row in connection.execute(select("e.seq", "events e", fallen), (listed(seqs),))]


def _prune_marks(connection: Connection, before_us: int) -> None:
    connection.execute("DELETE FROM withdrawals WHERE at_us < ?", (before_us,))
    connection.execute("DELETE FROM jobs_done WHERE at_us < ?", (before_us,))


def _prune_some(connection: Connection, before_us: int) -> int:
    old = connection.execute("SELECT seq FROM messages WHERE at_us < ? LIMIT ?", (before_us, PRUNED_TOGETHER))
    return drop(connection, [row[0] for row in old.fetchall()])


def _shrink_some(
    connection: Connection, excess: int, place: log_size.LogPlace, kept_per_place: int
) -> tuple[int, log_size.LogPlace | None, int]:
    """Delete the oldest messages after ``place``, at most ``excess`` bytes of those read at once.

    Returns the bytes still to delete, where to continue (None at the end of the log), and how many were deleted.
    """
    found = log_size.oldest(connection, place, excess, kept_per_place, limit=PRUNED_TOGETHER)
    return excess - found.weight, found.next, drop(connection, found.seqs)


def drop(connection: Connection, seqs: Sequence[int]) -> int:
    """Delete messages from the log and from the word index; returns their number."""
    query = select(f"seq, {_FIELDS}", "messages", f"seq IN {LISTED}")
    rows = [(row[0], message_of(row[1:])) for row in connection.execute(query, (listed(seqs),)).fetchall()]
    words.drop_messages(connection, rows)
    connection.execute("DELETE FROM messages WHERE seq IN (SELECT value FROM json_each(?))", (listed(seqs),))
    return len(rows)
