"""Counts lines of Python by folder; run as a module it writes them into the table of docs/architecture.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/architecture.md"
CORE = "cognitive_memory_core"
PACKAGES = {"core": CORE, "plugin": "nonebot_plugin_cognitive_memory", "benchmarks": "benchmarks", "tests": "tests"}
_OTHER = "core: its other files"
_ROW = re.compile(r"^\| (core(?:: [a-z_ ]+)?|plugin|benchmarks|tests) \| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE)


def counted() -> dict[str, int]:
    """Return the lines of each row of the table: folders of the core, its other files, and each whole package."""
    folders = sorted(path.parent for path in (ROOT / CORE).glob("*/__init__.py"))
    rows = {f"core: {folder.name}": _lines(folder.rglob("*.py")) for folder in folders}
    rows[_OTHER] = _lines((ROOT / CORE).glob("*.py"))
    return rows | {name: _lines((ROOT / folder).rglob("*.py")) for name, folder in PACKAGES.items()}


def stated(page: str) -> dict[str, int]:
    """Return the present lines that the table states, by row."""
    return {row[0]: int(row[2].replace(",", "")) for row in _ROW.findall(page)}


def rewritten(page: str) -> str:
    """Return the page with the present lines, rounded to hundreds, the longest folders first; earlier figures stay."""
    before, now = {row[0]: row[1] for row in _ROW.findall(page)}, counted()
    folders = [name for name in now if name.startswith("core: ") and name != _OTHER]
    order = [*sorted(folders, key=lambda name: -now[name]), _OTHER, *PACKAGES]
    rows = [f"| {name} | {before.get(name, '0')} | {round(now[name], -2):,} |" for name in order]
    found = list(_ROW.finditer(page))
    return page[: found[0].start()] + "\n".join(rows) + page[found[-1].end() :]


def _lines(paths: Iterable[Path]) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in paths)


if __name__ == "__main__":
    guide = ROOT / PAGE
    guide.write_text(rewritten(guide.read_text("utf-8")), "utf-8")
