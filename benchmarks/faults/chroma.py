"""F10b to F13, F29 and F30: Chroma's store when its process, its disk, other users or its index fail."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

import numpy as np
import psutil

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import EmbeddedEvent, Generation
from cognitive_memory_core.store.vectors import Checkpoint
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from cognitive_memory_core.vectors.reconciler import EVERY_DAY, IndexReconciler
from tests.support.clock import FrozenClock
from tests.support.ledgers import Ledger, a_ledger, embedded
from tests.support.ports import Wrapping

from ..chroma_world import (
    BATCH,
    EVERYTHING,
    MODEL,
    Watch,
    chroma_children,
    examined,
    filled,
    known_rows,
    opened,
    patiently,
    the_child,
    unit_vectors,
)
from ..fault_row import Extent, Row, Seen
from ..measure import loop_watched
from .child import next_line, started
from .world import AcceptedTurns

CALL = 5.0  # seconds that a call may take in these rows
SLACK = 20.0  # additional seconds for a child that must start, before a call counts as stuck
AGAIN = 300.0  # seconds in which a store must recover after a fault; busy machines take over a minute
STANDSTILL = 4.0  # seconds in which the next bot's child, if nothing blocked it, would import chromadb and open
LOOKED_AT = 5.0  # seconds of watching an idle event loop, for comparison
KILLS = 5  # tries to interrupt one batch; the last one hits it for certain
DIMENSIONS = 64  # of f30
BATCHES = 20  # written repeatedly by a bot of f10b


@asynccontextmanager
async def _store(seconds: float = CALL) -> AsyncIterator[tuple[Path, ChromaStore]]:
    """Open a store in an empty folder."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with opened(Path(folder) / "store", seconds) as store:
            yield Path(folder), store


async def f11(extent: Extent) -> Row:
    """Kill the child at random moments of an upsert, and repeat unanswered batches until they are answered."""
    rounds, dice = extent.of(50, 2), random.Random(11)
    rows, unknown, recovery = known_rows(rounds * BATCH, 64), 0, Seen()
    async with _store() as (_, store):
        following = Following(store, rows[:BATCH])
        await following.begin()
        for start in range(BATCH, len(rows), BATCH):
            for tried in range(KILLS):  # until one hits the batch: a kill before or after it costs it no answer
                if tried == KILLS - 1:
                    the_child().suspend()
                writing = asyncio.create_task(following.write(rows[start : start + BATCH]))
                await asyncio.sleep(dice.random() * following.usual)
                for child in chroma_children():
                    with suppress(psutil.Error):
                        child.kill()
                with recovery.timed():
                    is_answered = await writing
                if not is_answered:
                    unknown += 1
                    break
        found = await following.compared()
    recovery.update(found)
    return recovery.row(unknown, f"{rounds} kills, rebuilt {following.rebuilt} times; s: the longest recovery")


async def f12(extent: Extent) -> Row:
    """Damage copies of a store, open each as a bot does, search for its rows, and rebuild it from them.

    Within minutes of opening, a bot searches for all rows of so small an index by their own vectors. Chroma writes its
    index files with every thousandth row, so a smaller store has nothing to damage.
    """
    mutants, two = extent.of(200, 2), asyncio.Semaphore(2)
    async with _store(AGAIN) as (folder, store):
        probing = await Probing.of(store, known_rows(1_200, 32), extent.of(300, 60), extent.of(1_200, 100))
        await store.close()
        plans = await asyncio.to_thread(plans_of, folder / "store", mutants, 12)

        async def probed(number: int, plan: Plan) -> None:
            async with two:
                place = folder / f"mutant-{number}"
                await asyncio.to_thread(plan.copy, folder / "store", place)
                await probing.probe(place, plan)
                await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

        await asyncio.gather(*(probed(number, plan) for number, plan in enumerate(plans)))
    return probing.seen.row(len(plans), probing.note(), failed=probing.short + probing.ends["not whole"])


