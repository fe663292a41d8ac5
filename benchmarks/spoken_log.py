"""Writes the log of one group into a data directory, as capturing does."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import cognitive_memory_core as core

from .workload import Noon, Speech

GROUP, PEOPLE = "100001", 40
WRITTEN = 1_000  # lines observed before they are written
SPOKEN = timedelta(seconds=40)  # between two lines


async def spoken(lines: int, folder: Path) -> None:
    """Write so many lines into the ledger of a data directory that no memory has open."""
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    async with core.CognitiveMemory.open(settings, folder, background=False, clock=Noon()) as memory:
        begun = Noon().now() - lines * SPOKEN
        for number, text in enumerate(Speech(lines).texts(lines)):
            person = core.Scene.group(GROUP, f"20000{number % PEOPLE:02}")
            await memory.observe(core.Message(f"m{number}", person, text, begun + number * SPOKEN))
            if number % WRITTEN == 0:
                await memory.drain(60)
        await memory.drain(600)
        if (await memory.status()).totals.messages < lines:
            raise SystemExit("not every line was written")
