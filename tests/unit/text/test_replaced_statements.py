"""Tests of whether a statement replaces an older one; replaced_pairs.tsv has labelled pairs."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core.text.statements.replaced_statements import ValueReading, may_replace, tells_of_a_change

LINES = Path(__file__).with_name("replaced_pairs.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if line and not line.startswith("#")]


def found(older: str, newer: str) -> bool:
    """Compare two statements, all words of which are as rare."""
    return may_replace(ValueReading.of(older), ValueReading.of(newer), len)


def test_another_value_of_the_same_thing_is_found() -> None:
    """Nine in ten replaced values and ended states are found, and one in ten of the other pairs at most."""
    labelled = [(found(older, newer), label == "replaced") for older, newer, label, _ in ROWS]
    assert len(labelled) >= 40
    assert sum(was and is_so for was, is_so in labelled) >= 0.9 * sum(is_so for _, is_so in labelled)
    assert sum(was and not is_so for was, is_so in labelled) <= 0.1 * sum(not is_so for _, is_so in labelled)


def test_the_day_of_saying_is_no_value() -> None:
    """Two statements of one thing that were only made on other days replace nothing."""
    older, newer = "小林在2026年3月1日说报名费是200元", "小林在2026年4月1日又说报名费改为200元没变"
    assert tells_of_a_change(newer)
    assert not found(older, newer)
    assert found(older, "小林在2026年4月1日说报名费改为300元")
