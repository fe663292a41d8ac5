"""How many lines of labelled profiles the check of merged profiles keeps: of true rewordings, and of invented ones.

The set is the test suite's: people with their facts, lines that a careful model wrote of them, and lines that no
fact says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from cognitive_memory_core.historian.profiles.unsupported_sentences import SupportCheck

from .measure import Report

SET = Path(__file__).resolve().parent.parent / "tests" / "unit" / "historian" / "profile_lines.tsv"
NOW = datetime(2026, 5, 20, 12)  # noqa: DTZ001 - a wall clock
LOST, KEPT = 5.0, 5.0  # most of the true lines that may be changed, and of the invented ones that may stay, in %


@dataclass(frozen=True)
class Portrayed:
    """A person or group with facts and earlier lines, and the labelled lines: True for those that stand in them."""

    names: tuple[str, ...]
    sources: list[str] = field(default_factory=list[str])
    lines: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])

    @property
    def support(self) -> SupportCheck:
        """The check of this person's lines."""
        return SupportCheck(self.sources, self.names, NOW)

    def of(self, *, is_true: bool) -> list[str]:
        """Return the lines with one label."""
        return [line for line, label in self.lines if label is is_true]


def labelled_profiles() -> Iterator[Portrayed]:
    """Read the set."""
    person: Portrayed | None = None
    for row in SET.read_text("utf-8").splitlines():
        mark, *cells = row.split("\t")
        if mark == "@":
            if person:
                yield person
            person = Portrayed(tuple(cells))
        elif person and mark in ("F", "="):
            person.sources.append(cells[0])
        elif person and mark in ("+", "-"):
            person.lines.append((cells[0], mark == "+"))
    if person:
        yield person


def add_rows(report: Report) -> None:
    """Add the rows to a report: lines alone, and an invented line behind a true one."""
    people = list(labelled_profiles())
    true = [(one.support, line) for one in people for line in one.of(is_true=True)]
    invented = [(one.support, line) for one in people for line in one.of(is_true=False)]
    changed = [line for support, line in true if support.supported(line) != line]
    kept = [line for support, line in invented if support.supported(line)]
    behind = [
        other in one.support.supported(f"{line}，{other}")
        for one in people
        for line in one.of(is_true=True)
        for other in one.of(is_true=False)
    ]
    _row(report, "true profile lines changed %", changed, true, LOST)
    _row(report, "invented profile lines kept %", kept, invented, KEPT)
    report.add("invented clauses behind true ones kept %", len(behind), 100 * sum(behind) / len(behind), 10)


def _row(report: Report, what: str, lines: Sequence[str], of: Sequence[object], most: float) -> None:
    report.add(what, len(of), 100 * len(lines) / len(of), most)
    report.failed |= 100 * len(lines) > most * len(of)
    report.notes.append(f"{what}: {' / '.join(lines)}")
