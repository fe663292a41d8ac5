"""The shape of the code: lines, functions and classes by folder, and what one call of the memory runs through.

A line of code is one that is no docstring, comment or import and is not blank. A function's length counts its lines
without the docstring. What a call runs through is traced in all threads of a small memory from the call to its return:
files, distinct functions and calls of the core's own Python. ``--write`` puts both tables into docs/architecture.md.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import inspect
import io
import logging
import statistics
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import cognitive_memory_core as core
from tests.support.clock import FrozenClock
from tests.support.puppet import Puppet

from .cost import GROUP, PEOPLE, scene
from .measure import Report, percentile

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
CORE = "cognitive_memory_core"
PACKAGES = {"core": CORE, "plugin": "nonebot_plugin_cognitive_memory", "benchmarks": "benchmarks", "tests": "tests"}
COLUMNS = ("folder", "files", "lines of code", "functions", "median", "ninth decile", "three lines or fewer")
COLUMNS += ("classes", "protocols", "dataclasses")
TRACED = ("call", "files", "functions", "calls of own Python")
SHORT = 3
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
SUSPENDING = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
TURNS, SAID = 12, 60
PATIENCE, QUIET = 300.0, 1.0  # seconds; what a call leaves to the background has ended after the second


@dataclass
class Shape:
    """What was counted in some files."""

    files: int = 0
    lines: int = 0
    lengths: list[int] = field(default_factory=list[int])
    classes: int = 0
    protocols: int = 0
    dataclasses: int = 0

    def add(self, text: str) -> None:
        """Count one file."""
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
        beside = {line for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for line in _lines(node)}
        beside |= {line for node in nodes if (docstring := _docstring(node)) for line in _lines(docstring)}
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        covered = {line for one in tokens if one.type not in NO_CODE for line in range(one.start[0], one.end[0] + 1)}
        self.files += 1
        self.lines += len(covered - beside)
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.lengths.append(len(_lines(node)) - len(_lines(_docstring(node))))
            elif isinstance(node, ast.ClassDef):
                self.classes += 1
                self.protocols += any("Protocol" in ast.unparse(base) for base in node.bases)
                self.dataclasses += any("dataclass" in ast.unparse(one) for one in node.decorator_list)

    def row(self) -> tuple[int | str, ...]:
        """Return the counts in the order of the columns."""
        lengths = self.lengths or [0]
        short = 100 * sum(length <= SHORT for length in self.lengths) / len(lengths)
        middle, long = int(statistics.median(lengths)), int(percentile(lengths, 0.9))
        counted = (self.classes, self.protocols, self.dataclasses)
        return (self.files, self.lines, len(self.lengths), middle, long, f"{short:.0f} %", *counted)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option that writes the page."""
    parser.add_argument("--write", action="store_true", help="write both tables into docs/architecture.md")


def run(options: argparse.Namespace) -> Report:
    """Count the files, trace the calls, and print both tables."""
    report, traced = Report("shape of the code, by folder", COLUMNS), Report("what a call runs through", TRACED)
    for name, shape in shapes():
        report.add(name, *shape.row())
    for name, tally in asyncio.run(traces()):
        traced.add(name, *tally)
    if options.write:
        page, opening, closing = PAGE.read_text("utf-8"), "<!-- shape -->\n", "<!-- /shape -->"
        before, _, rest = page.partition(opening)
        after = rest.partition(closing)[2]
        tables = "\n".join(one.markdown() for one in (report, traced))
        PAGE.write_text(f"{before}{opening}\n{tables}\n{closing}{after}", "utf-8")
    report.notes += ["", *traced.table()]
    return report


def shapes() -> Iterator[tuple[str, Shape]]:
    """Count the folders of the core, the longest first, its other files, and each package as a whole."""
    folders = {f"core: {path.parent.name}": _shape(path.parent) for path in (ROOT / CORE).glob("*/__init__.py")}
    yield from sorted(folders.items(), key=lambda row: -row[1].lines)
    yield "core: its other files", _shape(ROOT / CORE, "*.py")
    for name, folder in PACKAGES.items():
        yield name, _shape(ROOT / folder)


