"""Forgetting of people, places and single events, and removal of their bytes from every file of the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Protocol

from ... import sentences
from ...domain.erasure import Tombstones
from ...domain.event import Event
from ...domain.figures import PurgeState
from ...domain.scope import Scope
from ...errors import StorageRefused
from ...text.safety.redaction import hides_alone
from .. import beliefs, consent, event_rows, facts, hidden_lines
from ..database import copies, migrations
from ..database.copies import Copy
from ..database.database import Database
from ..database.rows import EVENT_FIELDS, bound, event_of, micros
from ..database.statements import LISTED, delete, listed, next_revision, select
from ..database.table import Table, reads, writes
from ..messages import drop
from ..profiles import OF_KEY, key_values, keys_in
from ..search import words
from ..search.read_filter_sql import GONE, RESTS_ON_NOTHING, Filter
from . import row_deletion
from .row_deletion import PersonSearch, Rewording

SPARE_STEPS = 8
MERGED_TOGETHER = 1000  # index pages per transaction, which bounds how long writes wait behind a purge


async def purge(database: Database, *, together: int = MERGED_TOGETHER) -> None:
    """Remove deleted bytes from the word index, the write-ahead log and the copies kept by migrations.

    `secure_delete` alone is not enough: when SQLite splits a page, copies of the moved rows stay in the free space and
    outlive the rows. Therefore the file is rewritten.
    """
    await _tidy(database, together)
    await database.rewrite()
    await database.empty_log()
    await asyncio.to_thread(_remove_copies, database.path)


async def _tidy(database: Database, together: int) -> None:
    pages = await database.write(words.begin_tidying, together)
    for _ in range(2 * (pages // together) + SPARE_STEPS):
        if not await database.write(words.tidy_some, together):
            return
    await database.write(words.tidy)  # concurrent writes kept the steps from finishing


def _remove_copies(path: Path) -> None:
    try:
        for copy in migrations.copies_of(path):
            copy.unlink(missing_ok=True)
    except OSError as refused:
        raise StorageRefused(sentences.storage_errors.STORAGE_REFUSED.format(path=path, reason=refused)) from refused


_TABLES = ("events", "messages", "memos", "pins", "names", "withdrawals")
_COPIES = ("merge_failures", "profiles")
_OF_PROFILES = ("facts", *_COPIES)
_NAMED = (("name", "names", "user_id"), ("sender_name", "events", "sender_id"), ("user_name", "messages", "sender_id"))


@dataclass(frozen=True)
class ErasedRows:
    """What was erased: counts by noun, the number of reworded texts of others, ids of erased events and memos."""

    events: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    names: int = 0
    reworded: int = 0
    event_ids: tuple[str, ...] = ()
    memo_ids: tuple[str, ...] = ()
    beliefs: int = 0


class RowCache(Protocol):
    """A component that caches rows of the database in memory."""

    def clear_caches(self) -> None:
        """Drop all cached rows."""
        ...


class Eraser(Table):
    """Permanent erasure. Erased data cannot be read once a method returns; :meth:`purge` removes the bytes."""

    def __init__(self, database: Database, *caches: RowCache) -> None:
        """Erase from a database; after each erasure the ``caches`` are cleared."""
        super().__init__(database)
        self._caches = caches
        self._erasing = asyncio.Lock()  # an erasure during a purge waits for the purge to end
        self._copying = asyncio.Lock()  # a purge cannot empty the log while a copy is being read

    async def forget_person(self, user_id: str, at: datetime, hide: Callable[[str], str]) -> ErasedRows:
        """Erase a person for every agent.

        Erased: what they said, their names, memos and sharing consent; pins that they own or wrote, also for a whole
        group; their private chat; the indexed copies of their profiles, and the facts that wait for these profiles. An
        event is erased if its sender is the person or it is of the person's private chat.

        Everywhere else, in events, subjects, facts and profile copies of others, the person is hidden: ``hide`` returns
        a text without them, and a reworded row loses its vector. Mentions by name instead of id are hidden only in
        places where the person was seen.

        A tombstone of the id (a keyed hash) permanently rejects data dated ``at`` or earlier; an existing tombstone
        dated more than a day after ``at`` is attributed to a wrong clock and replaced.
        """
        return await self._forget(lambda connection: _forget_person(connection, user_id, at, hide))

    async def forget_place(self, scope: Scope, at: datetime) -> ErasedRows:
        """Erase everything of a place permanently, including the facts and copies of its profiles; its switch is kept.

        A profile that also has facts from other places (:meth:`FactBook.keys_with_facts_of`) loses its indexed copy,
        and its remaining facts wait again, so that it is rebuilt from them.
        """
        return await self._forget(lambda connection: _forget_place(connection, scope, at))

    @reads
    def tombstones(self, connection: Connection) -> Tombstones:
        """Return all tombstones with the key of their hashes."""
        return consent.keyed_tombstones(connection)

    async def purge(self, at: datetime, *, is_over: bool = True) -> None:
        """Remove the bytes of erased data from every file of the ledger, including migration copies.

        If ``is_over`` is false, the purge stays due, because files outside the ledger still hold the bytes.
        """
        async with self._copying, self._erasing:
            await purge(self.database)
            if is_over:
                await self.database.write(consent.purged, at)

    @reads
    def purge_due(self, connection: Connection) -> PurgeState:
        """Return since when erased bytes remain on disk, if any, and when the last purge was."""
        return consent.purge_state(connection)

    async def copy_to(self, path: Path, at: datetime, *, name: Path | None = None) -> None:
        """Write a consistent, durable copy of the ledger to a new file.

        The copy is recorded under ``name``, if given: the path to which the caller renames it afterwards.
        """
        async with self._copying:
            if (await self.purge_due()).erased_at is not None:
                async with self._erasing:
                    await purge(self.database)
            await self.database.write(copies.note, Copy(str(name or path), "backup", at))
            await self.database.read(copies.write, path)

    async def copies(self, *, made: Copy | None = None, deleted: str = "") -> list[Copy]:
        """Record the copy ``made``, remove the record of the path ``deleted``, and return the recorded copies.

        For each path only its latest copy is returned.
        """
        if made is not None:
            await self.database.write(copies.note, made)
        if deleted:
            await self.database.write(copies.drop, deleted)
        return await self.database.read(copies.noted)

    async def _forget(self, work: Callable[[Connection], ErasedRows]) -> ErasedRows:
        async with self._erasing:
            try:
                return await self.database.write(work)
            finally:
                for caches in self._caches:
                    caches.clear_caches()


def _forget_person(connection: Connection, user_id: str, at: datetime, hide: Callable[[str], str]) -> ErasedRows:
    consent.record_erasure(connection, consent.keyed_tombstones(connection).of_person(user_id), at)
    name_search = PersonSearch(connection, (*bound(user_id), *filter(hides_alone, _names(connection, user_id))))
    places = _places(connection, user_id)
    deleted = _delete_rows(connection, _of_person(user_id))
    for table in (*_OF_PROFILES, "sharing"):
        row_deletion.rows(connection, table, ("user_id = ?", bound(user_id)))
    connection.execute("UPDATE decisions SET decided_by = '' WHERE decided_by = ?", bound(user_id))
    row_deletion.rows(connection, "incognito", ("user_id = ? AND ends_us <= ?", bound(user_id, micros(at))))
    row_deletion.rows(connection, "missed", ("user_id = ?", bound(user_id)))
    rewording = Rewording(user_id, name_search, hide, places)
    reworded, joined = rewording.events(connection, next_revision(connection))
    reworded += rewording.messages(connection)
    reworded += rewording.notes(connection, "memos") + rewording.notes(connection, "pins")
    reworded += rewording.notes(connection, "missed")
    rewording.facts(connection)
    rewording.profiles(connection)
    erased, changed = rewording.beliefs(connection)
    deleted = replace(deleted, beliefs=erased, reworded=reworded + changed)
    return replace(deleted, event_ids=(*deleted.event_ids, *joined))


def _forget_place(connection: Connection, scope: Scope, at: datetime) -> ErasedRows:
    consent.record_erasure(connection, consent.keyed_tombstones(connection).of_place(scope), at)
    fed = facts.keys_with_facts_of(connection, scope)
    if scope.kind == "group":  # a person has facts from other places, too
        row_deletion.rows(connection, "facts", keys_in(scope))
    for table in _COPIES:
        row_deletion.rows(connection, table, keys_in(scope))
        connection.executemany(delete(table, OF_KEY), map(key_values, fed))
    row_deletion.rows(connection, "incognito", ("scope = ? AND ends_us <= ?", bound(scope.key, micros(at))))
    for table in ("belief_changes", "evolutions", "decisions", "missed"):
        row_deletion.rows(connection, table, ("scope = ?", bound(scope.key)))
    gone = row_deletion.rows(connection, "beliefs", ("scope = ?", bound(scope.key)))
    deleted = _delete_rows(connection, dict.fromkeys(_TABLES, ("scope = ?", bound(scope.key))))
    facts.mark_unmerged(connection, fed)
    return replace(deleted, beliefs=gone)


def _of_person(user_id: str) -> dict[str, Filter]:
    """Return, by table, the SQL condition for a person's own rows and the bot's answers to the person."""
    person = bound(user_id)
    private, ending = row_deletion.of_private_chats(user_id)
    of_theirs: dict[str, Filter] = {
        table: (f"{private} OR {owner} = ?2", (*ending, *person))
        for table, owner in (("memos", "user_id"), ("pins", "author_id = ?2 OR owner_id"), ("names", "user_id"))
    }
    events: Filter = (
        "e.sender_id = ? OR (e.user_id = ? AND (e.request_type = 'private' OR e.sender_id = ''))",
        person * 2,
    )
    return {**of_theirs, "events": events, "messages": ("e.user_id = ?", person), "withdrawals": (private, ending)}


def _delete_rows(connection: Connection, which: Mapping[str, Filter]) -> ErasedRows:
    event_ids = tuple(row_deletion.events_of(connection, which["events"]))
    memo_ids = tuple(row_deletion.ids_of(connection, "memos", which["memos"]))
    row_deletion.rows(connection, "withdrawals", which["withdrawals"])
    return ErasedRows(
        events=len(event_ids),
        messages=row_deletion.messages_of(connection, which["messages"]),
        memos=len(memo_ids),
        pins=row_deletion.rows(connection, "pins", which["pins"]),
        names=row_deletion.rows(connection, "names", which["names"]),
        event_ids=event_ids,
        memo_ids=memo_ids,
    )


def _names(connection: Connection, user_id: str) -> list[str]:
    """Return every name that a person had in any place, including those on their own messages."""
    queries = [select(f"DISTINCT {name}", table, f"{person} = ?") for name, table, person in _NAMED]
    found = {row[0].strip() for query in queries for row in connection.execute(query, bound(user_id))}
    return sorted(found - {""})


def _places(connection: Connection, user_id: str) -> list[str]:
    """Return the keys of the places where a person was seen; elsewhere an equal name is taken for somebody else's."""
    seen = [*((table, person) for _, table, person in _NAMED), ("events", "user_id"), ("messages", "user_id")]
    queries = [select("DISTINCT scope", table, f"{person} = ?") for table, person in seen]
    return sorted({row[0] for query in queries for row in connection.execute(query, bound(user_id))})


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
    consent.record_purge_due(connection, at)
    return ErasedRows(events=len(erased), messages=messages, event_ids=tuple(erased))
