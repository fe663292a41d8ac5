"""An agent that speaks MCP by the official SDK uses the memory, beside a running bot and without one."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.agents import TOOLS, Agent, http_agent, stdio_agent
from tests.support.beliefs import a_belief, begun
from tests.support.onebot import ONLY, data_of, open_bot, prepare, start
from tests.support.raw_http import free_port
from tests.support.waiting import until

USER, OTHER, GROUP, ELSEWHERE = "2000001", "2000002", "10001", "10002"
HERE = core.Scene.group(GROUP, USER, user_name="阿棠")
SETTINGS = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
FRIDAY = "每周五晚上讨论新番"
OPERATOR, AGENT = "operator-token-of-this-test", "agent-token-of-this-test"
SECRETS = {  # scene and fact of what an agent at HERE may never see
    "canary-elsewhere": core.Scene.group(ELSEWHERE, OTHER),
    "canary-private": core.Scene.private(OTHER),
    "canary-own-elsewhere": core.Scene.group(ELSEWHERE, USER),
}
ENV = (
    "COGNITIVE_MEMORY__VECTOR_STORE__BACKEND=exact",
    f"COGNITIVE_MEMORY__HTTP__TOKEN={OPERATOR}",
    f"COGNITIVE_MEMORY__HTTP__AGENTS={json.dumps([{'token': AGENT, 'user': USER, 'group': GROUP}])}",
)
STDIO = ("--user", USER, "--group", GROUP)


async def fill(data_dir: Path) -> list[str]:
    """Let the group have a belief and profiles, and plant what an agent may never see; return its pins' ids."""
    foreign: list[str] = []
    async with core.CognitiveMemory.open(SETTINGS, data_dir, background=False) as memory:
        for number in range(3):
            line = core.Message(f"m{number}", HERE, f"我喜欢第{number}本侦探小说", datetime.now(timezone.utc))
            await memory.consider(HERE, [line])
        for canary, scene in SECRETS.items():
            await memory.remember(core.Turn(scene, observations=[f"口令({scene.user_id}) 是 {canary} 侦探小说"]))
            foreign.append((await memory.pin(scene, f"置顶 {canary}")).id)
        assert await memory.drain(60)
        belief = a_belief(FRIDAY, scene=HERE)
        await memory._opened.ledger.beliefs.commit([begun(belief)])
    return foreign


async def use_every_tool(agent: Agent) -> None:
    """Call each tool and read each resource, and compare what they answer with what was stored."""
    tools = await agent.tools()
    assert set(tools) == TOOLS
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in tools.values())
    assert (await agent.call("remember", observations=[f"阿棠({USER}) 喜欢喝乌龙茶"], memo="记下了"))["id"]

    async def found() -> bool:
        answer = await agent.call("search_events", query="乌龙茶")
        return any(event["quotes"][0]["text"].endswith("喜欢喝乌龙茶") for event in answer["events"])

    await until(found)
    own = (await agent.call("search_events", query="第1本侦探小说"))["events"]
    assert (USER, ["我喜欢第1本侦探小说"]) in [(one["said_by"], [it["text"] for it in one["quotes"]]) for one in own]
    assert "乌龙茶" in (await agent.call("context", query="我爱喝乌龙茶吗"))["context"]
    await use_pins(agent)
    profile = (await agent.call("get_profile", entity_type="user", entity_id=USER))["profile"]
    assert (profile["entity_type"], "侦探小说" in profile["summary"]) == ("member", True)
    assert own[0]["id"] in [event_id for ids in profile["sources"].values() for event_id in ids]
    assert USER in str((await agent.call("search_profiles", query="侦探小说"))["profiles"])
    assert [belief["text"] for belief in (await agent.call("beliefs"))["beliefs"]] == [FRIDAY]
    assert (await agent.call("beliefs", query="讨论新番"))["beliefs"][0]["score"] > 0
    assert f"memory://profiles/member/{GROUP}/{USER}" in await agent.resources()
    assert "侦探小说" in await agent.read(f"memory://profiles/member/{GROUP}/{USER}")


async def use_pins(agent: Agent) -> None:
    """Add, list, change and delete a pinned fact."""
    pin = (await agent.call("memory_add", fact="阿棠对花生过敏"))["id"]
    assert (await agent.call("memory_update", id=pin, fact="阿棠对花生和芒果过敏"))["id"] == pin
    assert (await agent.call("memory_list"))["memories"] == [{"id": pin, "fact": "阿棠对花生和芒果过敏"}]
    assert (await agent.call("memory_delete", id=pin))["id"] == pin
    assert (await agent.call("memory_list"))["memories"] == []


