"""Keeps a vector store the same as the ledger: follows its changes, and builds the next generation where one is needed.

A generation of another model, one that is damaged or lost, one of another version of the store, one that holds what was
erased: all are the same, and the answer is the next generation, built behind whatever serves meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .. import sentences
from ..domain.hit import Reading
from ..domain.scope import Scene
from ..errors import UnavailableError
from ..ports.ledger import Change, EmbeddedEvent, IndexBook, Mark, VectorLedger
from ..ports.models import Vector
from ..ports.vectors import Generation, VectorStore
from .retry import described
from .signals import signalled

log = logging.getLogger(__name__)
BATCH = 300  # rows an upsert: more would keep a question waiting for long
GATHERED = 0.5  # seconds in which new rows come together: a write of one row costs the store as much as one of fifty
EVERY_DAY = 86_400.0  # seconds between two comparisons of store and ledger
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
FRUITLESS = 3  # times that a generation opens well and cannot be brought up to date before it is given up
PROBES = 8  # rows at each end of a generation that must find themselves
ALIKE = 0.999
WORTH_MENDING = 0.1  # share of missing rows from which on building anew is cheaper than mending


@dataclass(frozen=True)
class IndexState:
    """``generation`` is the one that answers, 0 while none does; ``behind`` rows are not in it yet.

    ``built`` of ``to_build`` rows are in the next one; both are 0 while none is being built.
    """

    generation: int = 0
    behind: int = 0
    built: int = 0
    to_build: int = 0


@dataclass
class _Copy:
    """A generation, and how far it has come."""

    generation: Generation
    mark: Mark
    rows: int = 0


class IndexFollower:
    """A VectorIndex over the generation in use; it answers only while that is known to be whole."""

    def __init__(
        self,
        store: VectorStore,
        shelf: VectorLedger,
        book: IndexBook,
        fingerprint: str,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Follow a ledger's vectors of one model."""
        self._store = store
        self._shelf = shelf
        self._book = book
        self._fingerprint = fingerprint
        self._elapsed = elapsed
        self._serving: _Copy | None = None  # a generation that is known to be whole
        self._growing: _Copy | None = None
        self._to_build = 0
        self._is_opened = False  # whether it is known what lies in the store
        self._dimensions_found = 0  # of what lies there, whether it serves or not
        self._must_go = False  # what lies there is beyond mending, or holds what was erased
        self._refused = Counter[str]()  # how often a generation that opens well could not be brought up to date
        self._compared_at = elapsed()
        self._turn = asyncio.Lock()  # one step at a time: what is read of the ledger is written before it can change
        self._building = asyncio.Lock()
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self.last_error = ""

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[str, float]]:
        """Search the generation in use; UnavailableError while it may lack something."""
        serving = self._serving
        if serving is None:
            raise UnavailableError(sentences.index_not_whole())
        return await self._store.nearest(serving.generation, vector, reading, limit)

    def nudge(self) -> None:
        """Look for changes soon."""
        self._wake.set()

    def hurry(self) -> None:
        """Look for changes now."""
        self._hurry.set()
        self._wake.set()

    async def lag(self) -> int:
        """Count the rows that the generation in use lacks; all of them while there is none."""
        serving = self._serving
        if serving is None and not await self._shelf.dimensions(self._fingerprint):
            return 0
        return await self._shelf.behind(self._fingerprint, serving.mark if serving else Mark())

    async def state(self) -> IndexState:
        """Say how far the index is."""
        serving, growing = self._serving, self._growing
        building = (growing.rows, max(self._to_build, growing.rows)) if growing is not None else (0, 0)
        return IndexState(serving.generation.number if serving else 0, await self.lag(), *building)

    async def run(self) -> None:
        """Follow until cancelled; only cancellation escapes."""
        pause = FIRST_PAUSE
        while True:
            try:
                await self.follow()
                pause, self.last_error = FIRST_PAUSE, ""
                await self._rest()
            except Exception as error:  # noqa: BLE001  # the loop runner: a store that is away must not end the follower
                self._distrust()
                self._complain(error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def follow(self) -> None:
        """Bring the index up to the ledger: open, build or ship, whichever is needed."""
        dimensions = await self._shelf.dimensions(self._fingerprint)
        if not dimensions and self._serving is None and not self._must_go:
            return  # nothing to index yet: the store need not even start
        if not self._is_opened:
            await self._open()
        if self._serving is None or self._must_go or dimensions not in (0, self._serving.generation.dimensions):
            await self.rebuild()
        else:
            await self._ship(self._serving)

    async def rebuild(self) -> int:
        """Build the next generation out of the ledger and put it in use; answers how many rows it holds.

        The old one goes on serving meanwhile, as far as it can. Nothing of this is lost when it is cut off: it begins
        anew. An empty ledger gets an empty generation, so that nothing is left of what stood in the last one.
        """
        async with self._building:
            if not self._is_opened:
                await self._open()
            dimensions = await self._shelf.dimensions(self._fingerprint) or self._dimensions_found or 1
            try:
                return await self._build(dimensions)
            finally:
                self._growing = None

    async def reconcile(self) -> int:
        """Compare the generation in use with the ledger, row by row; answers how many rows were wrong.

        A few are mended; where many are missing the next generation is built when :meth:`follow` comes to it.
        """
        serving = self._serving
        if serving is None:
            return 0
        wrong, is_mended = await self._compared(serving)
        if not is_mended:
            self._serving, self._must_go = None, True
        return wrong

    async def unindex(self, event_ids: Sequence[str]) -> None:
        """Take erased events out; where the store cannot, what it holds is not used any more."""
        async with self._turn:
            for copy in (self._serving, self._growing):
                if copy is not None and event_ids:
                    await self._try_to_remove(copy, event_ids)
        self.nudge()

    async def _try_to_remove(self, copy: _Copy, event_ids: Sequence[str]) -> None:
        try:
            await self._store.remove(copy.generation, event_ids)
        except UnavailableError as away:
            self._serving, self._must_go = None, True
            self._complain(away)

    def _distrust(self) -> None:
        """Look anew at what lies in the store before it is used again."""
        self._serving, self._is_opened = None, False

    async def _open(self) -> None:
        """Find out what lies in the store; what is not whole, or not of this model, does not serve."""
        self._distrust()
        generation = await self._store.open()
        serving = await self._trusted(generation) if generation is not None else None
        self._dimensions_found = generation.dimensions if generation is not None else 0
        self._serving, self._is_opened = serving, True

    async def _trusted(self, generation: Generation) -> _Copy | None:
        mark = await self._book.mark(generation.birth)
        if mark is None or not await self._fits(generation) or self._refused[generation.birth] >= FRUITLESS:
            return None
        copy = _Copy(generation, mark)
        try:
            is_whole = await self._finds_itself(generation) and (await self._compared(copy))[1]
        except UnavailableError:
            self._refused[generation.birth] += 1
            raise
        self._refused.clear()
        return copy if is_whole else None

    async def _fits(self, generation: Generation) -> bool:
        dimensions = await self._shelf.dimensions(self._fingerprint)
        return (generation.fingerprint, generation.dimensions) == (self._fingerprint, dimensions)

    async def _finds_itself(self, generation: Generation) -> bool:
        """Ask for the first rows by their own vectors: an index that lost its vectors still counts and lists them."""
        listed = await self._store.listed(generation)
        changes = await self._shelf.changes(self._fingerprint, Mark(), BATCH)
        rows = [change.row for change in changes if change.row is not None and change.event_id in listed]
        return all([await self._is_found(generation, row) for row in rows[:PROBES]])

    async def _is_found(self, generation: Generation, row: EmbeddedEvent) -> bool:
        if row.vector is None or len(row.vector) != generation.dimensions:
            return True
        everything = Reading(Scene.operator(row.event.agent))
        nearest = await self._store.nearest(generation, row.vector, everything, 1)
        return bool(nearest) and nearest[0][1] > ALIKE

    async def _compared(self, copy: _Copy) -> tuple[int, bool]:
        """Bring a generation up to date and compare it; answers how many rows were wrong, and whether none is now."""
        async with self._turn:
            await self._ship_all(copy)
            listed = await self._store.listed(copy.generation)
            known = await self._shelf.embedded_ids(self._fingerprint)
            missing, extra = known - listed, listed - known
            is_worth_mending = len(missing) <= WORTH_MENDING * len(known)
            if is_worth_mending:
                await self._mend(copy, missing, extra)
        if missing or extra:
            log.warning("vector index: %d rows were missing, %d too many", len(missing), len(extra))
        self._compared_at = self._elapsed()
        return len(missing) + len(extra), is_worth_mending

    async def _build(self, dimensions: int) -> int:
        self._to_build = await self._shelf.behind(self._fingerprint, Mark())
        copy = _Copy(await self._store.begin(self._fingerprint, dimensions), Mark())
        self._growing = copy
        log.info("vector index: building generation %d of %d rows", copy.generation.number, self._to_build)
        while await self._has_shipped(copy):
            await self._keep_serving()
        async with self._turn:
            await self._ship_all(copy)
            await self._store.put_in_use(copy.generation)
            await self._book.keep_only(copy.generation.birth)
            self._serving, self._dimensions_found, self._must_go = copy, dimensions, False
            self._refused.clear()
        log.info("vector index: generation %d is in use", copy.generation.number)
        return copy.rows

    async def _keep_serving(self) -> None:
        """Keep the old generation up to date while the next one grows; one that cannot be serves no more."""
        if self._serving is None:
            return
        try:
            await self._ship(self._serving)
        except UnavailableError as refused:
            self._serving = None
            self._complain(refused)

    async def _ship(self, copy: _Copy) -> None:
        while await self._has_shipped(copy):
            pass

    async def _has_shipped(self, copy: _Copy) -> bool:
        """Write the next changes and remember how far that is; False when there are none."""
        async with self._turn:
            return await self._has_shipped_some(copy)

    async def _ship_all(self, copy: _Copy) -> None:
        while await self._has_shipped_some(copy):
            pass

    async def _has_shipped_some(self, copy: _Copy) -> bool:
        changes = await self._shelf.changes(self._fingerprint, copy.mark, BATCH)
        if not changes:
            return False
        await self._write(copy, changes)
        await self._book.note(copy.generation.birth, changes[-1].mark)
        copy.mark = changes[-1].mark
        return True

    async def _write(self, copy: _Copy, changes: Sequence[Change]) -> None:
        length = copy.generation.dimensions
        rows = [row for row in (change.row for change in changes) if row and row.vector and len(row.vector) == length]
        gone = [change.event_id for change in changes if change.row is None]
        if rows:
            await self._store.upsert(copy.generation, rows)
        if gone:
            await self._store.remove(copy.generation, gone)
        copy.rows += len(rows)

    async def _mend(self, copy: _Copy, missing: frozenset[str], extra: frozenset[str]) -> None:
        if extra:
            await self._store.remove(copy.generation, sorted(extra))
        mark = Mark()
        while missing and (changes := await self._shelf.changes(self._fingerprint, mark, BATCH)):
            await self._write(copy, [change for change in changes if change.event_id in missing])
            mark = changes[-1].mark

    async def _rest(self) -> None:
        """Wait for changes, and then for a moment more; once a day compare store and ledger."""
        until_compared = self._compared_at + EVERY_DAY - self._elapsed()
        if until_compared <= 0:
            await self.reconcile()
        else:
            await signalled(self._wake, until_compared)
        await signalled(self._hurry, GATHERED)
        self._wake.clear()

    def _complain(self, error: Exception) -> None:
        if (said := described(error)) != self.last_error:
            log.warning("vector index: %s", said)
        self.last_error = said
