"""What people are and were called, by place."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from sqlite3 import Connection

from ...domain.people import Person
from ...domain.scope import Scope
from ...ports.ledger import Alias
from .database import Database
from .rows import bound, micros
from .statements import LISTED, insert, listed, select

_COLUMNS = ("scope", "user_id", "name", "first_us", "last_us")
_SEEN_AGAIN = (
    "ON CONFLICT DO UPDATE SET first_us = min(first_us, excluded.first_us), last_us = max(last_us, excluded.last_us)"
)


class SqliteNames:
    """The names in a database."""

    def __init__(self, database: Database) -> None:
        """Keep names in a database."""
        self._database = database

    async def note(self, scope: Scope, user_id: str, name: str, at: datetime) -> None:
        """Remember that a person goes by this name here; blank names are ignored."""
        if name.strip():
            await self._database.write(_note, scope, user_id, name, at)

    async def people(self, scope: Scope, user_ids: Iterable[str] = ()) -> list[Person]:
        """Give the people known in a place with their latest names, latest seen first; all, or those asked for."""
        return await self._database.read(_people, scope, list(user_ids))

    async def names_of(self, user_ids: Iterable[str]) -> list[str]:
        """Give every name that these people have or had, anywhere."""
        return await self._database.read(_names_of, list(user_ids))


def add_alias(connection: Connection, alias: Alias) -> bool:
    """Write a name that is not known; tells whether it was."""
    query = insert("names", _COLUMNS, "ON CONFLICT DO NOTHING")
    seen = (micros(alias.first_seen_at), micros(alias.last_seen_at))
    return connection.execute(query, bound(alias.scope.key, alias.user_id, alias.name, *seen)).rowcount > 0


def _note(connection: Connection, scope: Scope, user_id: str, name: str, at: datetime) -> None:
    query = insert("names", _COLUMNS, _SEEN_AGAIN)
    connection.execute(query, bound(scope.key, user_id, name, micros(at), micros(at)))


def _people(connection: Connection, scope: Scope, user_ids: list[str]) -> list[Person]:
    where = f"scope = ? AND user_id IN {LISTED}" if user_ids else "scope = ?"
    query = select("user_id, name", "names", where, "ORDER BY last_us DESC, first_us DESC, seq DESC")
    latest: dict[str, Person] = {}
    for user_id, name in connection.execute(query, (scope.key, listed(user_ids)) if user_ids else (scope.key,)):
        latest.setdefault(user_id, Person(user_id, name))
    return list(latest.values())


def _names_of(connection: Connection, user_ids: list[str]) -> list[str]:
    query = select("DISTINCT name", "names", f"user_id IN {LISTED}")
    return [row[0] for row in connection.execute(query, (listed(user_ids),))]
