"""Owns the connections: one writing thread and a few reading threads, all off the event loop.

Each read sees one snapshot. Writes that wait for the writing thread share a transaction and its sync (group commit),
each in its own savepoint.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from sqlite3 import Connection
from threading import Lock
from traceback import clear_frames
from typing import Any, Concatenate, ParamSpec, TypeVar

from ... import sentences
from ...errors import CognitiveMemoryError, StorageRefused, UnavailableError
from ...tasks import in_thread, seen
from . import migrations
from .snapshots import SnapshotConnection, snapshot

READERS = 2
QUESTIONS = 2  # answered at the same time, each on a thread and a connection of its own
WRITES_TOGETHER = 64  # per transaction
FILES = ("", "-wal", "-shm")  # suffixes of the files of a database
BUSY_SECONDS = 5.0  # how long a write waits for another process that reads the file
EMPTYING_TRIES = 12
EMPTYING_PAUSE = 0.1  # seconds between two attempts
EMPTYING_WAIT = 150  # milliseconds that one attempt waits for readers
READER_CACHE = "-8000"  # KiB of page cache per reading connection
_PASSING_ON = (sqlite3.IntegrityError, sqlite3.ProgrammingError, CognitiveMemoryError)  # the first two: our mistakes
_REFUSED_WRITES = (sqlite3.DatabaseError, UnicodeDecodeError, MemoryError)  # SQLite's own message may quote the damage
_FAILED_READS = (sqlite3.DatabaseError, ValueError, MemoryError)  # ValueError: a damaged row; MemoryError: SQLITE_NOMEM

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=Connection)
Check = Callable[[], None]


@dataclass(eq=False)
class _Write:
    """A write that waits: its work, the future of its caller, and what became of it."""

    work: Callable[[Connection], Any]
    answer: asyncio.Future[Any]
    result: Any = None
    failure: BaseException | None = None


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
        self._read_only = read_only
        templates = sentences.storage_errors
        self.failed_reads = _Translated(_FAILED_READS, UnavailableError, templates.LEDGER_UNREADABLE, path)
        self._refused_writes = _Translated(_REFUSED_WRITES, StorageRefused, templates.STORAGE_REFUSED, path)
        self._finish_begun: asyncio.Future[None] | None = None
        self._writer: Connection | None = None
        self._readers: SimpleQueue[SnapshotConnection] = SimpleQueue()
        self._answering: SimpleQueue[SnapshotConnection] = SimpleQueue()
        self._writing = ThreadPoolExecutor(1, "ledger-writer")
        self._reading = ThreadPoolExecutor(READERS, "ledger-reader")
        self._asking = ThreadPoolExecutor(QUESTIONS, "ledger-question")
        self._waiting: deque[_Write] = deque()
        with ExitStack() as undo:
            undo.callback(self._disconnect)
            self._connect()
            undo.pop_all()

    def read(
        self, work: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Run ``work(connection, ...)`` on a snapshot in a reading thread; the future raises UnavailableError."""

        def carried_out() -> T:
            connection = self._readers.get()  # never blocks: there are as many connections as threads
            try:
                with self.failed_reads, snapshot(connection):
                    return work(connection, *args, **kwargs)
            finally:
                self._readers.put(connection)

        loop = asyncio.get_running_loop()
        return self._refusal() or loop.run_in_executor(self._reading, carried_out)

    def write(
        self, work: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Future[T]:
        """Run ``work(connection, ...)`` in the writing thread, atomically; the result is on disk when it is returned.

        The future raises StorageRefused; nothing is written then.
        """
        if refusal := self._refusal():
            return refusal
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._waiting.append(_Write(lambda connection: work(connection, *args, **kwargs), answer))
        self._writing.submit(self._write_waiting, loop)
        return answer

    async def answer(self, work: Callable[[Connection], T], seconds: float) -> T:
        """Run one step of a question on a snapshot, in a thread of its own; it translates failures by itself.

        After ``seconds``, and when the caller is cancelled, the step is interrupted; raises asyncio.TimeoutError then.
        """
        if refusal := self._refusal():
            return await refusal
        turn, used, is_over = Lock(), list[SnapshotConnection](), list[bool]()

        def carried_out() -> T:
            connection = self._answering.get()  # never blocks: there are as many connections as threads
            try:
                with turn:
                    if is_over:
                        raise UnavailableError(sentences.storage_errors.LEDGER_CLOSED)
                    used.append(connection)
                with snapshot(connection):
                    return work(connection)
            finally:
                with turn:
                    used.clear()
                self._answering.put(connection)

        step = asyncio.ensure_future(in_thread(self._asking, carried_out))
        step.add_done_callback(seen)
        try:
            done, _ = await asyncio.wait((step,), timeout=max(seconds, 0.0))
        finally:
            if not step.done():
                with turn:
                    is_over.append(True)
                    for connection in used:
                        connection.interrupt()
                step.cancel()
        if not done:
            raise asyncio.TimeoutError
        return step.result()

    def write_now(self, work: Callable[[Connection], T]) -> T:
        """Run ``work(connection)`` in the calling thread, atomically; only before the first :meth:`write`."""
        with self._refused_writes, _transaction(self._owned()) as writer:
            return work(writer)

    def read_apart(self, work: Callable[[Connection], T]) -> T:
        """Run ``work(connection)`` in the calling thread, on a connection of its own; raises UnavailableError."""
        with self.failed_reads, closing(opened_for_reading(self.path)) as connection:
            return work(connection)

    async def rewrite(self) -> None:
        """Rewrite the whole file compactly (VACUUM); raises StorageRefused and leaves the file unchanged."""

        def rewritten(writer: Connection) -> None:
            self._check()
            writer.execute("VACUUM")

        await self._in_writing_thread(rewritten)

    async def empty_log(self) -> None:
        """Move the write-ahead log into the file and truncate it.

        Raises UnavailableError if a reader still uses the log after several attempts.
        """

        def is_emptied(writer: Connection) -> bool:
            writer.execute(f"PRAGMA busy_timeout = {EMPTYING_WAIT}")  # other writes queue behind this one
            try:
                return writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            finally:
                writer.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}")

        for _ in range(EMPTYING_TRIES):
            if await self._in_writing_thread(is_emptied):
                return
            await asyncio.sleep(EMPTYING_PAUSE)
        raise UnavailableError(sentences.storage_errors.LOG_IN_USE.format(path=self.path))

    async def close(self) -> None:
        """Wait for running work, checkpoint the log and close all connections, even if the caller is cancelled."""
        if self._finish_begun is None:
            self._finish_begun = asyncio.ensure_future(asyncio.to_thread(self.close_now))
        await asyncio.shield(self._finish_begun)

    def close_now(self) -> None:
        """Do what :meth:`close` does, for a caller without an event loop; blocking."""
        self._writing.shutdown(wait=True)
        self._reading.shutdown(wait=True)
        self._asking.shutdown(wait=True)
        self._disconnect()

    def _refusal(self) -> asyncio.Future[Any] | None:
        """Return a failed future if the database is closed."""
        if self._finish_begun is None:
            return None
        refused: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        refused.set_exception(UnavailableError(sentences.storage_errors.LEDGER_CLOSED))
        return refused

    async def _in_writing_thread(self, work: Callable[[Connection], T]) -> T:
        """Run work outside a transaction, after the writes that were submitted before."""
        if refusal := self._refusal():
            return await refusal
        with self._refused_writes:
            return await asyncio.get_running_loop().run_in_executor(self._writing, lambda: work(self._owned()))

    def _write_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        """Carry out the writes that wait in one transaction; one that fails takes back only its own changes."""
        waiting: list[_Write] = []
        with suppress(IndexError):
            while len(waiting) < WRITES_TOGETHER:
                if not (one := self._waiting.popleft()).answer.cancelled():
                    waiting.append(one)
        if not waiting:  # an earlier call carried them out
            return
        try:
            self._write_all(waiting)
        except BaseException as failure:  # noqa: BLE001  # raised where each write is awaited
            for one in waiting:
                one.failure = failure
        with suppress(RuntimeError):  # the event loop is closed: no caller is left
            loop.call_soon_threadsafe(_deliver, waiting)

    def _write_all(self, writes: Sequence[_Write]) -> None:
        is_alone = len(writes) == 1  # needs no savepoint
        with self._refused_writes, _transaction(self._owned()) as writer:
            for one in writes:
                if not is_alone:
                    writer.execute("SAVEPOINT request")
                try:
                    with self._refused_writes:
                        one.result = one.work(writer)
                except BaseException as failure:
                    if is_alone or not writer.in_transaction:  # SQLite rolled back all of them because of it
                        raise
                    one.failure = failure
                    writer.execute("ROLLBACK TO request")
                if not is_alone:
                    writer.execute("RELEASE request")
            self._check()

    def _owned(self) -> Connection:
        if self._writer is None:
            words = sentences.storage_errors
            raise StorageRefused(words.STORAGE_REFUSED.format(path=self.path, reason=words.OPENED_READ_ONLY))
        return self._writer

    def _connect(self) -> None:
        words = sentences.storage_errors
        try:
            if not self._read_only:
                self._writer = _writer(self.path)
            for number in range(READERS + QUESTIONS):
                reader = opened_for_reading(self.path)
                (self._readers if number < READERS else self._answering).put(reader)
                if self._read_only and number == 0:
                    migrations.check(reader, self.path)
        except (sqlite3.OperationalError, OSError) as refused:
            if self._read_only:
                raise UnavailableError(words.LEDGER_UNREADABLE.format(path=self.path, reason=refused)) from refused
            raise StorageRefused(words.STORAGE_REFUSED.format(path=self.path, reason=refused)) from refused
        except (sqlite3.DatabaseError, UnicodeDecodeError) as damage:  # SQLite's own message may quote the damage
            raise UnavailableError(words.LEDGER_DAMAGED.format(path=self.path, reason=damage)) from damage

    def _disconnect(self) -> None:
        for connections in (self._readers, self._answering):
            while not connections.empty():
                connections.get().close()
        if self._writer is not None:
            with suppress(sqlite3.Error):  # what cannot be moved stays in the write-ahead log, which is durable
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()
            self._writer = None


