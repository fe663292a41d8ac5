"""Keeps a vector store equal to the ledger: applies the ledger's changes, and builds a new generation where needed.

It also starts the store for missing rows and large searches, and stops it when idle. Changes made while the store was
stopped are written before it answers searches again. Once a day a running store is opened anew, which checks it for
damage, and its rows are compared with the ledger's, as they are at the first opening.

A new generation replaces one of another model or store version, one that is damaged, lost or differs from the ledger,
and one that has erased rows. The old generation answers searches while the new one is built.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import sentences
from ..domain.figures import IndexActivity, IndexState
from ..domain.reading import ReadFilter
from ..errors import UnavailableError
from ..ports import Generation, Vector
from ..store.vectors import Checkpoint, CheckpointBook, VectorLedger
from ..tasks import UNTIL_NUDGED, BackgroundLoop
from .chroma.store import ChromaStore

log = logging.getLogger(__name__)
BATCH = 300  # rows per upsert: a search waits for one upsert
DEBOUNCE = 0.5  # seconds in which new rows are collected: writing one row costs as much as writing fifty
EVERY_DAY = 86_400.0  # seconds between two comparisons of store and ledger
LONGEST_PAUSE = 60.0  # seconds
MOST_FAILED_CHECKS = 3  # failed updates of an opened generation before it is replaced
ROWS_BEHIND = 500  # missing rows that start the store: writing them costs about as much processor time as a start
SECONDS_BEHIND = 600.0  # since the first missing row, so that a store that cannot start shows before a query needs it
IDLE_SECONDS = 120.0  # since the last need: queries come in bursts, and a start takes longer than a search


@dataclass
class _GenerationInUse:
    """A generation, and the checkpoint that says up to which change of the ledger it is complete."""

    generation: Generation
    checkpoint: Checkpoint
    rows: int = 0


class IndexReconciler:
    """Searches the generation in use, and answers only while that is known to be complete."""

    def __init__(
        self,
        store: ChromaStore,
        ledger: VectorLedger,
        book: CheckpointBook,
        fingerprint: str,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Follow a ledger's vectors of one model."""
        self._store = store
        self._ledger = ledger
        self._book = book
        self.fingerprint = fingerprint
        self._elapsed = elapsed
        self._is_asleep = True
        self._is_asked = False  # a query needs the store since it was stopped
        self._is_woken = False  # the store is to be started even for one missing row
        self._needed_at = elapsed()
        self._behind_since: float | None = None
        self._serving: _GenerationInUse | None = None  # a generation known to be complete
        self._growing: _GenerationInUse | None = None
        self._to_build = 0
        self._is_opened = False  # whether the store's content is known
        self._must_go = False  # the stored generation is damaged, or holds erased rows
        self._refused = Counter[str]()  # failed attempts to bring a generation up to date, by birth
        self._compared_at = -math.inf
        self._differing = 0  # rows at the last comparison
        self._turn = asyncio.Lock()  # one step at a time: changes read in a step are written before the next
        self._building = asyncio.Lock()  # held while the store is opened and while a generation is built
        self._begun = 0  # builds started so far
        self._finished = 0  # number of the last build put in use
        self.loop = BackgroundLoop(
            "vector index", self.round, debounce=DEBOUNCE, longest_pause=LONGEST_PAUSE, on_failure=self._stop_serving
        )
        self.nudge = self.loop.nudge

    def wake_now(self) -> None:
        """Request an up-to-date index now; the store is started if it lacks a row."""
        self._is_woken = True
        self.loop.wake_now()

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[str, float]]:
        """Search the generation in use; raises UnavailableError while the generation may be incomplete.

        If the store is stopped, this query is refused at once, and the store is started for later ones.
        """
        self._is_asked, self._needed_at = True, self._elapsed()
        serving = self._serving
        if serving is None:
            if self._is_asleep:
                self.loop.wake_now()
            raise UnavailableError(sentences.storage_errors.INDEX_NOT_WHOLE)
        return await self._store.nearest(serving.generation, vector, read_filter, limit)

    async def lag(self) -> int:
        """Return how many rows the generation in use lacks, even if the store is stopped; all if there is none."""
        serving, at = self._serving, Checkpoint()
        if serving is not None:
            at = serving.checkpoint
        elif not await self._ledger.dimensions(self.fingerprint):
            return 0
        elif self._is_asleep and await self._store.is_there():  # else it is lost or being opened
            at = await self._book.furthest() or at
        return await self._ledger.behind(at)

    async def state(self) -> IndexState:
        """Return the progress of the index."""
        serving, growing = self._serving, self._growing
        building = (growing.rows, max(self._to_build, growing.rows)) if growing is not None else (0, 0)
        activity: IndexActivity = "asleep" if self._is_asleep else "waking" if serving is None else "awake"
        return IndexState(serving.generation.number if serving else 0, await self.lag(), *building, activity=activity)

    async def follow(self) -> None:
        """Make the index equal to the ledger: start the store, then open, build or update a generation as needed."""
        dimensions = await self._ledger.dimensions(self.fingerprint)
        if not (dimensions or self._serving or self._must_go):
            return  # nothing to index yet: the store is not started
        if not self._is_opened or self._is_unfit(dimensions):
            async with self._building:  # waits for a build that another caller has started
                await self._open_once()
                if self._is_unfit(await self._ledger.dimensions(self.fingerprint)):
                    await self._build()
        while (serving := self._serving) is not None and await self._advanced(serving):
            pass

    async def rebuild(self, *, afresh: bool = False) -> int:
        """Build a generation from the ledger and put it in use; return its number of rows.

        If a build is running, wait for that one; with ``afresh`` another build starts after the call, so that it
        contains nothing erased before. Meanwhile the old generation answers if it can. An interrupted build loses
        nothing and starts over. An empty ledger gets an empty generation, so that no row of the last one remains.
        """
        is_under_way = self._growing is not None and not afresh
        wanted = self._begun if is_under_way else self._begun + 1
        async with self._building:
            if self._finished < wanted:
                await self._open_once()
                await self._build()
        self.nudge()  # the store was started and must be put to sleep again
        return self._serving.rows if self._serving else 0

    async def reconcile(self) -> int:
        """Open the generation in use anew, and compare its rows with those of the ledger; return how many were wrong.

        If any are, or the store finds damage, a new generation is built.
        """
        self._stop_serving()
        self._differing, self._compared_at = 0, -math.inf
        await self.follow()
        return self._differing

    async def remove_from_index(self, event_ids: Sequence[str]) -> None:
        """Remove erased events; if the store fails, stop using its generation."""
        async with self._turn:
            for copy in filter(None, (self._serving, self._growing)):
                try:
                    if event_ids:
                        await self._store.remove(copy.generation, event_ids)
                except UnavailableError as away:
                    self._serving, self._must_go = None, True  # the next round builds another
                    self.loop.trouble.note(away)
        self.nudge()

    async def round(self) -> float:
        """Bring the store up to date, compare it, or stop it, as is due; return the seconds until the next round.

        A stopped store is started when a query asks or rows wait: many, or some for long. A running store is brought up
        to date, compared with the ledger once a day, and stopped when idle. The comparison neither starts the
        store nor keeps it running.
        """
        if self._is_asleep and (left := self._sleep_left(await self.lag())):
            return min(left, UNTIL_NUDGED)
        await self.follow()
        if self._is_asleep:  # there was nothing to index
            return UNTIL_NUDGED
        if not self._idle_left():
            async with self._building, self._turn:  # the store receives no request while it stops
                if not self._idle_left():  # else another caller built meanwhile
                    self._stop_serving()
                    self._note_started()
                    self._is_asleep = True
                    await self._store.sleep()
            return 0.0
        if self._compared_at + EVERY_DAY <= self._elapsed():
            needed_at = self._needed_at
            await self.reconcile()
            if not self._is_asked:  # else a query came meanwhile
                self._needed_at = needed_at
        return min(self._compared_at + EVERY_DAY - self._elapsed(), self._idle_left())

    def _sleep_left(self, behind: int) -> float:
        """Return the seconds for which a store that lacks ``behind`` rows may stay stopped; 0 if it must start now."""
        is_woken, self._is_woken = self._is_woken, False
        if self._is_asked or behind >= ROWS_BEHIND or (is_woken and behind):
            self._is_asked = False
            return 0.0
        if not behind:
            self._behind_since = None
            return math.inf
        if self._behind_since is None:
            self._behind_since = self._elapsed()
        return max(0.0, self._behind_since + SECONDS_BEHIND - self._elapsed())

    def _idle_left(self) -> float:
        """Return the seconds for which a running store without queries goes on; 0 if it should stop now."""
        return max(0.0, self._needed_at + IDLE_SECONDS - self._elapsed())

    def _note_started(self) -> None:
        self._is_asleep = self._is_asked = self._is_woken = False
        self._behind_since, self._needed_at = None, self._elapsed()

    def _stop_serving(self) -> None:
        """Answer no searches until the store was opened again."""
        self._serving, self._is_opened = None, False

    def _is_unfit(self, dimensions: int) -> bool:
        """Return whether a new generation is needed; with ``dimensions`` 0 (an empty ledger) any dimensions fit."""
        serving = self._serving
        return serving is None or self._must_go or dimensions not in (0, serving.generation.dimensions)

    async def _open_once(self) -> None:
        """Open the store unless it is open; use its generation only if that is complete and from this model."""
        if self._is_opened:
            return
        self._note_started()
        self._stop_serving()
        generation = await self._store.open()
        self._serving = await self._trusted(generation) if generation is not None else None
        self._is_opened = True

    async def _trusted(self, generation: Generation) -> _GenerationInUse | None:
        """Bring a generation up to date; None if it is of another model, keeps failing, or differs from the ledger.

        Its rows are compared with the ledger's once a day, since only damage makes them differ.
        """
        checkpoint, build_id = await self._book.checkpoint(generation.build_id), generation.build_id
        model = (self.fingerprint, await self._ledger.dimensions(self.fingerprint))
        is_refused = self._refused[build_id] >= MOST_FAILED_CHECKS
        if checkpoint is None or is_refused or (generation.fingerprint, generation.dimensions) != model:
            return None
        copy, differing = _GenerationInUse(generation, checkpoint), frozenset[str]()
        try:
            async with self._turn:
                while await self._has_written_some(copy):
                    pass
                if self._compared_at + EVERY_DAY <= self._elapsed():
                    listed = await self._store.listed(generation)
                    differing = listed ^ await self._ledger.embedded_ids(self.fingerprint)
                    self._compared_at = self._elapsed()
        except UnavailableError:
            self._refused[build_id] += 1
            raise
        self._refused.clear()
        self._differing = len(differing)
        if differing:
            log.warning("%s", sentences.log.ROWS_DIFFER.format(rows=len(differing)))
        return None if differing else copy

    async def _build(self) -> None:
        """Fill a generation while the one in use follows the ledger; if that fails, it is not used any more."""
        self._note_started()
        former = self._serving.generation.dimensions if self._serving else 1
        dimensions = await self._ledger.dimensions(self.fingerprint) or former
        self._begun += 1
        number, self._to_build = self._begun, await self._ledger.behind(Checkpoint())
        try:
            copy = _GenerationInUse(await self._store.begin(self.fingerprint, dimensions), Checkpoint())
            self._growing = copy
            said = sentences.log.INDEX_BUILDS.format(generation=copy.generation.number, rows=self._to_build)
            log.info("%s", said)
            while await self._advanced(copy):
                try:
                    while (serving := self._serving) is not None and await self._advanced(serving):
                        pass
                except UnavailableError as refused:
                    self._serving = None
                    self.loop.trouble.note(refused)
            async with self._turn:
                while await self._has_written_some(copy):
                    pass
                await self._store.put_in_use(copy.generation)
                await self._book.keep_only(copy.generation.build_id)
                self._serving, self._must_go, self._finished = copy, False, number
                self._compared_at = self._elapsed()
                self._refused.clear()
            log.info("%s", sentences.log.INDEX_IN_USE.format(generation=copy.generation.number))
        finally:
            self._growing = None
            self._needed_at = self._elapsed()

    async def _advanced(self, copy: _GenerationInUse) -> bool:
        """Write the next changes with the turn, which others may have in between; return False if there were none."""
        async with self._turn:
            return await self._has_written_some(copy)

    async def _has_written_some(self, copy: _GenerationInUse) -> bool:
        """Write the next changes; the caller has the turn. Return False if there were none."""
        changes = await self._ledger.changes(self.fingerprint, copy.checkpoint, BATCH)
        if not changes:
            return False
        length = copy.generation.dimensions
        rows = [row for row in (change.row for change in changes) if row and row.vector and len(row.vector) == length]
        if rows:
            await self._store.upsert(copy.generation, rows)
        if gone := [change.event_id for change in changes if change.row is None]:
            await self._store.remove(copy.generation, gone)
        copy.rows += len(rows)
        await self._book.note(copy.generation.build_id, changes[-1].checkpoint)
        copy.checkpoint = changes[-1].checkpoint
        if len(changes) >= BATCH:
            self._needed_at = self._elapsed()  # changes come faster than one start per batch is worth
        return True