async def f13(extent: Extent) -> Row:
    """Let another process hold SQLite's write lock while this one reads and writes."""
    seconds, rows = float(extent.of(60, 2)), known_rows(3 * BATCH, 32)
    stuck, answers, vector = Seen(), Counter[str](), rows[0].vector or array("f")
    async with _store() as (folder, store):
        generation = await filled(store, rows[:BATCH])
        await store.nearest(generation, vector, EVERYTHING, 5)
        async with loop_watched() as idle:
            await asyncio.sleep(min(seconds, LOOKED_AT))
        [database] = folder.rglob("chroma.sqlite3")
        with started(hold, database) as holder:
            assert next_line(holder) == "held"
            async with loop_watched() as gap:
                deadline = time.monotonic() + seconds
                while time.monotonic() < deadline:
                    writing = store.upsert(generation, rows[BATCH : 2 * BATCH])
                    for what, call in (("", writing), ("query ", store.nearest(generation, vector, EVERYTHING, 5))):
                        begun, is_answered = time.monotonic(), True
                        try:
                            await call
                        except UnavailableError:
                            is_answered = False
                        answers[f"{what}{'answered' if is_answered else 'refused'}"] += 1
                        stuck["stuck"] += time.monotonic() - begun > CALL + SLACK
                    await asyncio.sleep(0.05)  # most calls are refused at once while the child pauses
        following = Following(store, rows[:BATCH])
        with stuck.timed():
            await following.write(rows[BATCH:])
        stuck.update(await following.compared())
    note = (
        f"longest stall of the event loop {gap.longest:.0f} ms (with nothing to do {idle.longest:.0f}), less what it "
        f"waited for a core {gap.blocked:.0f} ({idle.blocked:.0f}); "
        f"{_listed(answers)}; built anew {following.rebuilt} times; s: until it wrote again"
    )
    return stuck.row(1, note, failed=not extent.quick and gap.blocked >= 100 + idle.blocked)


