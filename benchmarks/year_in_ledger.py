"""A year laid into a data directory with its vectors, as an import lays it, without writing it out as text first."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

from cognitive_memory_core.adapters.sqlite import SqliteLedger
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.ports.ledger import EmbeddedEvent

from .workload import Line, TextVectors, vector_of

TOGETHER = 500  # rows a transaction, as many as an import takes


async def laid(lines: Sequence[Line], folder: Path) -> None:
    """Lay lines into the ledger of a data directory that no memory has open; nothing is left to be embedded."""
    ledger = await SqliteLedger.open(folder / "ledger.db")
    try:
        for rows in _batches(lines):
            await ledger.archive.absorb(rows)
        await ledger.shelf.store(TextVectors.fingerprint, [])
    finally:
        await ledger.close()


def _batches(lines: Sequence[Line]) -> Iterator[list[EmbeddedEvent]]:
    for start in range(0, len(lines), TOGETHER):
        yield [_row(line) for line in lines[start : start + TOGETHER]]


def _row(line: Line) -> EmbeddedEvent:
    event = Event(
        line.id,
        line.text,
        user_id=line.user_id,
        group_id=line.group_id,
        sender_id=line.user_id,
        request_type="group" if line.group_id else "private",
        happened_at=line.happened_at,
    )
    return EmbeddedEvent(event, TextVectors.fingerprint, array("f", vector_of(line.text).tobytes()))
