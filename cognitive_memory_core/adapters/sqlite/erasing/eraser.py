"""Forgetting for good."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Protocol

from ....domain.erasure import Tombstones
from ....domain.scope import Scope
from ....ports.ledger import Copy, PurgeState, Wiped
from ....text.safety.redaction import hides_alone
from ..database import copies
from ..database.database import Database
from ..database.rows import bound
from ..database.statements import delete, next_revision, select
from ..records import facts, tombstones
from ..search.filters import Filter
from ..search.keys import OF_KEY, key_values, keys_in
from . import wiping
from .needles import Needles
from .purging import purge
from .rewording import Rewording

_TABLES = ("events", "messages", "memos", "pins", "names", "withdrawals")
_COPIES = ("merge_failures", "profiles")
_OF_PROFILES = ("facts", *_COPIES)
_NAMED = (("name", "names", "user_id"), ("sender_name", "events", "sender_id"), ("user_name", "messages", "sender_id"))


class RowHolder(Protocol):
    """Something that holds some of the database in memory."""

    def clear_caches(self) -> None:
        """Hold nothing."""
        ...


class SqliteEraser:
    """Forgetting in a database.

    A wish to be left out, and the switch of a private chat, outlive their person: they hold the id, since nobody can
    be left out whose id is not known.
    """

    def __init__(self, database: Database, *held: RowHolder) -> None:
        """Erase from a database, and from what is held of it in memory."""
        self._database = database
        self._held = held
        self._erasing = asyncio.Lock()  # what is erased while a purge runs waits for the next one
        self._copying = asyncio.Lock()  # a purge cannot empty the log while a copy is read

    async def forget_person(self, user_id: str, at: datetime, hide: Callable[[str], str]) -> Wiped:
        """Erase what is a person's and hide them in what others said, all in one transaction."""
        return await self._forget(lambda connection: _forget_person(connection, user_id, at, hide))

    async def forget_place(self, scope: Scope, at: datetime) -> Wiped:
        """Erase everything of a place but its switch, in one transaction."""
        return await self._forget(lambda connection: _forget_place(connection, scope, at))

    async def tombstones(self) -> Tombstones:
        """Give all tombstones with the key of their hashes."""
        return await self._database.read(tombstones.keyed)

    async def purge(self, at: datetime, *, is_over: bool = True) -> None:
        """Remove the bytes of what was erased; raises UnavailableError while another process reads the file.

        Then, when the disk refuses (StorageRefused), and unless it ``is_over``, the purge stays due.
        """
        async with self._copying, self._erasing:
            await purge(self._database)
            if is_over:
                await self._database.write(tombstones.purged, at)

    async def purge_due(self) -> PurgeState:
        """Tell whether something was erased whose bytes are still there, and when the last purge was."""
        return await self._database.read(tombstones.purge_state)

    async def copy_to(self, path: Path, at: datetime, *, name: Path | None = None) -> None:
        """Write a consistent copy to a file that only its owner may read, without the bytes of what was erased.

        It is noted as a backup before it is made, so that none is left unnamed. A purge that is due stays due: it
        takes more than this file.
        """
        async with self._copying:
            if (await self.purge_due()).erased_at is not None:
                async with self._erasing:
                    await purge(self._database)
            await self._database.write(copies.note, Copy(str(name or path), "backup", at))
            await self._database.read(copies.write, path)

    async def copies(self, *, made: Copy | None = None) -> list[Copy]:
        """List the copies that were made for people, oldest first, after noting one."""
        if made is not None:
            await self._database.write(copies.note, made)
        return await self._database.read(copies.noted)

    async def _forget(self, work: Callable[[Connection], Wiped]) -> Wiped:
        async with self._erasing:
            try:
                return await self._database.write(work)
            finally:
                for held in self._held:
                    held.clear_caches()


def _forget_person(connection: Connection, user_id: str, at: datetime, hide: Callable[[str], str]) -> Wiped:
    tombstones.lay(connection, tombstones.keyed(connection).of_person(user_id), at)
    needles = Needles(connection, (*bound(user_id), *filter(hides_alone, _names(connection, user_id))))
    places = _places(connection, user_id)
    wiped = _wipe(connection, _of_person(user_id))
    for table in (*_OF_PROFILES, "sharing"):
        wiping.rows(connection, table, ("user_id = ?", bound(user_id)))
    rewording = Rewording(user_id, needles, hide, places)
    reworded, joined = rewording.events(connection, next_revision(connection))
    reworded += rewording.messages(connection)
    reworded += rewording.notes(connection, "memos") + rewording.notes(connection, "pins")
    rewording.facts(connection)
    rewording.profiles(connection)
    return replace(wiped, reworded=reworded, event_ids=(*wiped.event_ids, *joined))


def _forget_place(connection: Connection, scope: Scope, at: datetime) -> Wiped:
    tombstones.lay(connection, tombstones.keyed(connection).of_place(scope), at)
    fed = facts.fed_by(connection, scope)
    if scope.kind == "group":  # a person has facts from other places, too
        wiping.rows(connection, "facts", keys_in(scope))
    for table in _COPIES:
        wiping.rows(connection, table, keys_in(scope))
        connection.executemany(delete(table, OF_KEY), map(key_values, fed))
    wiped = _wipe(connection, dict.fromkeys(_TABLES, ("scope = ?", bound(scope.key))))
    facts.wait_again(connection, fed)
    return wiped


def _of_person(user_id: str) -> dict[str, Filter]:
    """Compile what goes with a person, by table; a line of the bot goes with the person whom it answered."""
    person = bound(user_id)
    private, ending = wiping.of_private_chats(user_id)
    of_theirs: dict[str, Filter] = {
        table: (f"{private} OR {owner} = ?2", (*ending, *person))
        for table, owner in (("memos", "user_id"), ("pins", "author_id = ?2 OR owner_id"), ("names", "user_id"))
    }
    events: Filter = ("e.sender_id = ? OR (e.request_type = 'private' AND e.user_id = ?)", person * 2)
    return {**of_theirs, "events": events, "messages": ("e.user_id = ?", person), "withdrawals": (private, ending)}


def _wipe(connection: Connection, which: Mapping[str, Filter]) -> Wiped:
    event_ids = tuple(wiping.events_of(connection, which["events"]))
    memo_ids = tuple(wiping.ids_of(connection, "memos", which["memos"]))
    wiping.rows(connection, "withdrawals", which["withdrawals"])
    return Wiped(
        events=len(event_ids),
        messages=wiping.messages_of(connection, which["messages"]),
        memos=len(memo_ids),
        pins=wiping.rows(connection, "pins", which["pins"]),
        names=wiping.rows(connection, "names", which["names"]),
        event_ids=event_ids,
        memo_ids=memo_ids,
    )


def _names(connection: Connection, user_id: str) -> list[str]:
    """Give every name that a person had anywhere, also on what they said themselves."""
    queries = [select(f"DISTINCT {name}", table, f"{person} = ?") for name, table, person in _NAMED]
    found = {row[0].strip() for query in queries for row in connection.execute(query, bound(user_id))}
    return sorted(found - {""})


def _places(connection: Connection, user_id: str) -> list[str]:
    """Give the keys of the places where a person was seen: elsewhere their name is somebody else's."""
    seen = [*((table, person) for _, table, person in _NAMED), ("events", "user_id"), ("messages", "user_id")]
    queries = [select("DISTINCT scope", table, f"{person} = ?") for table, person in seen]
    return sorted({row[0] for query in queries for row in connection.execute(query, bound(user_id))})
