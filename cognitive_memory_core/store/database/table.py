"""Operations on tables: plain methods over a connection, which a decorator runs in a thread of the database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial, wraps
from sqlite3 import Connection
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

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


class reads(Generic[Group, P, T]):  # noqa: N801  # a decorator
    """Make a method over a connection awaitable; :meth:`Database.read` runs it.

    On the class instead of an object, it is called with a connection, in the calling thread: operations are made of
    others. It must need nothing of its object then.
    """

    is_write = False

    def __init__(self, operation: Callable[Concatenate[Group, Connection, P], T]) -> None:
        """Wrap the method."""

        @wraps(operation)
        def submitted(table: Group, *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
            submit = table.database.write if self.is_write else table.database.read
            return submit(lambda connection: operation(table, connection, *args, **kwargs))

        self._operation, self._submitted = operation, submitted

    @overload
    def __get__(self, table: None, kind: type[Group]) -> Callable[Concatenate[Connection, P], T]: ...

    @overload
    def __get__(self, table: Group, kind: type[Group]) -> Callable[P, asyncio.Future[T]]: ...

    def __get__(self, table: Any, kind: type[Group]) -> Any:
        """Return the method, awaitable for an object, plain for the class."""
        operation: Any = self._operation
        return partial(operation, None) if table is None else MethodType(self._submitted, table)


class writes(reads[Group, P, T]):  # noqa: N801  # a decorator
    """Make a method over a connection awaitable; :meth:`Database.write` runs it, atomically. See :class:`reads`."""

    is_write = True


def at_once(operation: Callable[P, asyncio.Future[T]], connection: Connection, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run an operation of a table on a connection, in the calling thread, instead of submitting it."""
    bound: Any = operation
    return bound.__wrapped__(bound.__self__, connection, *args, **kwargs)
