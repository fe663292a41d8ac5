"""The recent-message log: its lines, its size, and which of them are deleted first."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from sqlite3 import Connection

from ..domain.erasure import stays_out
from ..domain.message import BYTE_WEIGHT, ROW_WEIGHT, Message, Passage
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scope
from . import beliefs, event_rows, hidden_lines
from .consent import record_purge_due, tombstones_of
from .database.rows import MESSAGE_COLUMNS, MESSAGE_FIELDS, bound, found_message, message_of, message_values, micros
from .database.statements import LISTED, bounded, insert, listed, new_seq, select
from .database.table import Table, reads, writes
from .search import words
from .search.corpus import passages_around
from .search.read_filter_sql import NOT_HIDDEN

WEIGHED_TOGETHER = 20_000  # messages per read
LogPlace = tuple[int, int]  # at_us and seq: the order of the log
BEGINNING: LogPlace = (-(2**63), 0)
_WEIGHT = f"{ROW_WEIGHT} + {BYTE_WEIGHT} * length(CAST(text AS BLOB))"


def _kept_from(connection: Connection, scope: str, kept_per_place: int) -> LogPlace:
    """Return where the ``kept_per_place`` newest messages of a scope begin; older ones may be deleted."""
    if kept_per_place <= 0:
        return (2**63 - 1, 0)
    query = select("at_us, seq", "messages", "scope = ?", "ORDER BY at_us DESC, seq DESC LIMIT 1 OFFSET ?")
    row = connection.execute(query, (scope, kept_per_place - 1)).fetchone()
    return BEGINNING if row is None else (row[0], row[1])


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
        excess, place, shrunk = await self._weight() - most, BEGINNING, 0
        while excess > 0 and place is not None:
            excess, place, dropped = await self.database.write(_shrink_some, excess, place, kept_per_place)
            shrunk += dropped
        return shrunk

    async def _weight(self) -> int:
        """Return the size of the log in bytes; it is read in slices, so that other reads wait for one slice at most."""
        firsts = range(0, await self._last() + 1, WEIGHED_TOGETHER)
        return sum([await self._weight_from(first) for first in firsts])

    @reads
    def _last(self, connection: Connection) -> int:
        return connection.execute(select("coalesce(max(seq), 0)", "messages", "TRUE")).fetchone()[0]

    @reads
    def _weight_from(self, connection: Connection, first: int) -> int:
        """Return the bytes of the :data:`WEIGHED_TOGETHER` row numbers from ``first`` on."""
        query = select(f"coalesce(sum({_WEIGHT}), 0)", "messages", "seq >= ? AND seq < ?")
        return connection.execute(query, (first, first + WEIGHED_TOGETHER)).fetchone()[0]


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
    connection: Connection, excess: int, place: LogPlace, kept_per_place: int
) -> tuple[int, LogPlace | None, int]:
    """Delete the oldest messages after ``place``, at most ``excess`` bytes of those read at once.

    The ``kept_per_place`` newest messages of each scope stay. Returns the bytes still to delete, where to continue
    (None at the end of the log), and how many were deleted.
    """
    query = select(f"seq, at_us, scope, {_WEIGHT}", "messages", "(at_us, seq) > (?, ?)", "ORDER BY at_us, seq LIMIT ?")
    rows = connection.execute(query, (*place, PRUNED_TOGETHER)).fetchall()
    kept_from = {scope: _kept_from(connection, scope, kept_per_place) for scope in {row[2] for row in rows}}
    seqs: list[int] = []
    for seq, at_us, scope, weight in rows:
        if excess > 0 and (at_us, seq) < kept_from[scope]:
            seqs.append(seq)
            excess -= weight
    following = (rows[-1][1], rows[-1][0]) if len(rows) == PRUNED_TOGETHER else None
    return excess, following, drop(connection, seqs)


def drop(connection: Connection, seqs: Sequence[int]) -> int:
    """Delete messages from the log and from the word index; returns their number."""
    query = select(f"seq, {_FIELDS}", "messages", f"seq IN {LISTED}")
    rows = [(row[0], message_of(row[1:])) for row in connection.execute(query, (listed(seqs),)).fetchall()]
    words.drop_messages(connection, rows)
    connection.execute("DELETE FROM messages WHERE seq IN (SELECT value FROM json_each(?))", (listed(seqs),))
    return len(rows)
