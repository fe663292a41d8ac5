"""A small file of one JSON value."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

MOST_BYTES = 16 * 1024 * 1024
T = TypeVar("T", bound=dict[Any, Any] | list[Any])


class JsonFile(Generic[T]):
    """A small file of one JSON value, which is empty while the file is missing, damaged or of another kind.

    ``value`` is what was read or written last. The file is readable by its owner only.
    """

    def __init__(self, path: Path | None, kind: type[T]) -> None:
        """Keep a value of this kind at ``path``; None keeps it in memory only."""
        self.value = self._written = kind()
        self._path = path
        self._kind = kind
        self._is_read = False
        self._turn = asyncio.Lock()
        self._writing = threading.Lock()  # a write whose task was cancelled continues in its thread

    async def read(self) -> T:
        """Return the value, read from the file at the first call."""
        async with self._turn:
            if not self._is_read:
                self.value = self._written = await asyncio.to_thread(self._parsed)
                self._is_read = True
        return self.value

    async def change(self, to: Callable[[T], T]) -> None:
        """Replace the value by what ``to`` makes of it, also in the file, whose readers find the old or the new one.

        Raises OSError if the file cannot be written; the value is the new one all the same. The file is not synced: a
        power cut may leave the old value, or nothing that can be read.
        """
        await self.read()
        async with self._turn:
            self.value = value = to(self.value)
            if value != self._written and self._path:
                await asyncio.to_thread(self._write, self._path, value)
                self._written = value

    def _parsed(self) -> T:
        with suppress(OSError, ValueError, RecursionError):
            if self._path and self._path.stat().st_size <= MOST_BYTES:
                value = json.loads(self._path.read_text("utf-8"))
                return value if isinstance(value, self._kind) else self._kind()
        return self._kind()

    def _write(self, path: Path, value: T) -> None:
        with self._writing:
            draft = path.with_suffix(".tmp")
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(value))  # several times as quick as json.dump
            draft.replace(path)
