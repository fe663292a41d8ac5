"""Exports, imports and backups that run in the background of the bot."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import cognitive_memory_core as core

FILE = "memory.jsonl"
LEDGER = "ledger.db"  # by this file a backup is known
DRAFTS = ".cognitive-memory-*.part"  # what is not complete yet
SLICE = 1 << 20  # bytes read at once
KEPT = 3_600.0  # seconds for which a finished export can be downloaded


@dataclass
class Transfer:
    """One export, import or backup: its path, when it began, and how it ended.

    ``total`` is the expected number of bytes of a backup or of rows of an export; 0 if unknown. ``counted`` is the
    number of rows found in the first ``seen`` bytes of an export's draft, ``folder`` is removed with it.
    """

    kind: str
    path: Path
    total: int
    began: float
    folder: tempfile.TemporaryDirectory[str] | None = None
    task: asyncio.Task[int | None] | None = None
    counted: int = 0
    seen: int = 0

    @property
    def is_running(self) -> bool:
        """Whether the transfer has begun and not ended."""
        return self.task is not None and not self.task.done()

    @property
    def problem(self) -> str:
        """Why the transfer failed; "" if it did not."""
        if self.task is None or self.is_running or self.task.cancelled():
            return ""
        failure = self.task.exception()
        return "" if failure is None else str(failure)

    @property
    def rows(self) -> int:
        """The number of rows that an export wrote or an import added."""
        return (self.task.result() or 0) if self.task and not self.is_running and not self.problem else 0

    @property
    def seconds(self) -> int:
        """The seconds since the transfer began."""
        return round(time.monotonic() - self.began)


class Transfers:
    """Runs exports and backups, one of each at a time, and remembers the last of each; export files are temporary."""

    def __init__(self) -> None:
        """Start without transfers."""
        self.latest: dict[str, Transfer] = {}
        self._turn = asyncio.Lock()  # beginning and removing must not overlap

    def is_running(self, kind: str) -> bool:
        """Return whether one of this kind is under way."""
        return kind in self.latest and self.latest[kind].is_running

    async def export(self, memory: core.CognitiveMemory, user_id: str = "", place: core.Scope | None = None) -> None:
        """Begin an export of everything, of one person, or of one place, into a temporary folder, unless one runs.

        The file of the last export is removed before.
        """
        async with self._turn:
            if self.is_running("export"):
                return
            await self._remove(memory)
            totals = (await memory.status()).totals
            folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="cognitive-memory-export-")
            path = Path(folder.name) / FILE
            rows = totals.events + totals.retired + totals.messages + totals.memos + totals.pins + totals.beliefs
            export = Transfer("export", path, 0 if user_id or place else rows, time.monotonic(), folder)
            self._begin(export, lambda: memory.export(path, user_id=user_id or None, place=place))

    async def backup(self, memory: core.CognitiveMemory, data_dir: Path, at: datetime) -> None:
        """Begin a backup into a new folder beside the data directory; do nothing if one is running."""
        path = data_dir.with_name(f"{data_dir.name}.backup-{at:%Y%m%dT%H%M%S}")
        total = await asyncio.to_thread(size_of, data_dir / "ledger.db", data_dir / "profiles")
        self._begin(Transfer("backup", path, total, time.monotonic()), lambda: memory.backup(path))

    async def import_(self, memory: core.CognitiveMemory, upload: BinaryIO) -> None:
        """Begin an import of an uploaded file, of which a copy lies in a temporary folder until it ends."""
        if self.is_running("import"):
            return
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="cognitive-memory-import-")
        path = Path(folder.name) / FILE

        def copy() -> None:
            with path.open("wb") as file:
                shutil.copyfileobj(upload, file)

        async def work() -> int:
            try:
                return await memory.import_(path)
            finally:
                await asyncio.to_thread(folder.cleanup)

        await asyncio.to_thread(copy)
        self._begin(Transfer("import", path, 0, time.monotonic()), work)

    async def cancel(self, memory: core.CognitiveMemory, kind: str) -> bool:
        """Cancel the running transfer of this kind, and remove its files; return False if none runs."""
        async with self._turn:
            one = self.latest.get(kind)
            if one is None or one.task is None or not one.is_running:
                return False
            one.task.cancel()
            await asyncio.wait({one.task})
            if kind == "export":
                await self._remove(memory)
            elif not await asyncio.to_thread(one.path.exists):
                del self.latest[kind]
                await memory.discard_export(one.path / LEDGER)
            return True

    async def discard(self, memory: core.CognitiveMemory) -> bool:
        """Remove the file of the last export and return True; return False while that export is running."""
        async with self._turn:
            if self.is_running("export"):
                return False
            await self._remove(memory)
            return True

    async def _remove(self, memory: core.CognitiveMemory) -> None:
        last = self.latest.pop("export", None)
        if last is not None and last.folder is not None:
            await asyncio.to_thread(last.folder.cleanup)
            await memory.discard_export(last.path)

    def _begin(self, transfer: Transfer, work: Callable[[], Coroutine[Any, Any, int | None]]) -> None:
        transfer.task = asyncio.create_task(work())
        self.latest[transfer.kind] = transfer

    async def discard_old(self, memory: core.CognitiveMemory) -> None:
        """Remove the file of an export that nobody fetched within :data:`KEPT` seconds."""
        last = self.latest.get("export")
        if last is not None and not last.is_running and last.seconds > KEPT:
            await self.discard(memory)


def size_of(*paths: Path) -> int:
    """Return the total size in bytes of files and of everything in folders; blocking."""
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return sum(file.stat().st_size for file in files if file.is_file())


def written(transfer: Transfer) -> int:
    """Return how many bytes a transfer has written so far, in drafts or finished files; blocking."""
    folder = transfer.path.parent
    try:
        if transfer.kind != "backup":
            return size_of(folder)
        return size_of(transfer.path) if transfer.path.exists() else size_of(*folder.glob(DRAFTS))
    except OSError:  # a draft was renamed meanwhile
        return 0


def rows_written(transfer: Transfer) -> int:
    """Return how many rows the draft of an export has; reads only what was added since the last call; blocking."""
    try:
        for draft in transfer.path.parent.iterdir():
            with draft.open("rb") as file:
                file.seek(transfer.seen)
                while part := file.read(SLICE):
                    transfer.seen += len(part)
                    transfer.counted += part.count(b"\n")
    except OSError:  # a draft was renamed meanwhile
        pass
    return max(transfer.counted - 1, 0)  # without the head
