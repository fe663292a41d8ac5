"""A year laid into a data directory with its vectors, as an import lays it, without writing it out as text first."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

from cognitive_memory_core.adapters.sqlite import SqliteLedger
from cognitive_memory_core.ports.ledger import EmbeddedEvent

from .topics import batches, event_of
from .workload import Line, TextVectors, vector_of

TOGETHER = 500  # rows a transaction, as many as an import takes


async def laid(lines: Sequence[Line], folder: Path) -> None:
    """Lay lines into the ledger of a data directory that no memory has open; nothing is left to be embedded."""
    ledger = await SqliteLedger.open(folder / "ledger.db")
    try:
        for batch in batches(lines, TOGETHER):
            await ledger.archive.absorb([_row(line) for line in batch])
        await ledger.shelf.store(TextVectors.fingerprint, [])
    finally:
        await ledger.close()


def _row(line: Line) -> EmbeddedEvent:
    return EmbeddedEvent(event_of(line), TextVectors.fingerprint, array("f", vector_of(line.text).tobytes()))
