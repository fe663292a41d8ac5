"""Locks by key: work on different keys runs concurrently, work on the same key one at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager


class KeyedLock:
    """One FIFO lock per key, kept only while it is held or awaited; for one event loop.

    :meth:`all` excludes every key: it waits for held locks, and later callers wait for it. A task that holds one of
    these locks must not take another.
    """

    def __init__(self) -> None:
        """Create the lock with no key held."""
        self._locks: dict[Hashable, asyncio.Lock] = {}
        self._users = Counter[Hashable]()
        self._whole = asyncio.Lock()
        self._open, self._empty = asyncio.Event(), asyncio.Event()
        self._open.set()
        self._empty.set()

    def of(self, key: Hashable) -> AbstractAsyncContextManager[None]:
        """Hold the lock of a key during the ``with`` block."""
        return _KeyHeld(self, key)

    @asynccontextmanager
    async def all(self) -> AsyncGenerator[None, None]:
        """Hold the locks of all keys during the ``with`` block."""
        async with self._whole:
            self._open.clear()
            try:
                await self._empty.wait()
                yield
            finally:
                self._open.set()

    async def enter(self, key: Hashable) -> None:
        """Wait for the lock of a key and hold it; :meth:`of` calls it."""
        while not self._open.is_set():
            await self._open.wait()
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        self._users[key] += 1
        self._empty.clear()
        try:
            await lock.acquire()
        except BaseException:
            self._forget_user(key)
            raise

    def leave(self, key: Hashable) -> None:
        """Release the lock of a key; users of :meth:`of` need not call it."""
        self._locks[key].release()
        self._forget_user(key)

    def _forget_user(self, key: Hashable) -> None:
        self._users[key] -= 1
        if not self._users[key]:
            del self._users[key], self._locks[key]
        if not self._locks:
            self._empty.set()


class _KeyHeld(AbstractAsyncContextManager[None]):
    """The context of one key: a class, because a job enters six, and a generator costs more."""

    __slots__ = ("_key", "_locks")

    def __init__(self, locks: KeyedLock, key: Hashable) -> None:
        self._locks, self._key = locks, key

    async def __aenter__(self) -> None:
        await self._locks.enter(self._key)

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._locks.leave(self._key)
