"""The value of each part of the score: every labelled set is measured with one part switched off at a time.

``--data`` is the folder of the sets. To extend: add a :class:`Change` to ``CHANGES`` or a line to ``SETS``.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from cognitive_memory_core.ports.models import Embedder

from . import groupchat, locomo, madial, qmsum
from .labelled import NoEmbedder, Tuning
from .measure import Report

Figures = Callable[[Path, Tuning, int], Awaitable[Mapping[str, float]]]


@dataclass(frozen=True)
class Change:
    """One part switched off: by settings of ``query``, by constants of modules, or by another embedder.

    A constant is named "module:NAME". ``sets`` names the sets that the part affects; () means all.
    """

    name: str
    query: Mapping[str, object] = field(default_factory=dict[str, object])
    constants: Mapping[str, object] = field(default_factory=dict[str, object])
    embedder: Embedder | None = None
    sets: tuple[str, ...] = ()

    @property
    def tuning(self) -> Tuning:
        """Return the settings and embedder with which the memory is opened."""
        return Tuning({"query": self.query}, self.embedder)


CORE = "cognitive_memory_core"
LINES = f"{CORE}.store.search.lines"  # its constants weigh the parts of a chat line's score
OF_EVENTS = CHINESE = ("groupchat", "madial")
OF_TALK = ("groupchat", "qmsum", "locomo")

AS_IT_IS = Change("as it is")
CHANGES = (
    Change("no words beside vectors", query={"lexical_weight": 0.0}, sets=OF_EVENTS),
    Change("words before vectors", query={"lexical_weight": 1.0}, sets=OF_EVENTS),
    Change("no vectors", embedder=NoEmbedder(), sets=("groupchat",)),
    Change("no decay", query={"time_decay_enabled": False}, sets=("groupchat",)),
    Change("no diversity", query={"diversity": 0.0}, sets=OF_TALK),
    Change(
        "no time prior",
        constants={f"{CORE}.recall.ranking:OUTSIDE": 1.0, f"{LINES}:OUTSIDE": 1.0},
        sets=("groupchat", "locomo"),
    ),
    Change(
        "common characters as telling as rare ones",
        constants={
            f"{CORE}.recall.ranking:telling_of": lambda _term: 1.0,
            f"{LINES}:telling_of": lambda _term: 1.0,
        },
        sets=CHINESE,
    ),
    Change("no lines round a line", constants={f"{LINES}:NEIGHBOUR": 0.0, f"{LINES}:REPLY": 0.0}, sets=OF_TALK),
    Change("no replies", constants={f"{LINES}:REPLY": 0.0}, sets=("groupchat",)),
    Change("no sessions", constants={f"{LINES}:TOPIC": 0.0}, sets=OF_TALK),
    Change("short lines like long ones", constants={f"{LINES}:SUBSTANCE": 0.0}, sets=OF_TALK),
    Change(
        "nobody lifted whom the question names",
        constants={f"{CORE}.recall.ranking:MOST_NAMED": 0.0, f"{LINES}:PERSON": 0.0},
        sets=OF_TALK,
    ),
    Change(
        "no characters asked for beside pairs",
        constants={f"{CORE}.text.terms:LEAST_TELLING": 2.0},
        sets=CHINESE,
    ),
    Change("no stems", constants={f"{CORE}.text.terms:stem": str}, sets=("qmsum", "locomo")),
    Change("words of asking count", constants={f"{CORE}.text.terms:ASKING_WORDS": frozenset[str]()}, sets=OF_TALK),
    Change("single characters like pairs", constants={f"{LINES}:SINGLE": 1.0}, sets=("groupchat",)),
)
SETS: Mapping[str, tuple[str, Figures]] = {
    "groupchat": ("groupchat-zh/groupchat_zh_dev.json", lambda path, tuning, _: groupchat.figures(path, tuning)),
    "madial": ("madial-zh/madial_zh_dev.json", lambda path, tuning, _: madial.figures(path, tuning)),
    "qmsum": ("qmsum/val.jsonl", lambda path, tuning, every: qmsum.figures(path, tuning, every=every)),
    "locomo": ("locomo/locomo_dev.json", lambda path, tuning, every: locomo.figures(path, tuning, every=every)),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: folder of the sets, sets to use, parts to switch off."""
    parser.add_argument("--data", type=Path, required=True, help="the folder of the sets")
    parser.add_argument("--sets", nargs="+", choices=[*SETS], default=[*SETS])
    parser.add_argument("--without", nargs="+", choices=[change.name for change in CHANGES], help="only these changes")
    parser.add_argument(
        "--every", type=int, default=12, help="ask every so manieth question of locomo, meeting of qmsum"
    )


def run(options: argparse.Namespace) -> Report:
    """Measure the sets with the unchanged memory, then with each change."""
    report = Report(
        f"ablation: {', '.join(options.sets)}; every {options.every}. question of locomo, meeting of qmsum",
        ("figure", "change", "value", "difference"),
    )
    changes = [change for change in CHANGES if not options.without or change.name in options.without]
    for name in options.sets:
        place, figures = SETS[name]
        measured = {
            change.name: _measured(figures, options.data / place, change, options.every)
            for change in (AS_IT_IS, *changes)
            if name in (change.sets or SETS)
        }
        for figure, usual in measured[AS_IT_IS.name].items():
            for change in (AS_IT_IS, *changes):
                value = measured.get(change.name, measured[AS_IT_IS.name])[figure]
                report.add(figure, change.name, value, value - usual)
    report.notes.append("a part that has no say in a set is not measured there: it differs by 0")
    return report


def _measured(figures: Figures, path: Path, change: Change, every: int) -> Mapping[str, float]:
    async def measure() -> Mapping[str, float]:
        return await figures(path, change.tuning, every)

    with changed(change.constants):
        return asyncio.run(measure())


@contextmanager
def changed(constants: Mapping[str, object]) -> Generator[None, None, None]:
    """Replace constants while a block runs; raises AttributeError or KeyError for an unknown constant."""
    kept = {name: getattr(*_place(name)) for name in constants}
    try:
        _set(constants)
        yield
    finally:
        _set(kept)


def _place(name: str) -> tuple[ModuleType, str]:
    module, _, constant = name.partition(":")
    return importlib.import_module(module), constant


def _set(constants: Mapping[str, object]) -> None:
    for name, value in constants.items():
        setattr(*_place(name), value)
    _forget()


def _forget() -> None:
    """Clear all caches of the core, which were filled with other constants."""
    for name, module in sys.modules.copy().items():
        for value in vars(module).values() if name.startswith(CORE) else ():
            if hasattr(value, "cache_clear") and not isinstance(value, type):
                value.cache_clear()
