"""Tests of what an agent is told when the memory cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import cognitive_memory_core as core
from tests.support.clock import FrozenClock

SCENE = core.Scene.group("10001", "2000001", user_name="阿棠")
ASKED: Mapping[str, Mapping[str, object]] = {
    "search_events": {"query": "部署密钥"},
    "get_profile": {"entity_type": "user", "entity_id": "2000001"},
    "search_profiles": {"query": "阿棠"},
    "memory_list": {},
    "memory_add": {"fact": "置顶"},
    "memory_update": {"id": "1", "fact": "置顶"},
    "memory_delete": {"id": "1"},
    "beliefs": {},
}


@pytest.mark.parametrize("name", [*ASKED, "context"])
async def test_a_ledger_that_refuses_reads_is_no_empty_answer(tmp_path: Path, name: str) -> None:
    """While the ledger refuses reads, every tool answers with an error, and ``context`` names what was away."""
    settings = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
    async with core.CognitiveMemory.open(settings, tmp_path / "data", clock=FrozenClock()) as memory:
        caller = core.tools.ToolCaller(memory, SCENE, settings)
        if name not in ("memory_add", "memory_update", "memory_delete"):
            assert (await core.tools.agent_answer(caller, name, {"query": "部署密钥", **ASKED.get(name, {})}))["ok"]
        await memory._opened.adapters.ledger.close()
        answer = await core.tools.agent_answer(caller, name, {"query": "部署密钥", **ASKED.get(name, {})})
        assert answer.get("degraded") if name == "context" else (answer["ok"], bool(answer["error"])) == (False, True)
