"""Owns the connections: one writing thread and a few reading threads, all off the event loop.

Each read sees one snapshot, each write is one transaction. Operations on tables are plain methods over a connection,
which a decorator runs in a thread of the database.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from queue import SimpleQueue
from sqlite3 import Connection
from threading import Event
from traceback import clear_frames
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ... import sentences
from ...disk import refusals
from ...errors import CognitiveMemoryError, StorageRefused, UnavailableError
from ...tasks import is_out_of_threads, seen
from . import migrations
from .connections import STEPS, SnapshotConnection, opened_for_reading, opened_for_writing, snapshot

READERS = 3  # threads, each with a connection of its own
_PASSING_ON = (sqlite3.IntegrityError, sqlite3.ProgrammingError, CognitiveMemoryError)  # the first two: our mistakes
_REFUSED_WRITES = (sqlite3.DatabaseError, UnicodeDecodeError, MemoryError)  # SQLite's own message may quote the damage
_FAILED_READS = (sqlite3.DatabaseError, ValueError, MemoryError)  # ValueError: a damaged row; MemoryError: SQLITE_NOMEM

P = ParamSpec("P")
T = TypeVar("T")
Group = TypeVar("Group", bound="Table")
Snapshot = Connection  # the name for modules that do not know SQLite
Check = Callable[[], None]


class Database:
    """A SQLite file in WAL mode. A write cancelled while queued is not executed; one that has begun is completed."""

    def __init__(self, path: Path, *, read_only: bool = False, check: Check = lambda: None) -> None:
        """Open, check and migrate a file, and create it only if it is missing; blocking.

        ``check`` runs before every commit and raises StorageRefused if the file must not be written any more.
        Raises StorageRefused when the disk refuses, UnavailableError when the file is damaged or of a newer version;
        in the latter case the file is unchanged.
        """
        self.path = path
        self._check = check
        templates = sentences.storage_errors
        self.failed_reads = _Translated(_FAILED_READS, UnavailableError, templates.LEDGER_UNREADABLE, path)
        self._refused_writes = _Translated(_REFUSED_WRITES, StorageRefused, templates.STORAGE_REFUSED, path)
        self._finish_begun: asyncio.Future[None] | None = None
        self._writer: Connection | None = None
        self._readers: SimpleQueue[SnapshotConnection] = SimpleQueue()
        self._writing = ThreadPoolExecutor(1, "ledger-writer")
        self._reading = ThreadPoolExecutor(READERS, "ledger-reader")
        with ExitStack() as undo:
            undo.callback(self.close_now)
            try:
                if not read_only:
                    # in its own thread, which then runs: a write that is refused one would be carried out later
                    self._writer = self._writing.submit(opened_for_writing, path).result()
                for number in range(READERS):
                    reader = opened_for_reading(path)
                    self._readers.put(reader)
                    if read_only and number == 0:
                        migrations.check(reader, path)
            except (sqlite3.OperationalError, OSError, RuntimeError) as refused:  # the last: no thread
                if read_only:
                    raise UnavailableError(templates.LEDGER_UNREADABLE.format(path=path, reason=refused)) from refused
                raise StorageRefused(templates.STORAGE_REFUSED.format(path=path, reason=refused)) from refused
            except (sqlite3.DatabaseError, UnicodeDecodeError) as damage:  # SQLite's own message may quote the damage
                raise UnavailableError(templates.LEDGER_DAMAGED.format(path=path, reason=damage)) from damage
            undo.pop_all()

    def read(
        self, work: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Run ``work(connection, ...)`` on a snapshot in a reading thread; raises UnavailableError."""

        def carried_out() -> T:
            connection = self._readers.get()  # never blocks: there are as many connections as threads
            try:
                with self.failed_reads, snapshot(connection):
                    return work(connection, *args, **kwargs)
            finally:
                self._readers.put(connection)

        return self._submitted(self._reading, carried_out)

    def write(
        self, work: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Run ``work(connection, ...)`` in the writing thread, atomically; the result is on disk when it is returned.

        Raises StorageRefused, and UnavailableError once it is closed; nothing is written then.
        """

        def carried_out() -> T:
            with self._transaction() as writer:
                return work(writer, *args, **kwargs)

        return self._submitted(self._writing, carried_out)

    async def answer(self, work: Callable[[Connection], T], seconds: float) -> T:
        """Run one step of a question as :meth:`read` does.

        After ``seconds``, and when the caller is cancelled, the step is interrupted; raises asyncio.TimeoutError then.
        """
        over = Event()

        def watched(connection: Connection) -> T:
            connection.set_progress_handler(over.is_set, STEPS)
            try:
                return work(connection)
            finally:
                connection.set_progress_handler(None, 0)

        step = self.read(watched)
        step.add_done_callback(seen)
        try:
            await asyncio.wait({step}, timeout=seconds)
            if not step.done():
                raise asyncio.TimeoutError
        finally:
            over.set()
            step.cancel()  # no effect on a step that is done
        return step.result()

    def write_now(self, work: Callable[[Connection], T]) -> T:
        """Run ``work(connection)`` in the calling thread, atomically; only before the first :meth:`write`."""
        with self._transaction() as writer:
            return work(writer)

    def read_apart(self, work: Callable[[Connection], T]) -> T:
        """Run ``work(connection)`` in the calling thread, on a connection of its own; raises UnavailableError."""
        with self.failed_reads, closing(opened_for_reading(self.path)) as connection:
            return work(connection)

    async def purge(self) -> None:
        """Remove deleted bytes from the file, the write-ahead log and the copies kept by migrations.

        `secure_delete` alone is not enough: when SQLite splits a page, copies of the moved rows stay in the free space
        and outlive the rows. Therefore the file is rewritten. Raises StorageRefused, and UnavailableError if a reader
        keeps using the log. Other writes queue behind this one, which waits for readers as long as any write.
        """

        def carried_out() -> None:
            self._check()
            writer = self._owned()
            writer.execute("VACUUM")
            if writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise UnavailableError(sentences.storage_errors.LOG_IN_USE.format(path=self.path))
            with refusals(self.path):
                for copy in migrations.copies_of(self.path):
                    copy.unlink(missing_ok=True)

        with self._refused_writes:
            await self._submitted(self._writing, carried_out)

    async def close(self) -> None:
        """Wait for running work, checkpoint the log and close all connections, even if the caller is cancelled."""
        if self._finish_begun is None:
            self._finish_begun = asyncio.ensure_future(asyncio.to_thread(self.close_now))
        await asyncio.shield(self._finish_begun)

    def close_now(self) -> None:
        """Do what :meth:`close` does, for a caller without an event loop; blocking."""
        self._writing.shutdown(wait=True)
        self._reading.shutdown(wait=True)
        while not self._readers.empty():
            self._readers.get().close()
        if self._writer is not None:
            with suppress(sqlite3.Error):  # what cannot be moved stays in the write-ahead log, which is durable
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()
            self._writer = None

    def _submitted(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> asyncio.Future[T]:
        if self._finish_begun is not None:
            raise UnavailableError(sentences.storage_errors.LEDGER_CLOSED)
        try:
            return asyncio.get_running_loop().run_in_executor(pool, work)
        except RuntimeError as failure:
            if not is_out_of_threads(failure):
                raise
            reason = sentences.storage_errors.LEDGER_UNREADABLE.format(path=self.path, reason=failure)
            raise UnavailableError(reason) from failure

    @contextmanager
    def _transaction(self) -> Generator[Connection, None, None]:
        """Run the ``with`` block in one transaction; on failure nothing is written."""
        with self._refused_writes:
            writer = self._owned()
            if writer.in_transaction:  # one before could not be rolled back then
                writer.execute("ROLLBACK")
            writer.execute("BEGIN IMMEDIATE")
            try:
                yield writer
                self._check()
                writer.execute("COMMIT")
            finally:
                if writer.in_transaction:
                    with suppress(sqlite3.Error):  # the original error propagates; the next one rolls back again
                        writer.execute("ROLLBACK")

    def _owned(self) -> Connection:
        if self._writer is None:
            words = sentences.storage_errors
            raise StorageRefused(words.STORAGE_REFUSED.format(path=self.path, reason=words.OPENED_READ_ONLY))
        return self._writer


@dataclass(frozen=True)
class _Translated:
    """Raises failures of a ``with`` block as an error of the core; a class, because a job enters it some ten times."""

    failures: tuple[type[Exception], ...]
    error: type[CognitiveMemoryError]
    sentence: str
    path: Path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> None:
        if isinstance(failure, self.failures) and not isinstance(failure, _PASSING_ON):
            reason = str(failure) or type(failure).__name__
            clear_frames(failure.__traceback__)  # a cursor kept there would hold later reads on its old snapshot
            raise self.error(self.sentence.format(path=self.path, reason=reason)) from failure


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
