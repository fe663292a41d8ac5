"""Tests of what a line of chat does to a proposal; stances.tsv has labelled lines, the last of them kept back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.text.statements.stance import proposes, stance_of, tells_of_self

LINES = Path(__file__).with_name("stances.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if line and not line.startswith("#")]
KNOWN, KEPT_BACK = [row for row in ROWS if row[2] != "kept back"], [row for row in ROWS if row[2] == "kept back"]


def told(line: str) -> str:
    """Return the stance of a line; a question is none."""
    found = stance_of(line)
    return "none" if found == "asks" else found


@pytest.mark.parametrize(("rows", "least"), [(KNOWN, 0.97), (KEPT_BACK, 0.8)], ids=["known", "kept back"])
def test_assent_and_objection_are_told_from_what_looks_like_them(rows: list[list[str]], least: float) -> None:
    """Assent in other words counts, calls for votes and other topics do not, and nothing passes for its contrary."""
    assert len(rows) >= 50
    assert sum(told(line) == label for line, label, _ in rows) >= least * len(rows)
    assert not [line for line, label, _ in rows if {told(line), label} == {"agrees", "objects"}]
    taken = [label for line, label, _ in rows if told(line) == "agrees"]
    assert taken.count("agrees") >= 0.97 * len(taken)


def test_proposals_and_tales_of_oneself() -> None:
    """What is put to the others is told from what a speaker plans alone."""
    assert all(map(proposes, ("能不能挪周六下午", "改周六吧", "周六怎么样")))
    assert not any(map(proposes, ("好吧", "周六几点", "周六开会")))
    assert all(map(tells_of_self, ("周四我要健身", "我昨晚推的main")))
    assert not any(map(tells_of_self, ("我们周四开会", "我觉得周四好", "我每周四都健身")))


@given(
    st.lists(st.sampled_from(["好", "嘞", "的", "我也", "不", "同意", "个", "谁", "1", "+1", " ", "，", "？", "周四"]))
)
def test_any_line_has_one_stance(parts: list[str]) -> None:
    """Any line is read without an error."""
    assert stance_of("".join(parts)) in ("agrees", "objects", "asks", "none")
