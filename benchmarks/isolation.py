"""Isolation: random scenes over random histories, through every read path of the memory and over every kind of store.

What is shown is compared with an independent implementation of the design's table.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tests.support.clock import FrozenClock
from tests.support.histories import History
from tests.support.opened import Make, Witness, opened
from tests.support.questions import PATHS, Question, Verdict, Ways, answered
from tests.support.sowing import Extent, Sower
from tests.support.tool_questions import TOOLS

from .fault_row import Seen
from .measure import Report

SHARES: dict[Make, float] = {"exact": 0.75, "chroma": 0.25}
SCENES = 2_000  # per history
CHAPTERS, DEEDS, HASTY = 8, 8, 4
WAYS: Ways = {**PATHS, **TOOLS}
RARELY_SHARED = 4  # one history in so many shares everybody's profile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of scenes."""
    parser.add_argument("--scenes", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)


def run(options: argparse.Namespace) -> Report:
    """Use every read path and compare what it shows with the rule."""
    report = Report("isolation: what was shown against the rule", ("reader", "asked", "readable", "leaks", "missing"))
    started = time.perf_counter()
    for make, tally in tallied(plans(options.scenes, options.seed)).items():
        for way in WAYS:
            report.add(f"{make}: {way}", *(tally[f"{name} {way}"] for name in ("asked", "shown", "leaked", "missing")))
        report.add(f"{make}: rows of the legs", *map(tally.sum, ("asked", "rows", "dropped")), 0)
        report.notes += tally.examples[:1]
        report.failed |= tally.is_bad
    report.notes.append("leaks: shown, though the rule forbids it; missing: not shown, though the rule allows it")
    report.notes.append("rows of the legs: what stores gave; a leak there is what only the last check took out")
    report.notes.append(f"{time.perf_counter() - started:.0f} s, seed {options.seed}")
    return report


class Tally(Seen):
    """Counts by what is counted (asked, shown, leaked, missing) and read path, and examples of wrong answers.

    ``"rows"`` are those that stores returned, ``"dropped"`` those that only the last check removed.
    """

    def note(self, asked: Question, verdict: Verdict) -> None:
        """Count one answer, and keep a wrong one as an example."""
        counts = {"asked": 1, "shown": verdict.shown, "leaked": len(verdict.leaked), "missing": len(verdict.missing)}
        self.update({f"{name} {verdict.path}": count for name, count in counts.items()})
        for token in sorted(verdict.leaked | verdict.missing)[:1]:
            self.examples.append(f"{asked.scene} by {verdict.path}: {asked.history.standing.planted[token]}")

    def see(self, witness: Witness, history: History) -> None:
        """Count the rows that stores returned, and those among them that should not have been there."""
        rows = sum(len(events) for _, events in witness.seen)
        self.update({"rows ": rows, "dropped ": len(witness.foreign(history.standing))})

    def sum(self, name: str) -> int:
        """Return a count over all read paths."""
        return sum(count for counted, count in self.items() if counted.startswith(f"{name} "))

    @property
    def is_bad(self) -> bool:
        """Return whether anything leaked, was missing, or was stopped only by the last check."""
        return any(map(self.sum, ("dropped", "leaked", "missing")))


@dataclass(frozen=True)
class Plan:
    """One history: its stores and number of scenes, and whether all questions use private words."""

    make: Make
    seed: int
    scenes: int
    only_private: bool = False

    @property
    def sharing(self) -> str:
        """Return whether everybody's profile is shared."""
        return "isolated" if self.seed % RARELY_SHARED else "shared"


def plans(scenes: int, seed: int, makes: Iterable[Make] = SHARES, *, only_private: bool = False) -> list[Plan]:
    """Distribute scenes to histories, and histories to stores."""
    made: list[Plan] = []
    for make in makes:
        left = round(scenes * SHARES[make])
        while left > 0:
            made.append(Plan(make, seed + len(made), min(left, SCENES), only_private))
            left -= SCENES
    return made


def tallied(wanted: Sequence[Plan]) -> dict[Make, Tally]:
    """Run all histories, as many at once as there are processors."""
    found: dict[Make, Tally] = {plan.make: Tally() for plan in wanted}
    with ProcessPoolExecutor(min(os.cpu_count() or 1, len(wanted)), initializer=load_plugin) as pool:
        for plan, tally in zip(wanted, pool.map(_lived, wanted), strict=True):
            found[plan.make].update(tally)
    return found


def load_plugin() -> None:
    """Load the plugin with a data folder to which nothing is written."""
    import nonebot  # noqa: PLC0415  # only the processes that ask need it

    logging.disable(logging.CRITICAL)  # half of all questions are meant to be refused
    nonebot.logger.remove()
    warnings.simplefilter("ignore")  # no adapter is installed
    nonebot.init(driver="~none", localstore_data_dir=tempfile.gettempdir())
    nonebot.load_plugin("nonebot_plugin_cognitive_memory")
    nonebot.logger.remove()


def _lived(plan: Plan) -> Tally:
    return asyncio.run(_told(plan))


async def _at_once(history: History, tally: Tally, witness: Witness) -> None:
    """Ask before background work is done; results may still be missing then."""
    for _ in range(HASTY):
        asked, verdict = await answered(history, ways=WAYS)
        tally.note(asked, replace(verdict, missing=frozenset()))
    tally.see(witness, history)


async def _told(plan: Plan) -> Tally:
    tally, witness, clock = Tally({"histories ": 1}), Witness(), FrozenClock()
    chapters = min(CHAPTERS, max(plan.scenes // 50, 1))
    ask = partial(answered, ways=WAYS, only_private=plan.only_private)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with opened(plan.make, Path(folder) / "data", clock, witness, sharing=plan.sharing) as memory:
            sower = Sower(random.Random(plan.seed))
            sower.standing.is_shared_by_all = plan.sharing == "shared"
            history = History(memory, sower, Path(folder), clock)
            await history.begin(Extent())
            for chapter in range(chapters):
                await history.go_on(DEEDS, partial(_at_once, tally=tally, witness=witness))
                for _ in range(plan.scenes * chapter // chapters, plan.scenes * (chapter + 1) // chapters):
                    tally.note(*await ask(history))
                tally.see(witness, history)
    return tally
