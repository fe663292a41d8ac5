"""Tests that prompts equal their snapshots. ``UPDATE_SNAPSHOTS=1`` rewrites them; review the difference."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cognitive_memory_core.prompts.library import Task
from cognitive_memory_core.text.tokens import token_count
from tests.prompts.asked import LIBRARY, job_context, questions, rendered, said

SNAPSHOTS = Path(__file__).parent / "snapshots"
ASKED = questions()


@pytest.mark.parametrize("name", sorted(ASKED))
def test_prompts_are_as_they_were_read(name: str) -> None:
    """Every prompt equals the reviewed snapshot word for word."""
    file, shown = SNAPSHOTS / f"{name}.txt", rendered(ASKED[name])
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.write_text(shown, "utf-8")
    assert shown == file.read_text("utf-8")


def test_no_snapshot_is_left_over() -> None:
    """Each snapshot file belongs to a question that still exists."""
    assert {file.stem for file in SNAPSHOTS.iterdir()} == set(ASKED)


def test_what_never_changes_comes_first() -> None:
    """Instructions and schema are the same for all questions of a kind, so that the provider can cache them."""
    other = LIBRARY.rewrite([Task(7, "别的事")], job_context(neighbours=()))
    assert (other.instructions, other.schema) == (ASKED["rewrite"].instructions, ASKED["rewrite"].schema)


def test_a_usual_turn_is_cheap() -> None:
    """Two observations with twelve recent lines cost at most 2,150 tokens by the (high) estimate."""
    texts = ("升之前打个tag 求求了", "打了 v0.1.8", "摆渡人走路8帧 看看", "发之前把描边改了 我真的受不了纯黑描边")
    people = ("1903370001", "3075520002", "28470003", "1157200004", "905510005")
    lines = [said(at, people[at % 5], texts[at % 4], reply_to="m1" if at % 4 == 0 else None) for at in range(1, 13)]
    tasks = [Task(1, "阿棠不喜欢纯黑描边，饺子答应改成深蓝紫"), Task(2, "这周末老齐会把引擎升到4.4，已经打了tag")]
    ask = LIBRARY.rewrite(tasks, job_context(), source="深蓝紫行不", lines=lines)
    schema = str(dict(ask.schema)).replace(" ", "")
    assert sum(map(token_count, (ask.instructions, schema, ask.prompt))) <= 2_150
