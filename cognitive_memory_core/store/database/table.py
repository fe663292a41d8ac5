"""Operations on tables: plain methods over a connection, which a decorator runs in a thread of the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import wraps
from sqlite3 import Connection
from typing import Any, Concatenate, ParamSpec, TypeVar

from .database import Database

P = ParamSpec("P")
T = TypeVar("T")
Group = TypeVar("Group", bound="Table")
Snapshot = Connection  # the name for modules that do not know SQLite


class Table:
    """A group of tables of one database.

    A missing row is None or omitted, no error. Operations raise StorageRefused (a write) or UnavailableError (a read);
    a write is durable when it returns.
    """

    def __init__(self, database: Database) -> None:
        """Operate on a database."""
        self.database = database


def reads(
    operation: Callable[Concatenate[Group, Connection, P], T],
) -> Callable[Concatenate[Group, P], asyncio.Future[T]]:
    """Make a method over a connection awaitable; :meth:`Database.read` runs it."""

    @wraps(operation)
    def submitted(table: Group, *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        return table.database.read(lambda connection: operation(table, connection, *args, **kwargs))

    return submitted


def writes(
    operation: Callable[Concatenate[Group, Connection, P], T],
) -> Callable[Concatenate[Group, P], asyncio.Future[T]]:
    """Make a method over a connection awaitable; :meth:`Database.write` runs it, atomically."""

    @wraps(operation)
    def submitted(table: Group, *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        return table.database.write(lambda connection: operation(table, connection, *args, **kwargs))

    return submitted


def at_once(operation: Callable[P, asyncio.Future[T]], connection: Connection, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run an operation of a table on a connection, in the calling thread, instead of submitting it."""
    bound: Any = operation
    return bound.__wrapped__(bound.__self__, connection, *args, **kwargs)
