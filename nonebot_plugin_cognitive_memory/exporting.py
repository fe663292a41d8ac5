"""Exports to a temporary file, for who asked over HTTP or by a command."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

import cognitive_memory_core as core

FILE = "memory.jsonl"


@asynccontextmanager
async def exported(memory: core.CognitiveMemory, user_id: str | None = None) -> AsyncGenerator[tuple[Path, int], None]:
    """Export the memory, or one person's part of it; yield the file and the number of its rows.

    The file is removed at the end, also if the caller is cancelled. A refusal of the disk is raised as StorageRefused.
    """
    try:
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory)
        path = Path(folder.name) / FILE
        try:
            yield path, await memory.export(path, user_id=user_id)
        finally:
            with anyio.CancelScope(shield=True):
                await asyncio.to_thread(folder.cleanup)
                with suppress(core.CognitiveMemoryError):  # the memory was closed meanwhile
                    await memory.discard_export(path)
    except OSError as refused:
        raise core.StorageRefused(type(refused).__name__) from refused
