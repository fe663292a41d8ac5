"""Locks by key: work on different keys runs concurrently, work on the same key one at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager


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

    @asynccontextmanager
    async def of(self, key: Hashable) -> AsyncGenerator[None, None]:
        """Hold the lock of a key while the block runs."""
        while not self._open.is_set():
            await self._open.wait()
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._users[key] += 1
        self._empty.clear()
        try:
            async with lock:
                yield
        finally:
            self._leave(key)

    @asynccontextmanager
    async def all(self) -> AsyncGenerator[None, None]:
        """Hold the locks of all keys while the block runs."""
        async with self._whole:
            self._open.clear()
            try:
                await self._empty.wait()
                yield
            finally:
                self._open.set()

    def _leave(self, key: Hashable) -> None:
        self._users[key] -= 1
        if not self._users[key]:
            del self._users[key], self._locks[key]
        if not self._locks:
            self._empty.set()
