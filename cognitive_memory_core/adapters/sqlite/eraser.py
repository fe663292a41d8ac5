"""Forgetting for good."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from sqlite3 import Connection

from ...domain.erasure import Tombstones
from ...domain.scope import Scope
from ...ports.ledger import Copy, PurgeState, Wiped
from . import copies, tombstones, wiping
from .database import Database
from .exact_search import ExactIndex
from .purging import Purging
from .rewording import Rewording
from .rows import bound
from .statements import next_revision, select

_NAMED = (("name", "names", "user_id"), ("sender_name", "events", "sender_id"), ("user_name", "messages", "sender_id"))


class SqliteEraser:
    """Forgetting in a database.

    A wish to be left out, and the switch of a private chat, outlive their person: they hold the id, since nobody can
    be left out whose id is not known.
    """

    def __init__(self, database: Database, index: ExactIndex) -> None:
        """Erase from a database, and from what an index holds of it in memory."""
        self._database = database
        self._index = index
        self._purging = Purging(database)
        self._one_at_a_time = asyncio.Lock()  # what is erased while a purge runs waits for the next one

    async def forget_person(self, user_id: str, at: datetime, hide: Callable[[str], str]) -> Wiped:
        """Erase what is a person's and hide them in what others said, all in one transaction."""
        async with self._one_at_a_time:
            wiped = await self._database.write(_forget_person, user_id, at, hide)
            self._index.let_go()
        return wiped

    async def forget_place(self, scope: Scope, at: datetime) -> Wiped:
        """Erase everything of a place but its switch, in one transaction."""
        async with self._one_at_a_time:
            wiped = await self._database.write(_forget_place, scope, at)
            self._index.let_go()
        return wiped

    async def tombstones(self) -> Tombstones:
        """Give all tombstones with the key of their hashes."""
        return await self._database.read(tombstones.keyed)

    async def purge(self, at: datetime) -> None:
        """Remove the bytes of what was erased; raises UnavailableError while another process reads the file.

        Then, and when the disk refuses (StorageRefused), the purge stays due.
        """
        async with self._one_at_a_time:
            await self._purging.run()
            await self._database.write(tombstones.purged, at)

    async def purge_due(self) -> PurgeState:
        """Tell whether something was erased whose bytes are still there, and when the last purge was."""
        return await self._database.read(tombstones.purge_state)

    async def copy_to(self, path: Path, at: datetime) -> None:
        """Write a consistent copy to a file that only its owner may read, without the bytes of what was erased.

        It is noted as a backup before it is made, so that none is left unnamed.
        """
        if (await self.purge_due()).erased_at is not None:
            await self.purge(at)
        await self._database.write(copies.note, Copy(str(path), "backup", at))
        await self._database.read(copies.write, path)

    async def copies(self, *, made: Copy | None = None) -> list[Copy]:
        """List the copies that were made for people, oldest first, after noting one."""
        if made is not None:
            await self._database.write(copies.note, made)
        return await self._database.read(copies.noted)


def _forget_person(connection: Connection, user_id: str, at: datetime, hide: Callable[[str], str]) -> Wiped:
    tombstones.lay(connection, tombstones.keyed(connection).of_person(user_id), at)
    rewording = Rewording(user_id, (*bound(user_id), *_names(connection, user_id)), hide)
    person = bound(user_id)
    private, ending = wiping.of_private_chats(user_id)
    theirs = "e.sender_id = ? OR (e.request_type = 'private' AND e.user_id = ?)"
    event_ids = wiping.events_of(connection, (theirs, person * 2))
    messages = wiping.messages_of(connection, ("e.user_id = ?", person))
    memo_ids = wiping.ids_of(connection, "memos", (f"{private} OR user_id = ?2", (*ending, *person)))
    pins = wiping.rows(connection, "pins", (f"{private} OR owner_id = ?2", (*ending, *person)))
    names = wiping.rows(connection, "names", (f"{private} OR user_id = ?2", (*ending, *person)))
    wiping.rows(connection, "withdrawals", (private, ending))
    reworded, joined = rewording.events(connection, next_revision(connection))
    reworded += rewording.messages(connection)
    reworded += rewording.notes(connection, "memos") + rewording.notes(connection, "pins")
    return Wiped(
        events=len(event_ids),
        messages=messages,
        memos=len(memo_ids),
        pins=pins,
        names=names,
        reworded=reworded,
        event_ids=(*event_ids, *joined),
        memo_ids=tuple(memo_ids),
    )


def _forget_place(connection: Connection, scope: Scope, at: datetime) -> Wiped:
    tombstones.lay(connection, tombstones.keyed(connection).of_place(scope), at)
    here = ("scope = ?", bound(scope.key))
    event_ids = wiping.events_of(connection, here)
    messages = wiping.messages_of(connection, here)
    memo_ids = wiping.ids_of(connection, "memos", here)
    pins, names = (wiping.rows(connection, table, here) for table in ("pins", "names"))
    wiping.rows(connection, "withdrawals", here)
    return Wiped(
        events=len(event_ids),
        messages=messages,
        memos=len(memo_ids),
        pins=pins,
        names=names,
        event_ids=tuple(event_ids),
        memo_ids=tuple(memo_ids),
    )


def _names(connection: Connection, user_id: str) -> list[str]:
    """Give every name that a person had anywhere, also on what they said themselves."""
    queries = [select(f"DISTINCT {name}", table, f"{person} = ?") for name, table, person in _NAMED]
    found = {row[0].strip() for query in queries for row in connection.execute(query, bound(user_id))}
    return sorted(found - {""})
