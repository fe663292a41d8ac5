"""The faults of the vector store, each at a given size: what was lost, found twice, or got stuck.

``python -m benchmarks.faults_chroma FOLDER ACCEPTED`` is the bot that f10b kills: it writes rows until it is killed.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import time
from array import array
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from subprocess import PIPE
from threading import Event as Flag
from threading import Thread
from typing import Literal

import numpy as np
import psutil

from cognitive_memory_core.domain.event import Draft
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports.vectors import EmbeddedEvent, Generation
from cognitive_memory_core.store.vectors import Checkpoint, VectorRow
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from cognitive_memory_core.vectors.reconciler import IndexReconciler
from tests.support.ledgers import Ledger, a_ledger

from .chroma_world import (
    BATCH,
    EVERYTHING,
    MODEL,
    Findings,
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
from .fault_row import Row
from .measure import loop_watched

Damage = Literal["flip", "flip many", "truncate", "empty", "garbage", "delete"]
ROOT = Path(__file__).resolve().parent.parent
CALL = 5.0  # seconds that a call may take in these rows
SLACK = 20.0  # additional seconds for a child that must start, before a call counts as stuck
AGAIN = 300.0  # seconds in which a store must recover after a fault; busy machines take over a minute
STANDSTILL = 4.0  # seconds in which the next bot's child, if nothing blocked it, would import chromadb and open
LOOKED_AT = 5.0  # seconds of watching an idle event loop, for comparison
KILLS = 5  # tries to interrupt one batch; the last one hits it for certain
DAYS = 3  # attempts of a bot when a busy machine did not answer
BATCHES = 20  # written repeatedly by a bot of f10b
DAMAGES: tuple[Damage, ...] = ("flip", "flip many", "truncate", "empty", "garbage", "delete")


async def f11(folder: Path, rounds: int = 50, *, dimensions: int = 64) -> Row:
    """Kill the child at random moments of an upsert, and repeat unanswered batches until they are answered."""
    dice, rows = random.Random(11), known_rows(rounds * BATCH, dimensions)
    unknown, slowest = 0, 0.0
    async with opened(folder, CALL) as store:
        following = Following(store, rows[:BATCH])
        await following.begin()
        for start in range(BATCH, len(rows), BATCH):
            for tried in range(KILLS):  # until one hits the batch: a kill before or after it costs it no answer
                if tried == KILLS - 1:
                    the_child().suspend()
                writing = asyncio.create_task(following.write(rows[start : start + BATCH]))
                await asyncio.sleep(dice.random() * following.usual)
                _kill_children()
                started = time.monotonic()
                is_answered = await writing
                slowest = max(slowest, time.monotonic() - started)
                if not is_answered:
                    unknown += 1
                    break
        found = await following.compared()
    return Row(unknown, found.missing + found.unfound,
               found.extra + found.twice, seconds=slowest,
               note=f"{rounds} kills, rebuilt {following.rebuilt} times; s: the longest recovery")  # fmt: skip


async def f12(folder: Path, mutants: int = 200, *, sample: int = 300, anew: int = 1_200, seed: int = 12) -> Row:
    """Damage copies of a store, open each as a bot does, search for its rows, and rebuild it from them.

    Within minutes of opening, a bot searches for all rows of so small an index by their own vectors. Chroma writes its
    index files with every thousandth row, so a smaller store has nothing to damage. ``sample`` is how many rows are
    searched for by their own vector, ``anew`` how many rows a rebuilt store has.
    """
    intact = folder / "intact"
    async with opened(intact, AGAIN) as store:
        probing = await Probing.of(store, known_rows(1_200, 32), sample, anew)
    plans = await asyncio.to_thread(plans_of, intact, mutants, seed)
    two = asyncio.Semaphore(2)

    async def probed(number: int, plan: Plan) -> None:
        async with two:
            place = folder / f"mutant-{number}"
            await asyncio.to_thread(plan.copy, intact, place)
            await probing.probe(place, plan)
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)

    await asyncio.gather(*(probed(number, plan) for number, plan in enumerate(plans)))
    return Row(len(plans), probing.lost, probing.twice, probing.stuck, probing.slowest,
               probing.note(), failed=probing.short + probing.ends["not whole"] > 0)  # fmt: skip


async def f13(folder: Path, seconds: float = 60.0, *, dimensions: int = 32) -> Row:
    """Let another process hold SQLite's write lock while this one reads and writes."""
    rows, stuck, answers = known_rows(3 * BATCH, dimensions), 0, Counter[str]()
    async with opened(folder, CALL) as store:
        generation = await filled(store, rows[:BATCH])
        await store.nearest(generation, rows[0].vector or array("f"), EVERYTHING, 5)
        async with loop_watched() as idle:
            await asyncio.sleep(min(seconds, LOOKED_AT))
        with _write_lock(folder):
            async with loop_watched() as gap:
                deadline = time.monotonic() + seconds
                while time.monotonic() < deadline:
                    answer, took = await _timed(store.upsert(generation, rows[BATCH : 2 * BATCH]))
                    answers[answer] += 1
                    stuck += took > CALL + SLACK
                    answer, took = await _timed(store.nearest(generation, rows[0].vector or array("f"), EVERYTHING, 5))
                    answers[f"query {answer}"] += 1
                    stuck += took > CALL + SLACK
                    await asyncio.sleep(0.05)  # most calls are refused at once while the child pauses
        started = time.monotonic()
        following = Following(store, rows[:BATCH])
        await following.write(rows[BATCH:])
        back = time.monotonic() - started
        found = await following.compared()
    note = (
        f"longest stall of the event loop {gap.longest:.0f} ms (with nothing to do {idle.longest:.0f}); "
        f"{_listed(answers)}; built anew {following.rebuilt} times; s: until it wrote again"
    )
    return Row(1, found.missing + found.unfound,
               found.extra + found.twice, stuck, back, note, failed=gap.longest >= 100 + idle.longest)  # fmt: skip


