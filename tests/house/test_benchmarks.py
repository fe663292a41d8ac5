"""Tests that docs/benchmarks.md and the benchmarks match."""

from __future__ import annotations

import re

from benchmarks.__main__ import BENCHMARKS
from benchmarks.page import TABLE

from .sources import ROOT

PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")


def test_every_table_is_of_a_benchmark() -> None:
    """Each table of docs/benchmarks.md can be made again with the command that the page gives."""
    names = {found["name"] for found in TABLE.finditer(PAGE)}
    assert names <= set(BENCHMARKS)
    assert not [name for name in names if not re.search(rf"`(?:python -m benchmarks )?{name}\b", PAGE)]


def test_every_command_is_a_benchmark() -> None:
    """Each benchmark command on the page exists."""
    told = set(re.findall(r"python -m benchmarks ([a-z]+)", PAGE))
    assert told
    assert told <= set(BENCHMARKS)
