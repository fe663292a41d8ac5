"""Opt-outs, profile sharing and switches of places."""

from __future__ import annotations

from datetime import datetime
from sqlite3 import Connection

from ..domain.scope import PlaceSwitch, Scope
from .database.rows import Row, bound, instant_of, micros
from .database.table import Table, reads, writes
from .event_rows import opted_out


class ConsentBook(Table):
    """Opt-outs, sharing consents, and the switch of each place."""

    @writes
    def opt_out(self, connection: Connection, user_id: str, at: datetime) -> None:
        """Record that a person opts out, in all places."""
        add_opt_out(connection, user_id, at)

    @writes
    def opt_in(self, connection: Connection, user_id: str) -> None:
        """Remove a person's opt-out."""
        connection.execute("DELETE FROM opt_outs WHERE user_id = ?", bound(user_id))

    @reads
    def opted_out(self, connection: Connection) -> frozenset[str]:
        """Return the ids of all people who opted out."""
        return opted_out(connection)

    @writes
    def set_switch(self, connection: Connection, switch: PlaceSwitch) -> None:
        """Set the switch of a place, replacing the previous one."""
        connection.execute("DELETE FROM switches WHERE scope = ?", (switch.scope.key,))
        if switch.switch != "on":
            add_switch(connection, switch)

    @reads
    def switches(self, connection: Connection) -> list[PlaceSwitch]:
        """Return the switches that are not "on", including expired ones."""
        return [switch_of(row) for row in connection.execute("SELECT scope, switch, until_us FROM switches")]

    async def set_sharing(self, user_id: str, *, shared: bool, at: datetime) -> None:
        """Record whether a person shares their own profile with all places."""
        if shared:
            await self.database.write(add_sharing, user_id, at)
        else:
            await self.database.write(_end_sharing, user_id)

    @reads
    def shared(self, connection: Connection) -> frozenset[str]:
        """Return the ids of all people who share their profile."""
        return frozenset(row[0] for row in connection.execute("SELECT user_id FROM sharing"))


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


def add_switch(connection: Connection, switch: PlaceSwitch) -> bool:
    """Write a switch unless its place has one; return whether it was written."""
    until = None if switch.until is None else micros(switch.until)
    query = "INSERT INTO switches (scope, switch, until_us) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    return connection.execute(query, bound(switch.scope.key, switch.switch, until)).rowcount > 0


def switch_of(row: Row) -> PlaceSwitch:
    """Convert a row of scope, switch and ``until_us`` to the switch of a place."""
    key, switch, until_us = row
    return PlaceSwitch(Scope.of_key(key), switch, None if until_us is None else instant_of(until_us))
