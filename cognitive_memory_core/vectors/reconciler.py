"""Keeps a vector store equal to the ledger: applies the ledger's changes, and builds a new generation where needed.

It also starts the store for a query and for rows that wait, and stops it when idle. Changes made while the store was
stopped are written before it answers searches again. Once a day a running store is opened anew, which checks it for
damage, and its rows are compared with the ledger's, as they are at the first opening.

A new generation replaces one of another model or store version, one that is damaged, lost or differs from the ledger,
and one that has erased rows. Exact search answers while it is built.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable

from .. import sentences
from ..domain.figures import IndexActivity, IndexState
from ..domain.reading import ReadFilter
from ..errors import UnavailableError
from ..ports import EmbeddedEvent, Generation, Vector
from ..store.vectors import Checkpoint, VectorLedger
from ..tasks import UNTIL_NUDGED, BackgroundLoop
from .chroma.process import Lost, ProcessDied
from .chroma.store import ChromaStore

log = logging.getLogger(__name__)
BATCH = 300  # rows per upsert: a search waits for one upsert
DEBOUNCE = 0.5  # seconds in which new rows are collected: writing one row costs as much as writing fifty
EVERY_DAY = 86_400.0  # seconds between two comparisons of store and ledger
LONGEST_PAUSE = 60.0  # seconds
MOST_FAILED_UPDATES = 3  # in a row, of an opened generation before it is replaced
SECONDS_BEHIND = 600.0  # since the first missing row, so that a store that cannot start shows before a query needs it
IDLE_SECONDS = 120.0  # since the last need: queries come in bursts, and a start takes longer than a search


class IndexReconciler:
    """Searches the generation in use, and answers only while that is known to be complete."""

    def __init__(
        self,
        store: ChromaStore,
        ledger: VectorLedger,
        fingerprint: str,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Follow a ledger's vectors of one model."""
        self._store = store
        self._ledger = ledger
        self.fingerprint = fingerprint
        self._elapsed = elapsed
        self._is_asleep = True
        self._needed_at = -math.inf  # the last query since the store was stopped, or what else it ran for
        self._behind_since = math.inf  # while it is stopped; of old if it is to be started even for one missing row
        self._serving: Generation | None = None  # a generation known to be complete up to the checkpoint
        self._checkpoint = Checkpoint()
        self._written = self._to_write = 0  # rows of a generation that is being built
        self._failures = 0  # in a row, to bring the stored generation up to date
        self._compared_at = -math.inf
        self._turn = asyncio.Lock()  # held by whoever opens, writes or stops the store
        self.loop = BackgroundLoop(
            "vector index", self.round, debounce=DEBOUNCE, longest_pause=LONGEST_PAUSE, on_failure=self._stop_serving
        )
        self.nudge = self.loop.nudge

    def wake_now(self) -> None:
        """Request an up-to-date index now; the store is started if it lacks a row."""
        self._behind_since = -math.inf
        self.loop.wake_now()

    async def nearest(self, vector: Vector, read_filter: ReadFilter, limit: int) -> list[tuple[str, float]]:
        """Search the generation in use; raises UnavailableError while the generation may be incomplete.

        If the store is stopped, this query is refused at once, and the store is started for later ones. A generation of
        which the process dies is replaced.
        """
        self._needed_at = self._elapsed()
        serving = self._serving
        if serving is None:
            if self._is_asleep:
                self.loop.wake_now()
            raise UnavailableError(sentences.storage_errors.INDEX_NOT_WHOLE)
        try:
            return await self._store.nearest(serving, vector, read_filter, limit)
        except Lost as lost:
            if self._serving is serving:
                self._stop_serving()
                if isinstance(lost, ProcessDied) and not lost.is_hung:
                    self._failures = MOST_FAILED_UPDATES
                self.loop.wake_now()
            raise

    async def lag(self) -> int:
        """Return how many rows the generation in use lacks, even if the store is stopped; all if there is none."""
        at = Checkpoint()
        if self._serving is not None:
            at = self._checkpoint
        elif not await self._ledger.dimensions(self.fingerprint):
            return 0
        elif self._is_asleep and await self._store.is_there():  # else it is lost or being opened
            _, at = await self._ledger.index_mark() or ("", at)
        return await self._ledger.behind(at)

    async def state(self) -> IndexState:
        """Return the progress of the index."""
        activity: IndexActivity = "asleep" if self._is_asleep else "awake" if self._serving else "waking"
        number, built = self._serving.number if self._serving else 0, (0, 0)
        if self._to_write:
            built = self._written, max(self._to_write, self._written)
        return IndexState(number, await self.lag(), *built, activity=activity)

    async def follow(self) -> None:
        """Make the index equal to the ledger: start the store, then open, build or update a generation as needed."""
        async with self._turn:
            dimensions = await self._ledger.dimensions(self.fingerprint)
            if not (dimensions or self._serving):
                return  # nothing to index yet: the store is not started
            serving = self._serving or await self._opened()
            if serving is None or dimensions not in (0, serving.dimensions):
                await self._build()
            else:
                await self._update(serving)

    async def rebuild(self) -> int:
        """Build a generation from the ledger and put it in use; return its number of rows.

        An interrupted build loses nothing and starts over. An empty ledger gets an empty generation, so that no row of
        the last one remains.
        """
        async with self._turn:
            await self._build()
        self.nudge()  # the store was started and must be put to sleep again
        return self._written

    async def round(self) -> float:
        """Bring the store up to date, or stop it, as is due; return the seconds until the next round.

        A stopped store is started when a query asks, or rows wait for long. One that runs is opened anew once a day,
        which compares its rows; that neither starts the store nor keeps it running.
        """
        if self._is_asleep and (rest := self._rest(await self.lag())):
            return rest
        if not self._fresh_left():
            self._stop_serving()
        await self.follow()
        if self._is_asleep:  # there was nothing to index
            return UNTIL_NUDGED
        async with self._turn:  # the store receives no request while it stops
            if not self._idle_left():
                self._stop_serving()
                self._is_asleep, self._needed_at = True, -math.inf
                await self._store.sleep()
                return 0.0
        return min(self._fresh_left(), self._idle_left())

    def _rest(self, behind: int) -> float:
        """Return the seconds for which a store that lacks ``behind`` rows may stay stopped; 0 if it must start now."""
        if self._needed_at > -math.inf:
            return 0.0
        if not behind:
            self._behind_since = math.inf
            return UNTIL_NUDGED
        self._behind_since = min(self._behind_since, self._elapsed())
        return max(0.0, self._behind_since + SECONDS_BEHIND - self._elapsed())

    def _idle_left(self) -> float:
        """Return the seconds for which a running store without queries goes on; 0 if it should stop now."""
        return max(0.0, self._needed_at + IDLE_SECONDS - self._elapsed())

    def _fresh_left(self) -> float:
        """Return the seconds until the rows of a running store are to be compared again; 0 if they are now."""
        return max(0.0, self._compared_at + EVERY_DAY - self._elapsed())

    def _note_start(self) -> None:
        if self._is_asleep:
            self._is_asleep = False
            self._behind_since, self._needed_at = math.inf, self._elapsed()

    def _stop_serving(self) -> None:
        """Answer no searches until the store was opened again."""
        self._serving = None

    async def _opened(self) -> Generation | None:
        """Open the store; use its generation, and return it, only if that is complete and of this model."""
        self._note_start()
        generation = await self._store.open()
        if generation is not None and await self._is_whole(generation):
            self._serving = generation
        return self._serving

    async def _is_whole(self, generation: Generation) -> bool:
        """Bring a generation up to date; False if it is of another model, keeps failing, or differs from the ledger.

        Its rows are compared with the ledger's once a day, since only damage makes them differ.
        """
        model = (self.fingerprint, await self._ledger.dimensions(self.fingerprint))
        build_id, self._checkpoint = await self._ledger.index_mark() or ("", Checkpoint())
        is_ours = build_id == generation.build_id and (generation.fingerprint, generation.dimensions) == model
        if not is_ours or self._failures >= MOST_FAILED_UPDATES:
            return False
        differing = 0
        try:
            await self._update(generation)
            if not self._fresh_left():
                listed = await self._store.listed(generation)
                differing = len(listed ^ await self._ledger.embedded_ids(self.fingerprint))
                self._compared_at = self._elapsed()
        except UnavailableError:
            self._failures += 1
            raise
        self._failures = 0
        if differing:
            log.warning("%s", sentences.log.ROWS_DIFFER.format(rows=differing))
        return not differing

    async def _build(self) -> None:
        """Fill a generation and put it in use; meanwhile none answers."""
        self._note_start()
        self._stop_serving()
        dimensions = await self._ledger.dimensions(self.fingerprint) or 1
        self._written, self._to_write = 0, await self._ledger.behind(Checkpoint())
        try:
            generation, words = await self._store.begin(self.fingerprint, dimensions), sentences.log
            log.info("%s", words.INDEX_BUILDS.format(generation=generation.number, rows=self._to_write))
            self._checkpoint = await self._written_from(generation, Checkpoint())
            await self._store.put_in_use(generation)
            await self._ledger.note_index(generation.build_id, self._checkpoint)
            log.info("%s", words.INDEX_IN_USE.format(generation=generation.number))
        finally:
            self._to_write, self._needed_at = 0, self._elapsed()
        self._serving = generation
        self._failures, self._compared_at = 0, self._elapsed()

    async def _update(self, generation: Generation) -> None:
        """Write what changed since the checkpoint."""
        reached = await self._written_from(generation, self._checkpoint)
        if reached != self._checkpoint:
            await self._ledger.note_index(generation.build_id, reached)
            self._checkpoint = reached

    async def _written_from(self, generation: Generation, mark: Checkpoint) -> Checkpoint:
        """Write the changes after a checkpoint; return the checkpoint of the last one."""
        while changes := await self._ledger.changes(generation.fingerprint, mark, BATCH):
            whole = ((event, vector) for _, event, vector in changes if vector and len(vector) == generation.dimensions)
            rows = [EmbeddedEvent(event, generation.fingerprint, vector) for event, vector in whole]
            await self._store.upsert(generation, rows)
            await self._store.remove(generation, [event.id for _, event, vector in changes if vector is None])
            self._written, mark = self._written + len(rows), changes[-1][0]
        return mark
