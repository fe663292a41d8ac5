"""Writes a workload with its vectors into a data directory, as an import does, without an export file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.ports.vectors import EmbeddedEvent
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.names import Alias

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


async def spoken(lines: Sequence[Line], folder: Path) -> None:
    """Write the lines into the message log of a data directory that no memory has open, with a name for each person."""
    ledger = await Ledger.open(folder / "ledger.db")
    try:
        for batch in batches(lines, TOGETHER):
            await ledger.log.append([core.Message(one.id, one.scene, one.text, one.happened_at) for one in batch])
            await ledger.names.note_all(
                [Alias(one.scene.scope, one.user_id, _name_of(one), one.happened_at, one.happened_at) for one in batch]
            )
    finally:
        await ledger.close()


def _name_of(line: Line) -> str:
    return f"某人{line.user_id[-5:]}"


def _row(line: Line) -> EmbeddedEvent:
    return EmbeddedEvent(event_of(line), TextVectors.fingerprint, array("f", vector_of(line.text).tobytes()))
