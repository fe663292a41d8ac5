"""Runs a step with one fault after the other, each in a new copy of the same directory, and sums the verdicts."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ..fault_row import Summed
from .steps import STEPS, Step
from .tracer import Driver, Outcome, Point, driver
from .world import Tokens

SIDE_BY_SIDE = 2  # drivers


@dataclass(frozen=True)
class Injection:
    """The fault that strace injects at a point; ``is_lasting`` if it persists."""

    point: Point
    what: str
    is_lasting: bool = False

    def __str__(self) -> str:
        return f"{self.point.call}:{self.what}:{self.point.when}{'+' * self.is_lasting}"


@dataclass
class Tally(Summed):
    """The summed effects of the faults. ``crashed``: ended or raised in a way it must not; ``examples`` say where."""

    injected: int = 0
    missed: int = 0
    lost: int = 0
    twice: int = 0
    torn: int = 0
    crashed: int = 0
    stopped: int = 0
    acked: int = 0
    kept: int = 0
    behind: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Scene:
    """A step with the directory before it, and the outcome of an undisturbed run."""

    name: str
    step: Step
    template: Path
    before: Tokens
    standing: frozenset[str]  # names of the existing files
    unharmed: Outcome


Plan = Callable[[Scene], Iterable[Injection]]
Watch = Callable[[Scene, Injection, Outcome], None]


def struck(names: Sequence[str], plan: Plan, *, goes_on: bool = False, watch: Watch | None = None) -> Tally:
    """Run steps with every fault of a plan, two steps at a time."""
    work = deque(names)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        hands = [pool.submit(_struck_by_one, work, plan, goes_on, watch) for _ in range(SIDE_BY_SIDE)]
        return sum((hand.result() for hand in hands), Tally())


def rehearsed(names: Sequence[str]) -> list[Scene]:
    """Run steps without any fault; their directories are removed afterwards."""
    with tempfile.TemporaryDirectory() as folder, driver(Path(folder)) as process:
        return [_scene(Path(folder) / str(number), name, process) for number, name in enumerate(names)]


def spread(points: Sequence[Point], most: int) -> list[Point]:
    """Return at most ``most`` points, evenly spread."""
    every = max(-(-len(points) // most), 1)
    return list(points[::every])


def _struck_by_one(work: deque[str], plan: Plan, goes_on: bool, watch: Watch | None) -> Tally:
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder, driver(Path(folder)) as process:
        while work:
            scene = _scene(Path(folder) / str(len(work)), work.popleft(), process)
            for injection in plan(scene):
                data = Path(folder) / "data"
                shutil.copytree(scene.template, data)
                outcome = process.take(scene.name, data, str(injection), goes_on=goes_on)
                if watch and outcome.has_struck:
                    watch(scene, injection, outcome)
                _count(tally, scene, injection, outcome, data)
                shutil.rmtree(data)
    return tally


def _scene(folder: Path, name: str, process: Driver) -> Scene:
    step, template, data = STEPS[name], folder / "template", folder / "data"
    template.mkdir(parents=True)
    asyncio.run(step.lay(template))
    shutil.copytree(template, data)
    before = asyncio.run(step.found(data)).tokens
    shutil.rmtree(data)
    shutil.copytree(template, data)
    unharmed = process.take(name, data)
    assert unharmed.is_acked, f"{name}: {unharmed.said}"
    shutil.rmtree(data)
    standing = frozenset(path.name for path in template.rglob("*"))
    return Scene(name, step, template, before, standing, unharmed)


def _count(tally: Tally, scene: Scene, injection: Injection, outcome: Outcome, data: Path) -> None:
    if not outcome.has_struck:
        tally.missed += 1
        return
    found = asyncio.run(scene.step.found(data))
    after = scene.step.after if outcome.said_after == "acked" else ()
    verdict = scene.step.judged(found, scene.before, is_acked=outcome.is_acked, after=after)
    tally.injected += 1
    tally.lost += len(verdict.lost)
    tally.twice += len(verdict.twice)
    tally.torn += len(verdict.torn)
    tally.behind += verdict.behind
    tally.acked += outcome.is_acked
    tally.kept += outcome.said.startswith("refused") and any(found.tokens[token] for token in scene.step.new)
    is_crash = outcome.said.startswith(("raised", "hung")) or outcome.said_after.startswith(("raised", "hung"))
    is_crash = is_crash or not (outcome.said or outcome.was_killed)
    has_passed = outcome.log.count("(INJECTED)") == 1  # a new thread counts from one and meets the fault again
    is_stopped = has_passed and not injection.is_lasting and outcome.said_after.startswith("refused")
    tally.crashed += is_crash
    tally.stopped += is_stopped
    if is_crash or is_stopped or not verdict.is_good:
        tally.examples.append(f"{scene.name}, {injection}: {outcome.said[:90]} {outcome.said_after[:90]} {verdict}")
