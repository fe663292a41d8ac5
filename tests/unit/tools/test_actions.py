"""Tests of what an agent is told when the memory cannot be read."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.disk import MAX_BYTES, Disk
from cognitive_memory_core.domain.profile import Profile
from cognitive_memory_core.errors import PermanentError
from cognitive_memory_core.tools.tool_arguments import ITEMS, TEXT_LENGTH
from tests.support.clock import NOON, FrozenClock

SETTINGS = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
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
    asked = ASKED.get(name, {"query": "部署密钥"})
    async with core.CognitiveMemory.open(SETTINGS, tmp_path / "data", clock=FrozenClock()) as memory:
        caller = core.tools.ToolCaller(memory, SCENE, SETTINGS)
        if name not in ("memory_add", "memory_update", "memory_delete"):
            assert (await core.tools.agent_answer(caller, name, asked))["ok"]
        await memory._opened.ledger.close()
        answer = await core.tools.agent_answer(caller, name, asked)
        assert answer.get("degraded") if name == "context" else (answer["ok"], bool(answer["error"])) == (False, True)


class RefusingDisk(Disk):
    """A disk that refuses to read the files of one person."""

    def read(self, path: Path | str, limit: int = MAX_BYTES) -> bytes:
        """Read a file, unless it is that person's."""
        if "2000002" in str(path):
            raise PermanentError("refused") from PermissionError(errno.EACCES, "refused")
        return super().read(path, limit)


async def test_an_unreadable_profile_hides_no_other(tmp_path: Path) -> None:
    """A search of profiles returns those that can be read, also while the disk refuses the file of another one."""
    async with core.CognitiveMemory.open(SETTINGS, tmp_path / "data", clock=FrozenClock(), background=False) as memory:
        for user_id in ("2000002", "2000003"):
            key = core.ProfileKey.member(SCENE.group_id, user_id)
            await memory._opened.profiles.write(Profile(key, f"成员{user_id}", (), "- 爱喝乌龙茶", NOON))
    async with core.CognitiveMemory.open(SETTINGS, tmp_path / "data", clock=FrozenClock()) as memory:
        assert await memory.drain(30)
        caller = core.tools.ToolCaller(memory, SCENE, SETTINGS)

        async def found() -> str:
            action = core.tools.ACTIONS["search_profiles"]
            return str(await core.tools.answer(caller, "search_profiles", {"query": "乌龙茶"}, action))

        assert "成员2000002" in await found()
        memory._opened.profiles._disk = RefusingDisk()
        assert "成员2000003" in await found()


@pytest.mark.parametrize(
    ("name", "written", "told"),
    [
        ("memory_list", {"group": "10002"}, "group"),
        ("search_events", '{"query": "茶", "target_grup_id": "10002"}', "target_grup_id"),
        ("memory_add", {"fact": "长" * (TEXT_LENGTH + 1)}, str(TEXT_LENGTH)),
        ("remember", {"observations": ["短", "长" * (TEXT_LENGTH + 1)]}, str(TEXT_LENGTH)),
        ("remember", {"observations": ["短"] * (ITEMS + 1)}, str(ITEMS)),
    ],
)
async def test_what_would_be_ignored_or_cut_is_refused(tmp_path: Path, name: str, written: object, told: str) -> None:
    """An unknown argument, or one over its bound, is named and nothing is done; at the bound it is taken."""
    async with core.CognitiveMemory.open(SETTINGS, tmp_path / "data", clock=FrozenClock()) as memory:
        caller = core.tools.ToolCaller(memory, SCENE, SETTINGS)
        answer = await core.tools.agent_answer(caller, name, written)
        assert (answer["ok"], told in str(answer["error"])) == (False, True)
        assert await memory.pins(SCENE) == []
        assert (await core.tools.agent_answer(caller, "memory_add", {"fact": "长" * TEXT_LENGTH}))["ok"]


def test_an_agent_is_told_the_bounds() -> None:
    """Schemas that MCP lists allow no other argument and name the greatest length and number of each."""
    schemas = {one["name"]: one["inputSchema"] for one in core.tools.agent_schemas()}
    assert all(schema["additionalProperties"] is False for schema in schemas.values())
    search, handed = schemas["search_events"]["properties"], schemas["remember"]["properties"]["observations"]
    assert search["query"]["maxLength"] == handed["items"]["maxLength"] == TEXT_LENGTH
    assert handed["maxItems"] == ITEMS
    assert (search["top_k"]["minimum"], search["top_k"]["maximum"]) == (1, 50)