def _deliver(writes: Sequence[_Write]) -> None:
    for one in writes:
        if one.answer.done():
            continue
        if one.failure is not None:
            one.answer.set_exception(one.failure)
        else:
            one.answer.set_result(one.result)


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


@contextmanager
def _transaction(connection: Connection) -> Generator[Connection, None, None]:
    if connection.in_transaction:  # one before could not be rolled back then
        connection.execute("ROLLBACK")
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # the original error propagates; the next transaction rolls back again
                connection.execute("ROLLBACK")


def _writer(path: Path) -> Connection:
    migrations.refuse_foreign(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for ending in FILES:  # accessible to their owner only; SQLite gives files that it adds the same mode
        with suppress(OSError):  # missing, or on a file system without modes
            path.with_name(path.name + ending).chmod(0o600)
    connection = _connection(path, "rw", Connection)
    with ExitStack() as undo:
        undo.callback(connection.close)
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        migrations.version(connection)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {setting}")
        migrations.migrate(connection, path)
        _refuse_reading_alone(connection)
        undo.pop_all()
    return connection


def _refuse_reading_alone(connection: Connection) -> None:
    """Raise if the file is read-only, because SQLite would open it without error and then refuse every write."""
    connection.execute("DELETE FROM meta WHERE FALSE")


def opened_for_reading(path: Path) -> SnapshotConnection:
    """Open a connection that cannot write."""
    connection = _connection(path, "ro", SnapshotConnection)
    with ExitStack() as undo:
        undo.callback(connection.close)
        connection.execute("PRAGMA query_only = ON")
        connection.execute(f"PRAGMA cache_size = {READER_CACHE}")
        undo.pop_all()
    return connection


def _connection(path: Path, mode: str, kind: type[C]) -> C:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=kind, uri=True
    )