async def traces() -> list[tuple[str, tuple[int, int, int]]]:
    """Return files, distinct functions and calls of the core's own Python, for each of the traced calls."""
    tracer, clock, found = Tracer(), FrozenClock(), list[tuple[str, tuple[int, int, int]]]()
    settings = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
    logging.getLogger(CORE).setLevel(logging.ERROR)  # what the scripted model writes is refused in part
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, tracer.watching():
        async with core.CognitiveMemory.open(settings, Path(folder) / "data", chat=Puppet(), clock=clock) as memory:
            for number in range(SAID):
                await memory.observe(_said(number, clock))
            for number in range(TURNS):
                await memory.remember(_turn(number, clock))
            await memory.drain(PATIENCE)
            for number in range(2):  # what only the first contexts load or read is cached
                await memory.context(scene(number % PEOPLE), f"上次说的乌龙茶第 {number} 种是什么")
            clock.advance(hours=1)
            await memory.pause()

            with tracer.counting("observe", found):
                await memory.observe(_said(SAID, clock))
            await asyncio.sleep(QUIET)
            with tracer.counting("remember", found):
                await memory.remember(_turn(TURNS, clock))
            lines = [_said(SAID + number, clock) for number in range(1, 9)]
            with tracer.counting("consider", found):
                await memory.consider(scene(1), lines)
            await memory.resume()
            await memory.drain(PATIENCE)
            with tracer.counting("a job to its profile", found):
                await memory.remember(_turn(TURNS + 1, clock))
                await memory.drain(PATIENCE)
            await memory.pause()
            await asyncio.sleep(QUIET)
            with tracer.counting("a warm context", found):
                await memory.context(scene(3), "阿丁说过喜欢哪种乌龙茶")
    return found


class Tracer:
    """Counts the calls of the core's functions in every thread that starts while it watches.

    A coroutine or generator counts once, where it starts; comprehensions belong to the function around them.
    """

    def __init__(self) -> None:
        """Start without counts."""
        self._entered: Counter[tuple[CodeType, int]] = Counter()
        self._starts: dict[CodeType, int] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread and those that it starts."""
        threading.setprofile(self._saw)
        sys.setprofile(self._saw)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]  # allowed since Python 3.10

    @contextmanager
    def counting(self, name: str, found: list[tuple[str, tuple[int, int, int]]]) -> Iterator[None]:
        """Count what runs in the block."""
        self._entered.clear()
        yield
        entered = self._entered.copy()
        calls = Counter[CodeType]()
        for (code, at), times in entered.items():
            if not code.co_flags & SUSPENDING or at == self._starts[code]:
                calls[code] += times
        functions = {code for code, _ in entered}
        found.append((name, (len({one.co_filename for one in functions}), len(functions), calls.total())))

    def _saw(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or f"/{CORE}/" not in code.co_filename or code.co_name.startswith("<"):
            return
        self._entered[code, frame.f_lasti] += 1
        self._starts[code] = min(frame.f_lasti, self._starts.get(code, frame.f_lasti))


def _shape(folder: Path, files: str = "**/*.py") -> Shape:
    shape = Shape()
    for path in sorted(folder.glob(files)):
        shape.add(path.read_text("utf-8"))
    return shape


def _docstring(node: ast.AST) -> ast.Expr | None:
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or not node.body:
        return None
    match node.body[0]:
        case ast.Expr(ast.Constant(str())) as first:
            return first
        case _:
            return None


def _lines(node: ast.stmt | None) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1) if node else range(0)


def _said(number: int, clock: FrozenClock) -> core.Message:
    text = f"第 {number} 句，说到茶和第 {number % 7} 本书"
    return core.Message(f"m{number}", scene(number % PEOPLE), text, clock.now())


def _turn(number: int, clock: FrozenClock) -> core.Turn:
    place = scene(number % PEOPLE)
    person = f"{place.user_name}({place.user_id})"
    observations = [f"{person} 喜欢第 {number} 种乌龙茶", f"读书会({GROUP}) 定了第 {number} 条规矩：轮流记账"]
    lines: Sequence[core.Message] = [_said(number * 6 + at, clock) for at in range(6)]
    return core.Turn(
        place,
        observations=observations,
        source_message=observations[0],
        recent_messages=lines,
        message_ids=[f"said{number}"],
    )