def hold(database: str) -> None:
    """Hold the write lock of a database until the input ends."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.read()


async def f10b(extent: Extent) -> Row:
    """Kill a bot while its child writes, and start the next at once; the new child must wait or stay off."""
    rounds = extent.of(50, 1)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        place, accepted, watch = folder / "store", folder / "accepted", Watch(folder / "store")
        await asyncio.to_thread(accepted.touch)
        with watch.on():
            seen = await asyncio.to_thread(_killed_bots, place, accepted, rounds)
        async with opened(place, CALL) as store:
            following = Following(store, _written(accepted))
            # the last batches were not answered
            seen.update(await following.compared(allowed=known_rows(BATCHES * BATCH, 64)))
    note = (
        f"{watch.overlaps} overlaps in {watch.looks} looks at {len(watch.seen)} children, of which some lived when the "
        f"next bot started; s: until it wrote"
    )
    return seen.row(rounds, note, failed=watch.overlaps or len(watch.seen) <= rounds)


async def f29(extent: Extent) -> Row:
    """Delete 40 % of many small groups, search inside them, and compare with exact results."""
    rows, dimensions, queries = extent.of(10_000, 500), extent.of(128, 32), extent.of(300, 30)
    known, limit = known_rows(rows, dimensions, groups=rows // 50), 12
    gone = set(random.Random(29).sample(range(rows), rows * 2 // 5))
    standing = [row for number, row in enumerate(known) if number not in gone]
    shares, count = list[float](), Counter[str]()
    async with _store(AGAIN) as (_, store):
        generation = await filled(store, known)
        await store.remove(generation, [known[number].event.id for number in sorted(gone)])
        for number, asked in enumerate(unit_vectors(queries, dimensions, 290)):
            group_id = f"{10_000 + number % (rows // 50)}"
            inside = [row for row in standing if row.event.group_id == group_id]
            matrix = np.stack([np.asarray(row.vector, dtype=np.float32) for row in inside])
            best = {inside[at].event.id for at in np.argsort(-(matrix @ asked))[:limit]}
            here = ReadFilter(Scene.group(group_id, "1"))
            try:
                hits = await store.nearest(generation, array("f", asked.tobytes()), here, limit)
            except UnavailableError:
                count["errors"] += 1
                continue
            found = {event_id for event_id, _ in hits}
            count["short"] += len(found) < len(best)
            count["strangers"] += len(found - {row.event.id for row in inside})
            shares.append(len(found & best) / len(best))
    mean = sum(shares) / max(len(shares), 1)
    note = (
        f"recall@{limit} {mean:.3f} (least {min(shares, default=0.0):.3f}), {count['errors']} errors, "
        f"{count['short']} short answers, {count['strangers']} rows that should not be there"
    )
    return Seen().row(queries, note, failed=mean < 0.98 or count["errors"] or count["strangers"])


@dataclass
class Following:
    """Written rows and the generation that should hold them; it is rebuilt if the store has lost it."""

    store: ChromaStore
    written: list[EmbeddedEvent]
    rebuilt: int = 0
    usual: float = 0.5  # seconds of a batch
    generation: Generation | None = None

    async def begin(self) -> None:
        """Put a first generation in use, and measure the time of a batch."""
        self.generation = await filled(self.store, self.written)
        begun = time.monotonic()
        await self.store.upsert(self.generation, self.written[:BATCH])
        self.usual = time.monotonic() - begun

    async def write(self, rows: Sequence[EmbeddedEvent]) -> bool:
        """Write a batch until it is answered; return whether the first attempt was."""
        self.written = [*{row.event.id: row for row in (*self.written, *rows)}.values()]
        try:
            await self._tried(rows)
        except UnavailableError:
            self.generation = None
            await patiently(lambda: self._tried(rows), AGAIN)
            return False
        return True

    async def compared(self, *, allowed: Sequence[EmbeddedEvent] = ()) -> Seen:
        """Compare the store with everything that was written; a query that times out is repeated."""
        generation = await patiently(self._found, AGAIN)
        return await patiently(lambda: examined(self.store, generation, self.written, allowed=allowed), AGAIN)

    async def _tried(self, rows: Sequence[EmbeddedEvent]) -> None:
        self.generation = self.generation or await self._found()
        await self.store.upsert(self.generation, rows)

    async def _found(self) -> Generation:
        generation = await self.store.open()
        if generation is None:
            self.rebuilt += 1
            generation = await filled(self.store, self.written)
        return generation


@dataclass(frozen=True)
class Plan:
    """One damage to one file of a store."""

    damage: str
    file: Path
    seed: int

    def copy(self, intact: Path, place: Path) -> None:
        """Create a damaged copy; a deletion may concern a folder."""
        shutil.copytree(intact, place)
        target, dice = place / self.file, random.Random(self.seed)
        if self.damage == "delete":
            shutil.rmtree(target) if target.is_dir() else target.unlink()
            return
        target.write_bytes(DAMAGES[self.damage](target.read_bytes(), dice))


def plans_of(intact: Path, mutants: int, seed: int) -> list[Plan]:
    """Return damages: first many flipped bytes in every file, then deleted folders, then random ones."""
    dice = random.Random(seed)
    files = sorted(path.relative_to(intact) for path in intact.rglob("*") if path.is_file() and path.stat().st_size)
    folders = sorted(path.relative_to(intact) for path in intact.rglob("*") if path.is_dir())
    plans = [Plan("flip many", file, dice.getrandbits(32)) for file in files if not file.name.endswith(".lock")]
    plans += [Plan("delete", place, 0) for place in (*folders, Path())]
    while len(plans) < mutants:
        plans.append(Plan(dice.choice([*DAMAGES, "delete"]), dice.choice(files), dice.getrandbits(32)))
    return plans[:mutants]


def _flipped(content: bytes, times: int, dice: random.Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(times):
        flipped[dice.randrange(len(flipped))] ^= dice.randrange(1, 256)
    return bytes(flipped)


DAMAGES: Mapping[str, Callable[[bytes, random.Random], bytes]] = {  # beside deletion
    "flip": lambda content, dice: _flipped(content, 1, dice),
    "flip many": lambda content, dice: _flipped(content, max(len(content) // 100, 8), dice),
    "truncate": lambda content, dice: content[: dice.randrange(len(content))],
    "empty": lambda _content, _dice: b"",
    "garbage": lambda content, dice: dice.randbytes(len(content)),
}


@dataclass
class Probing:
    """Opens damaged stores, checks those that seem intact, rebuilds them, and counts the results.

    ``ledger`` holds the rows, and ``mark`` is the intact store's checkpoint. ``short`` counts the stores that seemed
    intact and had lost rows; ``bent`` lists damages after which a row was not found by its own vector, which only a
    search for every row can show.
    """

    known: Sequence[EmbeddedEvent]
    ledger: Ledger
    build_id: str
    mark: Checkpoint
    sample: int
    anew: int
    seen: Seen = field(default_factory=Seen)
    short: int = 0
    ends: Counter[str] = field(default_factory=Counter[str])
    bent: list[str] = field(default_factory=list[str])
    rebuilds: list[float] = field(default_factory=list[float])

    @classmethod
    async def of(cls, store: ChromaStore, known: Sequence[EmbeddedEvent], sample: int, anew: int) -> Probing:
        """Index rows in an empty store, which will be damaged."""
        ledger = a_ledger()
        await _lay(ledger, known)
        await IndexReconciler(store, ledger.vectors, MODEL).follow()
        generation = await store.open()
        assert generation is not None
        _, mark = await ledger.vectors.index_mark() or ("", Checkpoint())
        return cls(known, ledger, generation.build_id, mark, sample, anew)

    async def probe(self, place: Path, plan: Plan) -> None:
        """Open a damaged store, and rebuild it."""
        async with opened(place, CALL) as store:
            begun = time.monotonic()
            with self.seen.timed():
                await self._open(store, plan)
            self.seen["stuck"] += time.monotonic() - begun > AGAIN
            begun, rows = time.monotonic(), self.known[: self.anew]
            generation = await patiently(lambda: filled(store, rows), AGAIN)
            self.rebuilds.append(time.monotonic() - begun)
            self.seen.update(await examined(store, generation, rows, sample=5))

    def note(self) -> str:
        """Return how often each result occurred, and after which damage a row was no longer found."""
        per_10k = 10_000 / self.anew * max(self.rebuilds, default=0.0)
        bent = f"; rows astray after {', '.join(self.bent)}" if self.bent else ""
        return f"{_listed(self.ends)}{bent}; built anew at {per_10k:.0f} s per 10,000 at most; s: the slowest opening"

    async def _open(self, store: ChromaStore, plan: Plan) -> None:
        try:
            generation = await store.open() if await self._is_trusted(store) else None
            found = await examined(store, generation, self.known, sample=self.sample) if generation else None
        except UnavailableError:
            self.ends["refused"] += 1
            return
        if found is None:
            self.ends["noticed"] += 1
            return
        self.ends["not whole" if found.total() else "whole"] += 1
        if found["lost"] + found["twice"] > found["unfound"]:
            self.short += 1
        elif found["unfound"]:
            self.bent.append(f"{plan.damage} {plan.file.name} ({found['unfound']})")

    async def _is_trusted(self, store: ChromaStore) -> bool:
        """Open a store as a bot does; return whether no damage was noticed."""
        await self.ledger.vectors.note_index(self.build_id, self.mark)
        trusted: Any = NeverAnew(store)
        try:
            await IndexReconciler(trusted, self.ledger.vectors, MODEL).follow()
        except Noticed:
            return False
        return True


async def _lay(ledger: Ledger, rows: Sequence[EmbeddedEvent]) -> None:
    """Store rows and their vectors."""
    await embedded(ledger, [(row.event, row.vector) for row in rows if row.vector is not None], MODEL)


class Noticed(UnavailableError):
    """Raised where a bot would build the next generation."""


class NeverAnew(Wrapping):
    """A store in which no generation can be created, so that a bot's reaction to damage becomes visible."""

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Raise Noticed."""
        raise Noticed(f"{fingerprint} {dimensions}")


def _killed_bots(place: Path, accepted: Path, rounds: int) -> Seen:
    """Kill one bot after another, every second one while its child is suspended, and start the next at once.

    Counts how many children outlived their bot, and the bots that never wrote as stuck; times until the next bot wrote.
    """
    dice, seen = random.Random(10), Seen()
    with ExitStack() as bots:
        bot = bots.enter_context(started(write, place, accepted))
        next_line(bot)
        for number in range(rounds):
            is_stopped = number % 2 == 0
            time.sleep(dice.random() * 0.3)
            child = _standing_child(bot.pid) if is_stopped else the_child(bot.pid, patience=AGAIN)
            bot.kill()
            bot.communicate()
            seen["lived"] += child.is_running()
            with seen.timed():
                bot = bots.enter_context(started(write, place, accepted))
                if is_stopped:
                    the_child(bot.pid, patience=AGAIN)
                    time.sleep(STANDSTILL)
                    child.resume()
                if not next_line(bot):
                    seen["stuck"] += 1
                    return seen
        bot.communicate("")
    return seen


def _standing_child(of: int) -> psutil.Process:
    """Suspend the child of a bot; if the bot replaces a slow child, suspend the next one."""
    while True:
        child = the_child(of, patience=AGAIN)
        with suppress(psutil.NoSuchProcess):
            child.suspend()
            return child


def _written(accepted: Path) -> list[EmbeddedEvent]:
    """Return the rows of all accepted batches."""
    rows = known_rows(BATCHES * BATCH, 64)
    numbers = {int(line) % BATCHES for line in accepted.read_text("ascii").split()}
    return [row for number in sorted(numbers) for row in rows[number * BATCH : (number + 1) * BATCH]]


async def write(place: str, accepted: str) -> None:
    """Write batches until the input ends; record each durably when it is answered."""
    rows, over, ledger = known_rows(BATCHES * BATCH, 64), Flag(), AcceptedTurns(Path(accepted))
    Thread(target=lambda: (os.read(0, 1), over.set()), daemon=True).start()
    async with opened(Path(place), CALL) as store:
        following = Following(store, _written(Path(accepted)))
        for number in count(os.getpid()):  # each bot starts at another batch
            if over.is_set():
                return
            at = number % BATCHES * BATCH
            await following.write(rows[at : at + BATCH])
            ledger.note(number)
            print(number, flush=True)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.most_common())


# F30.


async def f30(extent: Extent) -> Row:
    """Remove rows from an index and add foreign ones, a day apart; count what was not found or not repaired."""
    count, dice, ledger = extent.of(5_000, 400), random.Random(extent.seed), a_ledger()
    clock, injected, wrong, seen = FrozenClock(), 0, 0, Seen()
    async with _store(AGAIN) as (_, store):
        follower = IndexReconciler(store, ledger.vectors, MODEL, clock.elapsed)
        await _lay(ledger, known_rows(count, DIMENSIONS))
        await follower.follow()
        for number in range(extent.of(10, 2)):
            struck = await _struck(store, await ledger.vectors.embedded_ids(MODEL), number, dice)
            clock.advance(seconds=EVERY_DAY)
            with seen.timed():
                await follower.round()
            generation = await store.open()
            assert generation is not None
            left = await store.listed(generation) ^ await ledger.vectors.embedded_ids(MODEL)
            injected, wrong = injected + struck, wrong + (generation.number != number + 2)
            seen["lost"] += len(left)
    note = f"noticed {'each time' if not wrong else f'{wrong} times not'}; seconds: to mend {count} rows"
    return seen.row(injected, note, failed=wrong)


async def _struck(store: ChromaStore, known: frozenset[str], number: int, dice: random.Random) -> int:
    """Remove some rows (every third time too many for single repairs), and add foreign rows."""
    generation = await store.open()
    assert generation is not None
    share = 0.2 if number % 3 == 2 else 0.03
    gone = dice.sample(sorted(known), int(len(known) * share))
    await store.remove(generation, gone)
    strangers = [
        replace(row, event=replace(row.event, id=f"stranger-{number}-{row.event.id}"))
        for row in known_rows(20, DIMENSIONS)
    ]
    await store.upsert(generation, strangers)
    return len(gone) + len(strangers)
