"""Tests of what the tools show, against the table of who may read what, over random histories."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.support.clock import FrozenClock
from tests.support.histories import History
from tests.support.opened import Witness, opened
from tests.support.questions import answered
from tests.support.sowing import Extent, Sower
from tests.support.tool_questions import TOOLS

CHAPTERS, DEEDS, QUESTIONS = 3, 8, 100


@pytest.mark.parametrize("seed", range(2))
async def test_tools_show_what_the_scene_may_read(
    group: int, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tools show a model everything that its scene may read, and nothing else."""
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    shown, clock = Counter[str](), FrozenClock()
    async with opened("exact", tmp_path / "data", clock, Witness()) as memory:
        monkeypatch.setattr(lifetime, "memory", memory)
        history = History(memory, Sower(random.Random(seed)), tmp_path, clock)
        await history.begin(Extent().over(2))
        for _ in range(CHAPTERS):
            await history.go_on(DEEDS)
            for _ in range(QUESTIONS):
                asked, verdict = await answered(history, ways=TOOLS)
                assert not verdict.leaked, (verdict, asked.scene)
                assert not verdict.missing, (verdict, asked.scene)
                shown[verdict.path] += verdict.shown
    assert [tool for tool in TOOLS if not shown[tool]] == []
