"""Tests of who reaches the memory over MCP, and where their token lets them be."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from nonebug import App

import cognitive_memory_core as core

from .test_http_access import a_site, mounted
from .web import TOKEN, client, served

AGENT, OTHER = "the-token-of-an-agent", "the-token-of-another"
USER, GROUP = "2000001", "10001"
ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
SETTINGS = {
    "http": {
        "token": TOKEN,
        "agents": [{"token": AGENT, "user": USER, "group": GROUP}, {"token": OTHER, "user": int(USER)}],
    }
}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """Return a request that calls a tool."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def answer_of(response: Any) -> dict[str, Any]:
    """Return a tool's answer."""
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = json.loads(response.json()["result"]["content"][0]["text"])
    return answer


@pytest.fixture
async def port(app: App) -> AsyncGenerator[int, None]:
    """Serve the interface of the bot with two agents."""
    from nonebot_plugin_cognitive_memory.http import mount_agents

    site = a_site(**SETTINGS)
    assert mount_agents(site, core.Settings.from_mapping(SETTINGS))
    async with served(mounted(site)) as at:
        yield at


@pytest.mark.parametrize("token", [None, "wrong", f"{AGENT}x", AGENT.upper(), f"{AGENT} {OTHER}"])
async def test_a_stranger_is_refused(port: int, token: str | None) -> None:
    """Without a known token nothing is answered."""
    async with client(port, token) as asking:
        assert (await asking.post("/mcp", json=call("memory_list"), headers=ACCEPT)).status_code == 401


async def test_a_token_opens_one_place(port: int) -> None:
    """Pins of an agent's place are its own: headers and arguments change neither the place nor the person."""
    lying = {**ACCEPT, "X-Memory-User": "2000009", "X-Memory-Group": "10009", "X-Memory-Agent": "other"}
    async with client(port, AGENT) as one, client(port, OTHER) as other:
        answer_of(await one.post("/mcp", json=call("memory_add", fact="群里的置顶"), headers=lying))
        named = await one.post("/mcp", json=call("memory_list", user="x", group="y"), headers=ACCEPT)
        assert "user" in answer_of(named)["error"]
        for headers in (ACCEPT, lying):
            listed = answer_of(await one.post("/mcp", json=call("memory_list"), headers=headers))["memories"]
            assert [pin["fact"] for pin in listed] == ["群里的置顶"]
            assert answer_of(await other.post("/mcp", json=call("memory_list"), headers=headers))["memories"] == []


async def test_an_agent_is_no_operator(port: int) -> None:
    """An agent's token opens no other route of the interface."""
    async with client(port, AGENT) as asking:
        for path in ("/status", "/openapi.json", "/mcp/status", "/export"):
            assert (await asking.get(path)).status_code in (401, 404, 405), path


async def test_the_operator_names_the_place(port: int) -> None:
    """With the operator's token the headers name person and place; without a person the request is refused."""
    group = {**ACCEPT, "X-Memory-User": "2000007", "X-Memory-Group": "10007"}
    async with client(port) as asking:
        refused = await asking.post("/mcp", json=call("memory_list"), headers=ACCEPT)
        assert (refused.status_code, "X-Memory-User" in refused.text) == (400, True)
        answer_of(await asking.post("/mcp", json=call("memory_add", fact="七号的置顶"), headers=group))
        assert len(answer_of(await asking.post("/mcp", json=call("memory_list"), headers=group))["memories"]) == 1
        private = {**ACCEPT, "X-Memory-User": "2000007"}
        assert answer_of(await asking.post("/mcp", json=call("memory_list"), headers=private))["memories"] == []
        strange = {**ACCEPT, "X-Memory-User": "%00"}
        assert (await asking.post("/mcp", json=call("memory_list"), headers=strange)).status_code == 400


async def test_bounds_of_requests(port: int) -> None:
    """There is no stream to open and no session to end; a large body, another type and a foreign host are refused."""
    async with client(port, AGENT) as asking:
        assert (await asking.get("/mcp", headers=ACCEPT)).status_code == 405
        assert (await asking.delete("/mcp", headers=ACCEPT)).status_code == 405
        large = call("search_events", query="长" * 100_000)
        assert (await asking.post("/mcp", json=large, headers=ACCEPT)).status_code == 413
        text = await asking.post("/mcp", content=b"{}", headers={**ACCEPT, "Content-Type": "text/plain"})
        assert text.status_code == 415
        foreign = {**ACCEPT, "Host": "evil.example.com"}
        assert (await asking.post("/mcp", json=call("memory_list"), headers=foreign)).status_code == 400
        broken = await asking.post("/mcp", content=b"{", headers={**ACCEPT, "Content-Type": "application/json"})
        assert broken.status_code == 400


@pytest.mark.parametrize(
    "agents",
    [
        "canary-token",
        [{"token": "canary-token-of-sixteen"}],
        [{"token": "canary", "user": USER}],
        [{"token": "canary-token-of-sixteen", "user": USER}] * 2,
        [{"token": "canary-token-of-sixteen", "user": {"id": USER}}],
        {"token": "canary-token-of-sixteen", "user": USER},
    ],
)
def test_bad_agents_are_refused(agents: Any) -> None:
    """Agents without a person, with a short token or with a shared one are refused by a line that shows no token."""
    with pytest.raises(core.BadArgument, match="COGNITIVE_MEMORY__HTTP__AGENTS") as refused:
        core.Settings.from_mapping({"http": {"agents": agents}})
    assert "canary" not in str(refused.value)


def test_without_the_sdk(monkeypatch: pytest.MonkeyPatch, log: list[str], app: App) -> None:
    """Without the SDK nothing is mounted, and agents that are set are told what to install."""
    from nonebot_plugin_cognitive_memory.http import mount_agents

    monkeypatch.setattr(core.mcp_server, "is_installed", lambda: False)
    assert not mount_agents(a_site(), core.Settings.from_mapping({"http": {"token": TOKEN}}))
    assert not log
    assert not mount_agents(a_site(), core.Settings.from_mapping(SETTINGS))
    assert "[mcp]" in log[0]
