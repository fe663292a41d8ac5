"""Asks an index for rows by their own vectors: one that lost its vectors still counts and lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...domain.hit import Reading
from ...domain.scope import Scene
from ...ports.ledger import Checkpoint, CheckpointBook, EmbeddedEvent, VectorLedger
from ...ports.vectors import Generation, VectorStore

STRETCHES = 8  # equal parts of a generation, at the beginning of each of which rows are sampled when it is opened
SAMPLED = 4  # rows of each stretch, and as many at the very end
SLICE = 20  # rows that are asked for one after the other: others wait for the store meanwhile
ASKED_A_DAY = 2_000
ALIKE = 0.999


@dataclass(frozen=True)
class Examined:
    """``astray`` are the rows of a slice that their own vectors do not find; ``is_last``: it reached the end."""

    asked: int
    astray: tuple[EmbeddedEvent, ...]
    is_last: bool


class IndexCheck:
    """Checks a generation against the ledger: a sample all over it, and slice by slice until every row was asked for.

    How far the slices have come stands in the index book beside the generation's own mark, so that a new process goes
    on there; after the last row they begin again.
    """

    def __init__(self, store: VectorStore, shelf: VectorLedger, book: CheckpointBook, fingerprint: str) -> None:
        """Check a store against a ledger's vectors of one model."""
        self._store = store
        self._shelf = shelf
        self._book = book
        self._fingerprint = fingerprint

    async def sample_is_found(self, generation: Generation, upto: Checkpoint) -> bool:
        """Ask for rows at both ends and between them, of those that are listed and not changed after ``upto``."""
        listed = await self._store.listed(generation)
        rows = {row.event.id: row for row in await self._sample(upto) if row.event.id in listed}
        return not await self.astray(generation, list(rows.values()))

    async def examine(self, generation: Generation, upto: Checkpoint) -> Examined:
        """Ask for the next slice of the rows that were not changed after ``upto``, and remember how far that is.

        A slice with a row that is astray is asked for again the next time.
        """
        at = await self._book.mark(_asked(generation)) or Checkpoint()
        changes = await self._shelf.changes(self._fingerprint, at, SLICE)
        known = [change for change in changes if change.mark <= upto]
        rows = [change.row for change in known if change.row is not None]
        astray = await self.astray(generation, rows)
        is_last = len(known) < SLICE
        if not astray:
            await self._book.note(_asked(generation), Checkpoint() if is_last else known[-1].mark)
        return Examined(len(rows), tuple(astray), is_last)

    async def astray(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> list[EmbeddedEvent]:
        """Name the rows that their own vectors do not find."""
        return [row for row in rows if not await self._is_found(generation, row)]

    async def _sample(self, upto: Checkpoint) -> list[EmbeddedEvent]:
        first = await self._shelf.changes(self._fingerprint, Checkpoint(), 1)
        if not first:
            return []
        changes = [
            change
            for mark in _spread(first[0].mark, upto)
            for change in await self._shelf.changes(self._fingerprint, mark, SAMPLED)
        ]
        return [change.row for change in changes if change.row is not None and change.mark <= upto]

    async def _is_found(self, generation: Generation, row: EmbeddedEvent) -> bool:
        if row.vector is None or len(row.vector) != generation.dimensions:
            return True
        everything = Reading(Scene.operator(row.event.agent))
        nearest = await self._store.nearest(generation, row.vector, everything, 1)
        return bool(nearest) and nearest[0][1] > ALIKE


def _asked(generation: Generation) -> str:
    return f"{generation.birth} asked"


def _spread(first: Checkpoint, last: Checkpoint) -> list[Checkpoint]:
    """Name marks before the first row, between, and before the last rows; rows of one revision are told by seq."""
    revisions, seqs = last.revision - first.revision, last.seq - first.seq
    between = [
        Checkpoint(first.revision + revisions * part // STRETCHES, max(first.seq + seqs * part // STRETCHES, 0))
        for part in range(1, STRETCHES)
    ]
    return [Checkpoint(), *between, Checkpoint(last.revision, max(last.seq - SAMPLED, 0))]