async def try_to_leave(agent: Agent, foreign: list[str]) -> str:
    """Ask by every tool for other places and people; return all answers as one text."""
    targets: list[Mapping[str, Any]] = [
        {},
        {"target_group_id": ELSEWHERE},
        {"target_user_id": OTHER},
        {"target_group_id": "*"},
        {"group_id": ELSEWHERE, "user_id": OTHER, "scene": {"kind": "operator"}, "agent": "other"},
    ]
    answers: list[object] = [
        await agent.call_with("search_events", {"query": "canary 侦探小说 口令", "top_k": 10**9, **target})
        for target in targets
    ]
    answers.append(await agent.call("memory_list"))
    for name in ("context", "search_profiles", "beliefs"):
        answers += [await agent.call_with(name, {"query": "canary 口令", **target}) for target in targets]
    for kind, ids in {
        "user": (OTHER,),
        "member": (f"{ELSEWHERE}/{OTHER}", f"{ELSEWHERE}/{USER}"),
        "group": (ELSEWHERE,),
    }.items():
        for one in ids:
            answers.append(await agent.call("get_profile", entity_type=kind, entity_id=one))
            with pytest.raises(Exception, match="侧写"):  # the SDK's versions differ in its class
                await agent.read(f"memory://profiles/{kind}/{one}")
    for pin in foreign:
        for more in ({}, {"user_id": OTHER}):
            assert not (await agent.call_with("memory_update", {"id": pin, "fact": "x", **more}))["ok"]
            assert not (await agent.call_with("memory_delete", {"id": pin, **more}))["ok"]
    return str(answers)


async def misuse(agent: Agent) -> None:
    """Call tools with what no schema allows; each is refused with a sentence."""
    deep: Any = "x"
    for _ in range(50):
        deep = [deep]
    for name in (*TOOLS, "end", "", "__class__", "x" * 5_000):
        for arguments in (
            {"query": deep},
            {"query": {"a": 1}, "id": 3.5},
            {"observations": {"a": deep}},
            {"fact": None},
        ):
            answer = await agent.call_with(name, arguments)
            assert answer["ok"] or answer["error"]
    long = await agent.call("search_events", query="侦探" * 20_000, top_k=-1, time_from="前天")
    assert not long["ok"]
    assert (await agent.call("search_events", query="侦探小说", top_k="many"))["ok"]


async def test_every_tool_without_a_bot(tmp_path: Path) -> None:
    """Over standard input and output, each tool answers from the directory when no bot owns it."""
    foreign = await fill(tmp_path / "memory")
    (tmp_path / ".env").write_text("\n".join(ENV), "utf-8")
    async with stdio_agent("--data", str(tmp_path / "memory"), *STDIO, home=tmp_path) as agent:
        await use_every_tool(agent)
        await misuse(agent)
        assert "canary-" not in await try_to_leave(agent, foreign)


def listens(port: int) -> bool:
    """Return whether something accepts connections at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def test_every_tool_beside_a_bot(tmp_path: Path) -> None:
    """Over the bot's port, and over standard input and output beside the bot that owns the directory, each tool works.

    What one of them stores, the other finds; a session that began before the bot goes on beside it.
    """
    prepare(tmp_path, {"only": ONLY}, ENV)
    foreign = await fill(data_of(tmp_path))
    port = str(free_port())
    url = f"http://127.0.0.1:{port}"
    async with stdio_agent(*STDIO, "--url", url, home=tmp_path) as agent:
        pin = (await agent.call("memory_add", fact="阿棠对花生过敏"))["id"]
        bot = start(tmp_path, {"PORT": port})
        try:
            await bot.opened()
            await until(lambda: listens(int(port)))
            assert (await agent.call("memory_list"))["memories"] == [{"id": pin, "fact": "阿棠对花生过敏"}]
            assert (await agent.call("memory_delete", id=pin))["id"] == pin
            async with http_agent(f"{url}/memory/mcp", AGENT) as other:
                await use_every_tool(other)
                assert "canary-" not in await try_to_leave(other, foreign)
            place = {"X-Memory-User": USER, "X-Memory-Group": GROUP}
            async with http_agent(f"{url}/memory/mcp", OPERATOR, place) as other:
                assert "乌龙茶" in str(await other.call("search_events", query="乌龙茶"))
            assert "乌龙茶" in str(await agent.call("search_events", query="乌龙茶"))
            await use_every_tool(agent)
        finally:
            bot.stop()


async def test_a_bot_without_http_is_told(tmp_path: Path) -> None:
    """Beside a bot without a token for HTTP, a call is refused with what to do, and the session lasts."""
    await fill(data_of(tmp_path))
    async with open_bot(tmp_path, {"only": ONLY}, ENV[:1]), stdio_agent(*STDIO, home=tmp_path) as agent:
        for _ in range(2):
            refused = await agent.call("memory_list")
            assert (refused["ok"], "HTTP__TOKEN" in refused["error"]) == (False, True)
        assert set(await agent.tools()) == TOOLS
