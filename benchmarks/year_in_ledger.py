"""Writes a workload with its vectors into a data directory, as an import does, without an export file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.store.ledger import Ledger

from .topics import batches, event_of
from .workload import Line, TextVectors, vector_of

TOGETHER = 500  # rows per transaction, as in an import


async def laid(lines: Sequence[Line], folder: Path) -> None:
    """Write lines into the ledger of a data directory that no memory has open; nothing is left to embed."""
    ledger = await Ledger.open(folder / "ledger.db")
    try:
        for batch in batches(lines, TOGETHER):
            await ledger.archive.import_rows([_row(line) for line in batch])
        await ledger.vectors.store(TextVectors.fingerprint, [])
    finally:
        await ledger.close()


def _row(line: Line) -> EmbeddedEvent:
    return EmbeddedEvent(event_of(line), TextVectors.fingerprint, array("f", vector_of(line.text).tobytes()))