async def f10b(folder: Path, rounds: int = 50) -> Row:
    """Kill a bot while its child writes, and start the next at once; the new child must wait or stay off."""
    is_seen = await asyncio.to_thread(_two_are_seen, folder / "control")
    place, accepted, watch = folder / "store", folder / "accepted", Watch(folder / "store")
    accepted.touch()
    with watch.on():
        slowest, lived, stuck = await asyncio.to_thread(_killed_bots, place, accepted, rounds)
    async with opened(place, CALL) as store:
        following = Following(store, _written(accepted))
        found = await following.compared(allowed=known_rows(BATCHES * BATCH, 64))  # the last batches were not answered
    note = (
        f"{watch.overlaps} overlaps in {watch.looks} looks at {len(watch.seen)} children, {lived} of which were there "
        f"when the next bot started; s: until it wrote{'' if is_seen else '; the watch is blind'}"
    )
    is_bad = bool(watch.overlaps) or not is_seen or len(watch.seen) <= rounds
    return Row(rounds, found.missing + found.unfound,
               found.extra + found.twice, stuck, slowest, note, failed=is_bad)  # fmt: skip


async def f29(folder: Path, *, rows: int = 10_000, dimensions: int = 128, queries: int = 300) -> Row:
    """Delete 40 % of many small groups, search inside them, and compare with exact results."""
    known = known_rows(rows, dimensions, groups=rows // 50)
    gone = set(random.Random(29).sample(range(rows), rows * 2 // 5))
    standing = [row for number, row in enumerate(known) if number not in gone]
    async with opened(folder, AGAIN) as store:
        generation = await filled(store, known)
        await store.remove(generation, [known[number].event.id for number in sorted(gone)])
        recall = Recall(standing)
        for number, asked in enumerate(unit_vectors(queries, dimensions, 290)):
            await recall.ask(store, generation, array("f", asked.tobytes()), f"{10_000 + number % (rows // 50)}")
    note = (
        f"recall@{recall.limit} {recall.mean:.3f} (least {recall.least:.3f}), {recall.errors} errors, "
        f"{recall.short} short answers, {recall.strangers} rows that should not be there"
    )
    is_bad = recall.mean < 0.98 or bool(recall.errors or recall.strangers)
    return Row(queries, note=note, failed=is_bad)


async def f30_store(folder: Path, *, rows: int = 2_000, drift: int = 100) -> Row:
    """Remove rows and add foreign ones without the checkpoint; the listing shows them, and writing repairs it."""
    known = known_rows(rows + drift, 32)
    ours, strangers, missing = known[:rows], known[rows:], known[:drift]
    async with opened(folder, AGAIN) as store:
        generation = await filled(store, ours)
        await store.remove(generation, [row.event.id for row in missing])
        await store.upsert(generation, strangers)
        started, wanted = time.monotonic(), {row.event.id for row in ours}
        listed = await store.listed(generation)
        absent, extra = wanted - listed, listed - wanted
        await store.upsert(generation, [row for row in missing if row.event.id in absent])
        await store.remove(generation, sorted(extra))
        seconds = time.monotonic() - started
        found = await examined(store, generation, ours)
    note = f"found {len(absent)} missing and {len(extra)} extra of {drift} each"
    return Row(2 * drift, found.missing + found.unfound,
               found.extra + found.twice, seconds=seconds, note=note,
               failed=(len(absent), len(extra)) != (drift, drift))  # fmt: skip


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
        started = time.monotonic()
        await self.store.upsert(self.generation, self.written[:BATCH])
        self.usual = time.monotonic() - started

    async def write(self, rows: Sequence[EmbeddedEvent]) -> bool:
        """Write a batch until it is answered; return whether the first attempt was."""
        self.written = [*{row.event.id: row for row in (*self.written, *rows)}.values()]
        try:
            self.generation = self.generation or await self._found()
            await self.store.upsert(self.generation, rows)
        except UnavailableError:
            await patiently(lambda: self._again(rows), AGAIN)
            return False
        return True

    async def compared(self, *, allowed: Sequence[EmbeddedEvent] = ()) -> Findings:
        """Compare the store with everything that was written; a query that times out is repeated."""
        generation = await patiently(self._found, AGAIN)
        return await patiently(lambda: examined(self.store, generation, self.written, allowed=allowed), AGAIN)

    async def _again(self, rows: Sequence[EmbeddedEvent]) -> None:
        self.generation = await self._found()
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

    damage: Damage
    file: Path
    seed: int

    def copy(self, intact: Path, place: Path) -> None:
        """Create a damaged copy; a deletion may concern a folder."""
        shutil.copytree(intact, place)
        target, dice = place / self.file, random.Random(self.seed)
        if self.damage == "delete":
            shutil.rmtree(target) if target.is_dir() else target.unlink()
            return
        target.write_bytes(_damaged(target.read_bytes(), self.damage, dice))


def plans_of(intact: Path, mutants: int, seed: int) -> list[Plan]:
    """Return damages: first many flipped bytes in every file, then deleted folders, then random ones."""
    dice = random.Random(seed)
    files = sorted(path.relative_to(intact) for path in intact.rglob("*") if path.is_file() and path.stat().st_size)
    folders = sorted(path.relative_to(intact) for path in intact.rglob("*") if path.is_dir())
    plans = [Plan("flip many", file, dice.getrandbits(32)) for file in files if not file.name.endswith(".lock")]
    plans += [Plan("delete", place, 0) for place in (*folders, Path())]
    while len(plans) < mutants:
        plans.append(Plan(dice.choice(DAMAGES), dice.choice(files), dice.getrandbits(32)))
    return plans[:mutants]


def _damaged(content: bytes, damage: Damage, dice: random.Random) -> bytes:
    if damage == "empty":
        return b""
    if damage == "truncate":
        return content[: dice.randrange(len(content))]
    if damage == "garbage":
        return dice.randbytes(len(content))
    flipped = bytearray(content)
    for _ in range(1 if damage == "flip" else max(len(content) // 100, 8)):
        flipped[dice.randrange(len(flipped))] ^= dice.randrange(1, 256)
    return bytes(flipped)


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
    lost: int = 0
    twice: int = 0
    stuck: int = 0
    short: int = 0
    slowest: float = 0.0
    ends: Counter[str] = field(default_factory=Counter[str])
    bent: list[str] = field(default_factory=list[str])
    rebuilds: list[float] = field(default_factory=list[float])

    @classmethod
    async def of(cls, store: ChromaStore, known: Sequence[EmbeddedEvent], sample: int, anew: int) -> Probing:
        """Index rows in an empty store, which will be damaged."""
        ledger = a_ledger()
        await ledger.events.commit(Draft("all", tuple(row.event for row in known)))
        await ledger.vectors.store(MODEL, [VectorRow(row.event.id, row.vector or array("f")) for row in known])
        await IndexReconciler(store, ledger.vectors, ledger.book, MODEL).follow()
        generation = await store.open()
        assert generation is not None
        mark = await ledger.book.checkpoint(generation.build_id)
        return cls(known, ledger, generation.build_id, mark or Checkpoint(), sample, anew)

    async def probe(self, place: Path, plan: Plan) -> None:
        """Open a damaged store, and rebuild it."""
        async with opened(place, CALL) as store:
            started = time.monotonic()
            await self._open(store, plan)
            opened_at = time.monotonic()
            rows = self.known[: self.anew]
            generation = await patiently(lambda: filled(store, rows), AGAIN)
            self.rebuilds.append(time.monotonic() - opened_at)
            found = await examined(store, generation, rows, sample=5)
        self.slowest = max(self.slowest, opened_at - started)
        self.stuck += opened_at - started > AGAIN
        self.lost += found.missing + found.unfound
        self.twice += found.extra + found.twice

    def note(self) -> str:
        """Return how often each result occurred, and after which damage a row was no longer found."""
        per_10k = 10_000 / self.anew * max(self.rebuilds, default=0.0)
        bent = f"; rows astray after {', '.join(self.bent)}" if self.bent else ""
        return f"{_listed(self.ends)}{bent}; built anew at {per_10k:.0f} s per 10,000 at most; s: the slowest opening"

    async def _open(self, store: ChromaStore, plan: Plan) -> None:
        try:
            end = await self._trusted(store)
            generation = None if end else await store.open()
            found = await examined(store, generation, self.known, sample=self.sample) if generation else None
        except UnavailableError:
            self.ends["refused"] += 1
            return
        self.ends[end or ("noticed" if found is None else "whole" if found.is_whole else "not whole")] += 1
        if found is not None and found.missing + found.extra + found.twice:
            self.short += 1
        elif found is not None and found.unfound:
            self.bent.append(f"{plan.damage} {plan.file.name} ({found.unfound})")

    async def _trusted(self, store: ChromaStore) -> str:
        """Open a store as a bot does and search for its rows; return how damage was noticed, "" if it was not."""
        book = self.ledger.book
        await book.keep_only(self.build_id)
        await book.note(self.build_id, self.mark)
        follower, step = IndexReconciler(NeverAnew(store), self.ledger.vectors, book, MODEL), "noticed"
        try:
            await follower.follow()
            step = "noticed by asking"
            for _ in range(DAYS):
                follower.loop.trouble.end()
                while await follower.examine():
                    pass
                await follower.follow()
                if not follower.loop.trouble.error:
                    break
                await follower.reconcile()
        except Noticed:
            return step
        return ""


class Noticed(UnavailableError):
    """Raised where a bot would build the next generation."""


class NeverAnew:
    """A store in which no generation can be created, so that a bot's reaction to damage becomes visible."""

    def __init__(self, store: ChromaStore) -> None:
        """Forward everything else."""
        self.open, self.put_in_use, self.listed = store.open, store.put_in_use, store.listed
        self.upsert, self.remove, self.nearest = store.upsert, store.remove, store.nearest

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Raise Noticed."""
        raise Noticed(f"{fingerprint} {dimensions}")


@dataclass
class Recall:
    """Results inside groups, compared with exact ones."""

    standing: Sequence[EmbeddedEvent]
    limit: int = 12
    errors: int = 0
    short: int = 0
    strangers: int = 0
    shares: list[float] = field(default_factory=list[float])

    @property
    def mean(self) -> float:
        """Return the mean share of expected results that were found."""
        return sum(self.shares) / max(len(self.shares), 1)

    @property
    def least(self) -> float:
        """Return the share of the worst query."""
        return min(self.shares, default=0.0)

    async def ask(self, store: ChromaStore, generation: Generation, asked: array[float], group_id: str) -> None:
        """Search once inside a group."""
        inside = [row for row in self.standing if row.event.group_id == group_id]
        best = _exact(inside, asked, self.limit)
        try:
            read_filter = ReadFilter(Scene.group(group_id, "1"))
            found = {event_id for event_id, _ in await store.nearest(generation, asked, read_filter, self.limit)}
        except UnavailableError:
            self.errors += 1
            return
        self.short += len(found) < len(best)
        self.strangers += len(found - {row.event.id for row in inside})
        self.shares.append(len(found & best) / len(best))


def _exact(rows: Sequence[EmbeddedEvent], asked: array[float], limit: int) -> set[str]:
    matrix = np.stack([np.asarray(row.vector, dtype=np.float32) for row in rows])
    best = np.argsort(-(matrix @ np.asarray(asked, dtype=np.float32)))[:limit]
    return {rows[at].event.id for at in best}


async def _timed(call: Awaitable[object]) -> tuple[str, float]:
    """Return how a call ended, and after how many seconds."""
    started = time.monotonic()
    try:
        await call
    except UnavailableError:
        return "refused", time.monotonic() - started
    return "answered", time.monotonic() - started


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def _write_lock(folder: Path) -> Iterator[None]:
    """Let another process hold the write lock of the database below a folder."""
    (database,) = folder.rglob("chroma.sqlite3")
    with subprocess.Popen([sys.executable, "-c", HOLD, str(database)], stdin=PIPE, stdout=PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield
        holder.communicate()


def _kill_children() -> None:
    for child in chroma_children():
        with suppress(psutil.Error):
            child.kill()


def _killed_bots(place: Path, accepted: Path, rounds: int) -> tuple[float, int, int]:
    """Kill one bot after another, every second one while its child is suspended, and start the next at once.

    Returns the longest time until the next bot wrote, how many children outlived their bot, and 1 if a bot never wrote.
    """
    dice, slowest, lived, bot = random.Random(10), 0.0, 0, _bot(place, accepted)
    try:
        _wrote(bot)
        for number in range(rounds):
            is_stopped = number % 2 == 0
            time.sleep(dice.random() * 0.3)
            child = _standing_child(bot.pid) if is_stopped else the_child(bot.pid, patience=AGAIN)
            bot.kill()
            bot.communicate()
            lived += child.is_running()
            started, bot = time.monotonic(), _bot(place, accepted)
            if is_stopped:
                the_child(bot.pid, patience=AGAIN)
                time.sleep(STANDSTILL)
                child.resume()
            if not _wrote(bot):
                return slowest, lived, 1
            slowest = max(slowest, time.monotonic() - started)
        bot.communicate("")
        return slowest, lived, 0
    finally:
        bot.kill()
        bot.communicate()


def _standing_child(of: int) -> psutil.Process:
    """Suspend the child of a bot; if the bot replaces a slow child, suspend the next one."""
    deadline = time.monotonic() + AGAIN
    while True:
        child = the_child(of, patience=AGAIN)
        try:
            child.suspend()
        except psutil.NoSuchProcess:
            if time.monotonic() > deadline:
                raise
        else:
            return child


def _bot(place: Path, accepted: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.faults_chroma", str(place), str(accepted)]
    return subprocess.Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True)


def _wrote(bot: subprocess.Popen[str]) -> bool:
    """Wait for a line of a process; return False if it ended without one."""
    return bool(bot.stdout and bot.stdout.readline())


def _written(accepted: Path) -> list[EmbeddedEvent]:
    """Return the rows of all accepted batches."""
    rows = known_rows(BATCHES * BATCH, 64)
    numbers = {int(line) % BATCHES for line in accepted.read_text("ascii").split()}
    return [row for number in sorted(numbers) for row in rows[number * BATCH : (number + 1) * BATCH]]


async def _write(place: Path, accepted: Path) -> None:
    """Write batches until the input ends; record each durably when it is answered."""
    rows, over = known_rows(BATCHES * BATCH, 64), Flag()
    Thread(target=lambda: (os.read(0, 1), over.set()), daemon=True).start()
    async with opened(place, CALL) as store:
        following = Following(store, _written(accepted))
        for number in count(os.getpid()):  # each bot starts at another batch
            if over.is_set():
                return
            at = number % BATCHES * BATCH
            await following.write(rows[at : at + BATCH])
            _note(accepted, number)
            print(number, flush=True)


def _note(accepted: Path, number: int) -> None:
    with accepted.open("a", encoding="ascii") as file:
        file.write(f"{number}\n")
        file.flush()
        os.fsync(file.fileno())


NAIVE = """
import sys, chromadb
client = chromadb.PersistentClient(sys.argv[1])
client.get_or_create_collection("both", embedding_function=None)
print("open", flush=True)
sys.stdin.read()
"""


def _two_are_seen(folder: Path) -> bool:
    """Let two processes open one store without protection, and return whether the watch notices it."""
    folder.mkdir(parents=True)
    watch, command = Watch(folder), [sys.executable, "-c", NAIVE, str(folder)]
    with (
        watch.on(),
        subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as one,
        subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as other,
    ):
        for process in (one, other):
            _wrote(process)
        time.sleep(0.2)
        one.communicate()
        other.communicate()
    return watch.overlaps > 0


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.most_common())


if __name__ == "__main__":
    asyncio.run(_write(Path(sys.argv[1]), Path(sys.argv[2])))
