"""Opt-outs, profile sharing and switches of places."""

from __future__ import annotations

from datetime import datetime
from sqlite3 import Connection

from ..domain.place_switch import PlaceSwitch
from ..domain.scope import Scope
from .database.database import Database
from .database.rows import Row, bound, instant_of, micros
from .event_rows import opted_out


class ConsentBook:
    """Opt-outs, sharing consents, and the switch of each place."""

    def __init__(self, database: Database) -> None:
        """Keep consent settings in a database."""
        self._database = database

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Record that a person opts out, in all places."""
        await self._database.write(add_opt_out, user_id, at)

    async def opt_in(self, user_id: str) -> None:
        """Remove a person's opt-out."""
        await self._database.write(_opt_in, user_id)

    async def opted_out(self) -> frozenset[str]:
        """Return the ids of all people who opted out."""
        return await self._database.read(opted_out)

    async def set_switch(self, switch: PlaceSwitch) -> None:
        """Set the switch of a place, replacing the previous one."""
        await self._database.write(_set_switch, switch)

    async def switches(self) -> list[PlaceSwitch]:
        """Return the switches that are not "on", including expired ones."""
        return await self._database.read(_switches)

    async def set_sharing(self, user_id: str, *, shared: bool, at: datetime) -> None:
        """Record whether a person shares their own profile with all places."""
        if shared:
            await self._database.write(add_sharing, user_id, at)
        else:
            await self._database.write(_end_sharing, user_id)

    async def shared(self) -> frozenset[str]:
        """Return the ids of all people who share their profile."""
        return await self._database.read(_shared)


def add_opt_out(connection: Connection, user_id: str, at: datetime) -> bool:
    """Write an opt-out unless it is known; return whether it was written."""
    query = "INSERT INTO opt_outs (user_id, at_us) VALUES (?, ?) ON CONFLICT DO NOTHING"
    return connection.execute(query, bound(user_id, micros(at))).rowcount > 0


def add_sharing(connection: Connection, user_id: str, at: datetime) -> bool:
    """Record that a person shares their profile; returns whether that was new."""
    query = "INSERT INTO sharing (user_id, at_us) VALUES (?, ?) ON CONFLICT DO NOTHING"
    return connection.execute(query, bound(user_id, micros(at))).rowcount > 0


def _end_sharing(connection: Connection, user_id: str) -> None:
    connection.execute("DELETE FROM sharing WHERE user_id = ?", bound(user_id))


def _shared(connection: Connection) -> frozenset[str]:
    return frozenset(row[0] for row in connection.execute("SELECT user_id FROM sharing"))


def _opt_in(connection: Connection, user_id: str) -> None:
    connection.execute("DELETE FROM opt_outs WHERE user_id = ?", bound(user_id))


def _set_switch(connection: Connection, switch: PlaceSwitch) -> None:
    connection.execute("DELETE FROM switches WHERE scope = ?", (switch.scope.key,))
    if switch.switch != "on":
        add_switch(connection, switch)


def add_switch(connection: Connection, switch: PlaceSwitch) -> bool:
    """Write a switch unless its place has one; return whether it was written."""
    until = None if switch.until is None else micros(switch.until)
    query = "INSERT INTO switches (scope, switch, until_us) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    return connection.execute(query, bound(switch.scope.key, switch.switch, until)).rowcount > 0


def _switches(connection: Connection) -> list[PlaceSwitch]:
    return [switch_of(row) for row in connection.execute("SELECT scope, switch, until_us FROM switches")]


def switch_of(row: Row) -> PlaceSwitch:
    """Convert a row of scope, switch and ``until_us`` to the switch of a place."""
    key, switch, until_us = row
    return PlaceSwitch(Scope.of_key(key), switch, None if until_us is None else instant_of(until_us))
