"""Permanent erasure of persons and places."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Protocol

from ...domain.erasure import Tombstones
from ...domain.figures import PurgeState
from ...domain.scope import Scope
from ...text.safety.redaction import hides_alone
from .. import facts, tombstones
from ..database import copies
from ..database.copies import Copy
from ..database.database import Database
from ..database.rows import bound, micros
from ..database.statements import delete, next_revision, select
from ..database.table import Table, reads
from ..profile_keys import OF_KEY, key_values, keys_in
from ..search.read_filter_sql import Filter
from . import row_deletion
from .byte_purge import purge
from .person_search import PersonSearch
from .rewording import Rewording

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
        return tombstones.keyed(connection)

    async def purge(self, at: datetime, *, is_over: bool = True) -> None:
        """Remove the bytes of erased data from every file of the ledger, including migration copies.

        If ``is_over`` is false, the purge stays due, because files outside the ledger still hold the bytes.
        """
        async with self._copying, self._erasing:
            await purge(self.database)
            if is_over:
                await self.database.write(tombstones.purged, at)

    @reads
    def purge_due(self, connection: Connection) -> PurgeState:
        """Return since when erased bytes remain on disk, if any, and when the last purge was."""
        return tombstones.purge_state(connection)

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
    tombstones.record(connection, tombstones.keyed(connection).of_person(user_id), at)
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
    tombstones.record(connection, tombstones.keyed(connection).of_place(scope), at)
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
