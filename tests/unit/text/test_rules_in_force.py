"""Tests of which days of a rule recur, and which of its clauses tell what no longer holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core.text.statements.lexicon import offences
from cognitive_memory_core.text.statements.rules_in_force import present, recurs

LINES = Path(__file__).with_name("standing_rules.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if line and not line.startswith("#")]


@pytest.mark.parametrize("row", [row[1:] for row in ROWS if row[0] == "recurs"], ids=lambda row: row[0])
def test_a_day_of_a_rule_recurs(row: list[str]) -> None:
    """A weekday of a regular meeting or a ban recurs; one that a line means once, or a relative one, does not."""
    statement, line, is_recurring = row
    found = [one for one in offences(statement) if one.kind == "time"]
    assert all(recurs(one, statement, [line]) for one in found) == (is_recurring == "yes")
    assert found or is_recurring == "yes"


@pytest.mark.parametrize("row", [row[1:] for row in ROWS if row[0] == "present"], ids=lambda row: row[0])
def test_what_no_longer_holds_is_left_out(row: list[str]) -> None:
    """A clause about the version before, or about what a change ended, is no contradiction; a denied line still is."""
    statement, before, line, left = row
    assert present(statement, [line], before) == left
