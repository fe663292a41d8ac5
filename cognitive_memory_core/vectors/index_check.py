"""Searches an index for rows by their own vectors, because a damaged index may list rows that no search finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..domain.read_filter import ReadFilter
from ..domain.scope import Scene
from ..ports.vectors import EmbeddedEvent, Generation, VectorStore
from ..store.search.vectors import Checkpoint, CheckpointBook, VectorLedger

SAMPLE_SPOTS = 8  # equal parts of a generation; rows at the start of each are sampled when it is opened
SAMPLED = 4  # rows sampled at each spot, and as many at the end
SLICE = 20  # rows searched per step, while other users of the store wait
CHECKED_A_DAY = 2_000
ALIKE = 0.999


@dataclass(frozen=True)
class Examined:
    """The result for one slice of rows: how many were checked, which no search finds, and if the slice was the last."""

    asked: int
    unfindable: tuple[EmbeddedEvent, ...]
    is_last: bool


class IndexCheck:
    """Checks a generation against the ledger: by a sample of its rows, or all rows slice by slice.

    The position of the next slice is stored in the checkpoint book beside the generation's checkpoint, so that a new
    process continues there; after the last slice the check starts over.
    """

    def __init__(self, store: VectorStore, ledger: VectorLedger, book: CheckpointBook, fingerprint: str) -> None:
        """Create for a store and the ledger's vectors of one model."""
        self._store = store
        self._ledger = ledger
        self._book = book
        self._fingerprint = fingerprint

    async def sample_is_found(self, generation: Generation, upto: Checkpoint) -> bool:
        """Return whether a search finds each row of a sample by its own vector.

        The sample has no row that the store does not list, and none that changed after ``upto``.
        """
        listed = await self._store.listed(generation)
        rows = {row.event.id: row for row in await self._sample(upto) if row.event.id in listed}
        return not await self.unfindable(generation, list(rows.values()))

    async def examine(self, generation: Generation, upto: Checkpoint) -> Examined:
        """Check the next slice of the rows that did not change after ``upto``, and store the position.

        If a search does not find a row, the position stays, so that the slice is checked again next time.
        """
        at = await self._book.checkpoint(_position_key(generation)) or Checkpoint()
        changes = await self._ledger.changes(self._fingerprint, at, SLICE)
        known = [change for change in changes if change.checkpoint <= upto]
        rows = [change.row for change in known if change.row is not None]
        unfindable = await self.unfindable(generation, rows)
        is_last = len(known) < SLICE
        if not unfindable:
            await self._book.note(_position_key(generation), Checkpoint() if is_last else known[-1].checkpoint)
        return Examined(len(rows), tuple(unfindable), is_last)

    async def unfindable(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> list[EmbeddedEvent]:
        """Return the rows that a search by their own vectors does not find."""
        return [row for row in rows if not await self._is_found(generation, row)]

    async def _sample(self, upto: Checkpoint) -> list[EmbeddedEvent]:
        first = await self._ledger.changes(self._fingerprint, Checkpoint(), 1)
        if not first:
            return []
        changes = [
            change
            for checkpoint in _sample_positions(first[0].checkpoint, upto)
            for change in await self._ledger.changes(self._fingerprint, checkpoint, SAMPLED)
        ]
        return [change.row for change in changes if change.row is not None and change.checkpoint <= upto]

    async def _is_found(self, generation: Generation, row: EmbeddedEvent) -> bool:
        if row.vector is None or len(row.vector) != generation.dimensions:
            return True
        everything = ReadFilter(Scene.operator(row.event.agent))
        nearest = await self._store.nearest(generation, row.vector, everything, 1)
        return bool(nearest) and nearest[0][1] > ALIKE


def _position_key(generation: Generation) -> str:
    return f"{generation.build_id} asked"


def _sample_positions(first: Checkpoint, last: Checkpoint) -> list[Checkpoint]:
    """Return the positions in the ledger at which samples start: the first rows, the last rows, and some between.

    Rows that were written together share a revision; their ``seq`` tells them apart.
    """
    revisions, seqs = last.revision - first.revision, last.seq - first.seq
    between = [
        Checkpoint(first.revision + revisions * part // SAMPLE_SPOTS, max(first.seq + seqs * part // SAMPLE_SPOTS, 0))
        for part in range(1, SAMPLE_SPOTS)
    ]
    return [Checkpoint(), *between, Checkpoint(last.revision, max(last.seq - SAMPLED, 0))]
