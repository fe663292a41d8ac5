"""The log of recent messages, and which of them are deleted first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from sqlite3 import Connection

from ..domain.erasure import names_erased, stays_out
from ..domain.instants import EARLIEST, Interval
from ..domain.message import BYTE_WEIGHT, ROW_WEIGHT, Message
from ..domain.reading import LineListing, ReadFilter
from ..domain.scope import Scope
from . import beliefs, event_rows
from .consent import ConsentBook, keyed_digest, known_since, record_change, record_purge_due, tombstones_of
from .database.database import Table, reads, writes
from .database.rows import (
    LISTED,
    MESSAGE,
    bound,
    bounded,
    instant_of,
    listed,
    micros,
    new_seq,
    select,
)
from .search.filters import MESSAGES, NOT_HIDDEN, RESTS_ON_NOTHING, joined, within

PRUNED_TOGETHER = 500  # messages per transaction, which bounds how long writes wait behind the daily clean-up
SECOND = 1_000_000  # microseconds
APART = 2 * SECOND  # between the times that two sources tell for one line
_WEIGHT = f"{ROW_WEIGHT} + {BYTE_WEIGHT} * length(CAST(text AS BLOB))"
_OVER = f"""
WITH excess (weight) AS (SELECT sum({_WEIGHT}) - ?1 FROM messages), lines AS (
    SELECT seq, at_us, {_WEIGHT} AS weight,
    row_number() OVER (PARTITION BY scope ORDER BY at_us DESC, seq DESC) AS newest
    FROM messages WHERE (SELECT weight FROM excess) > 0
)
SELECT seq FROM (
    SELECT seq, sum(weight) OVER (ORDER BY at_us, seq) - weight AS older FROM lines WHERE newest > ?2
) WHERE older < (SELECT weight FROM excess) ORDER BY older"""  # the oldest lines, until the rest weighs no more


class MessageLog(Table):
    """The recent-message log."""

    @writes
    def append(self, connection: Connection, messages: Sequence[Message]) -> int:
        """Store messages and return how many were new; a known one is unchanged, a withdrawn or erased one skipped."""
        erased, count = tombstones_of(connection), 0
        for message in messages:
            if stays_out(erased, message) or _withdrawn_at(connection, message) is not None:
                continue
            if seq := _known(connection, message):
                _keep_ids(connection, seq, message)
                continue
            _insert(connection, message)
            count += 1
        return count

    @writes
    def backfill(self, connection: Connection, messages: Sequence[Message]) -> list[str]:
        """Store past lines that would have been recorded when they were said; return for each what became of it.

        That is "taken", "known", "opted_out", "erased", "unknown" (it is not known any more whether the line would
        have been recorded then) and "withdrawn". A line that is known by its id, its number, or by the same words of
        the same person in the same second gives nothing new, but its ids and its number are kept with the known line.
        Lines that were taken wait to be considered, see :meth:`unconsidered`.
        """
        opted_out, erased = ConsentBook.opted_out(connection), tombstones_of(connection)
        since = known_since(connection, {message.scene for message in messages})

        def outcome(message: Message) -> str:
            if message.scene.user_id in opted_out:
                return "opted_out"
            if stays_out(erased, message) or names_erased(erased, message):
                return "erased"
            if seq := _known(connection, message, by_words=True):
                _keep_ids(connection, seq, message)
                return "known"
            if message.scene in since and message.sent_at < since[message.scene]:
                return "unknown"
            if (withdrawn_us := _withdrawn_at(connection, message, at_its_second=True)) is not None:
                _record_withdrawn(connection, message, withdrawn_us)  # by its other names, too
                return "withdrawn"
            waiting = *bound(message.scene.scope.key), micros(message.sent_at), _insert(connection, message)
            connection.execute("INSERT INTO unconsidered VALUES (?, ?, ?)", waiting)
            return "taken"

        return [outcome(message) for message in messages]

    @reads
    def unconsidered(self, connection: Connection, limit: int) -> list[tuple[int, Message]]:
        """Return past lines of one place that wait to be considered, oldest first, with their seqs."""
        rest = (
            "JOIN unconsidered u ON u.seq = e.seq WHERE u.scope = (SELECT min(scope) FROM unconsidered)"
            " ORDER BY u.at_us, u.seq LIMIT ?"
        )
        return MESSAGE.numbered(connection, rest, (bounded(limit),))

    @writes
    def note_considered(self, connection: Connection, seqs: Sequence[int]) -> None:
        """Take lines off those that wait to be considered."""
        connection.execute(f"DELETE FROM unconsidered WHERE seq IN {LISTED}", (listed(seqs),))

    @reads
    def known_id(self, connection: Connection, scope: Scope, message_id: str) -> str:
        """Return the id under which a line of a place is logged, given any of its ids; the same if it is not logged."""
        query = "SELECT m.id FROM line_ids i JOIN messages m ON m.seq = i.seq WHERE i.scope = ? AND i.id = ?"
        found = connection.execute(query, bound(scope.key, message_id)).fetchone()
        return found[0] if found else message_id

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
        listing = LineListing(scope, window=None if before is None else Interval(EARLIEST, before))
        return MessageLog.lines(connection, scope.agent, listing, limit, without=without)[::-1]

    @reads
    def lines(
        self,
        connection: Connection,
        agent: str,
        listing: LineListing,
        limit: int,
        offset: int = 0,
        *,
        without: Collection[str] = (),
    ) -> list[Message]:
        """Return the lines of a listing, newest first; none of the people ``without``, or of the bot's to them."""
        clause, values = joined(
            (True, "e.agent = ?", bound(agent)),
            (True, NOT_HIDDEN, ()),
            (listing.place, "e.scope = ?", bound(listing.place.key if listing.place else "")),
            (listing.user_id, "e.sender_id = ?", bound(listing.user_id)),
            (listing.window, *within(listing.window)),
            (without, f"e.user_id NOT IN {LISTED}", (listed(without),)),
        )
        rest = f"WHERE {clause} ORDER BY at_us DESC, seq DESC LIMIT ? OFFSET ?"
        return MESSAGE.found(connection, rest, (*values, bounded(limit), bounded(offset)))

    @reads
    def find(self, connection: Connection, scope: Scope, message_ids: Collection[str]) -> list[Message]:
        """Return those of the given messages of a place that are in the log, oldest first."""
        rest = f"WHERE scope = ? AND id IN {LISTED} AND {NOT_HIDDEN} ORDER BY at_us, seq"
        return MESSAGE.found(connection, rest, (scope.key, listed(message_ids)))

    @reads
    def learned(self, connection: Connection, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return which of the messages of a place are sources of an event, active or retired (forgotten, corrected)."""
        query = (
            "SELECT DISTINCT s.message_id FROM event_sources s JOIN events e ON e.seq = s.seq"
            f" WHERE e.scope = ? AND s.message_id IN {LISTED}"
        )
        return frozenset(row[0] for row in connection.execute(query, (scope.key, listed(message_ids))))

    @reads
    def around(
        self, connection: Connection, messages: Sequence[Message], read_filter: ReadFilter, reach: int
    ) -> list[Message]:
        """Return messages and the ``reach`` lines before and after each that the read filter admits, oldest first.

        A message that is gone or not admitted has no lines around it.
        """
        clause, values = MESSAGES.filter_of(read_filter)
        seqs = set[int]()
        for order, direction in (">=", ""), ("<=", "DESC"):
            source = f"messages m JOIN messages e ON e.scope = m.scope AND (e.at_us, e.seq) {order} (m.at_us, m.seq)"
            last = f"ORDER BY e.at_us {direction}, e.seq {direction} LIMIT ?"
            query = select("e.seq, e.seq = m.seq", source, f"m.scope = ? AND m.id = ? AND {clause}", last)
            for line in messages:
                row = *bound(line.scene.scope.key, line.id), *values, bounded(reach) + 1
                near = connection.execute(query, row).fetchall()
                seqs |= {seq for seq, _ in near} if near and near[0][1] else set()
        lines = MESSAGES.at(connection, read_filter, sorted(seqs))
        return sorted(lines.values(), key=lambda line: line.sent_at)

    @reads
    def shown(self, connection: Connection, messages: Sequence[Message]) -> list[Message]:
        """Return those of the lines that are neither withdrawn nor hidden because they tell a forgotten event.

        The lines need not be in the log; see :class:`Eraser`.
        """
        out = (
            "SELECT 1 FROM withdrawals WHERE scope = ?1 AND message_id = ?2"
            f" UNION ALL SELECT 1 FROM messages e WHERE e.scope = ?1 AND e.id = ?2 AND NOT {NOT_HIDDEN}"
        )

        def is_shown(line: Message) -> bool:
            is_out = connection.execute(out, bound(line.scene.scope.key, line.id)).fetchone() is not None
            return not is_out and not event_rows.told_by(connection, line)

        return [line for line in messages if is_shown(line)]

    @writes
    def withdraw(self, connection: Connection, scope: Scope, message_id: str, at: datetime) -> int:
        """Remove a message and the quotes of it, record it as withdrawn, and retire events that rest on nothing now.

        Returns the number of retired events. Accepts any id of a message, and messages that are not in the log.
        """
        named = *bound(scope.key, message_id), micros(at)
        connection.execute("INSERT INTO withdrawals VALUES (?, ?, ?) ON CONFLICT DO NOTHING", named)
        message_id = MessageLog.known_id(connection, scope, message_id)
        place = bound(scope.key, message_id)
        beliefs.withdraw(connection, scope, message_id, at)  # first: it reads who said the message
        known = event_rows.seqs_of(connection, "messages", "scope = ? AND id = ?", place)
        note_withdrawn(connection, known, at)
        if event_rows.delete(connection, MESSAGE, "scope = ? AND id = ?", place):
            record_purge_due(connection, at)
        of_it = "+e.scope = ? AND e.seq IN (SELECT seq FROM event_sources WHERE message_id = ?)"
        resting = listed(event_rows.seqs_of(connection, "events", of_it, place))
        delete = f"DELETE FROM event_sources WHERE message_id = ? AND seq IN {LISTED}"
        connection.execute(delete, (place[1], resting))
        alone = event_rows.seqs_of(connection, "events", f"e.seq IN {LISTED} AND {RESTS_ON_NOTHING}", (resting,))
        voiceless = event_rows.drop_quotes(connection, scope.key, [message_id])
        return event_rows.retire(connection, (*alone, *voiceless), at)

    async def prune(self, before: datetime) -> int:
        """Delete messages, withdrawal records and done-job records older than ``before``; return the message count."""
        await self._prune_records(micros(before))
        return await self._delete("SELECT seq FROM messages WHERE at_us < ?", (micros(before),))

    @writes
    def _prune_records(self, connection: Connection, before_us: int) -> None:
        old_ones = "SELECT scope, max(at_us) FROM withdrawals WHERE at_us < ? GROUP BY scope"
        for key, at_us in connection.execute(old_ones, (before_us,)).fetchall():
            record_change(connection, instant_of(at_us), scope=Scope.of_key(key))
        connection.execute("DELETE FROM withdrawals WHERE at_us < ?", (before_us,))
        connection.execute("DELETE FROM jobs_done WHERE at_us < ?", (before_us,))

    async def shrink(self, most: int, *, kept_per_place: int) -> int:
        """Delete the oldest messages until the rest weighs at most ``most`` bytes; return how many were deleted.

        The ``kept_per_place`` newest messages of each place stay, however much they weigh. The weight of a message is
        :attr:`Message.weight`. Records of withdrawals and done marks of jobs stay.
        """
        return await self._delete(_OVER, (most, kept_per_place))

    async def _delete(self, chosen: str, values: Sequence[int]) -> int:
        """Delete the messages whose seqs a query chooses, some in a transaction; return how many these were."""
        seqs = await self.database.read(lambda read: [row[0] for row in read.execute(chosen, values)])
        for first in range(0, len(seqs), PRUNED_TOGETHER):
            some = listed(seqs[first : first + PRUNED_TOGETHER])
            await self.database.write(event_rows.delete, MESSAGE, f"seq IN {LISTED}", (some,))
        return len(seqs)


def note_withdrawn(connection: Connection, seqs: Sequence[int], at: datetime) -> None:
    """Record lines of the log as withdrawn: by each of their ids, and by who said something when."""
    for seq, message in MESSAGE.numbered(connection, f"WHERE seq IN {LISTED}", (listed(seqs),)):
        further = connection.execute("SELECT id FROM line_ids WHERE seq = ?", (seq,)).fetchall()
        _record_withdrawn(connection, message, micros(at), *(row[0] for row in further))


def _record_withdrawn(connection: Connection, message: Message, at_us: int, *further_ids: str) -> None:
    names = [message.id, _second_of(connection, message), *further_ids]
    connection.executemany(
        "INSERT INTO withdrawals VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(*bound(message.scene.scope.key, name), at_us) for name in names],
    )


def _insert(connection: Connection, message: Message) -> int:
    """Write a line and return its seq."""
    inserted = connection.execute(MESSAGE.insert, MESSAGE.values(message))
    told = [(new_seq(inserted), event_seq) for event_seq in event_rows.told_by(connection, message)]
    connection.executemany(event_rows.PUT, told)
    return new_seq(inserted)


def _known(connection: Connection, message: Message, *, by_words: bool = False) -> int | None:
    """Return the seq of a line that has the id or the number of a message, or ``by_words`` what its sender said then.

    A number counts only for the same person within two seconds: some ends fill it with what is no number of a line.
    Words count within the same second, unless the two have different numbers.
    """
    at_us = micros(message.sent_at)
    row = connection.execute(
        "SELECT seq FROM messages WHERE scope = ?1 AND id = ?2"
        " UNION ALL SELECT seq FROM line_ids WHERE scope = ?1 AND id = ?2"
        " UNION ALL SELECT seq FROM messages WHERE scope = ?1 AND number = ?3 AND ?3 <> '' AND number <> ''"
        f" AND sender_id = ?4 AND abs(at_us - ?5) <= {APART}"
        f" UNION ALL SELECT seq FROM messages WHERE ?8 AND scope = ?1 AND at_us >= ?6 AND at_us < ?6 + {SECOND}"
        " AND sender_id = ?4 AND text = ?7 AND (number = '' OR ?3 = '') LIMIT 1",
        (
            *bound(message.scene.scope.key, message.id, message.number, message.sender_id),
            *(at_us, at_us // SECOND * SECOND),
            *bound(message.text, by_words),
        ),
    ).fetchone()
    return row and row[0]


def _keep_ids(connection: Connection, seq: int, message: Message) -> None:
    """Keep the id and the number of a message with the line that is the same."""
    scope, line_id, number = bound(message.scene.scope.key, message.id, message.number)
    connection.execute(
        "INSERT INTO line_ids SELECT ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM messages WHERE seq = ? AND id = ?)"
        " ON CONFLICT DO NOTHING",
        (scope, line_id, seq, seq, line_id),
    )
    if number:
        connection.execute("UPDATE messages SET number = ? WHERE seq = ? AND number = ''", (number, seq))


def _withdrawn_at(connection: Connection, message: Message, *, at_its_second: bool = False) -> int | None:
    """Return when a message was withdrawn, in microseconds; None if it was not.

    ``at_its_second``: or if its sender withdrew something of the same second, because a past line may have another id.
    """
    names = message.id, _second_of(connection, message) if at_its_second else message.id
    query = "SELECT at_us FROM withdrawals WHERE scope = ? AND message_id IN (?, ?) LIMIT 1"
    row = connection.execute(query, bound(message.scene.scope.key, *names)).fetchone()
    return row and row[0]


def _second_of(connection: Connection, message: Message) -> str:
    """Return how a withdrawn line is recorded beside its ids: the keyed hash of who said something in which second."""
    second = str(micros(message.sent_at) // SECOND)
    return f"second {keyed_digest(connection, 'second', message.sender_id, second)}"
