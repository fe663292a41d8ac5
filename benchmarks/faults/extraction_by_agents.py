"""A23b: an agent at the MCP route asks for everybody's portrait, beside the tools of the same person's bot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import cognitive_memory_core as core

from ..fault_row import Extent, Row
from . import theatre
from .extraction import ATTACKER, ELSEWHERE, GROUP, Loot, called, planted, sorted_out

MEMBERS, REQUESTS, HOURS = 200, 400, 3
TOKEN = "an-agent-of-one-member"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
LIES = ({}, {"X-Memory-User": "2400002"}, {"X-Memory-Agent": "default"}, {"Mcp-Session-Id": "another"})


async def a23b(extent: Extent) -> Row:
    """Let an agent read portraits by tools and resources, and its person's bot as well; one count must bound both."""
    import httpx  # noqa: PLC0415  # the row loads NoneBot

    members, requests = extent.of(MEMBERS, 40), extent.of(REQUESTS, 60)
    async with theatre.opened() as memory:
        ids = [str(2_410_001 + number) for number in range(members)]
        await planted(memory, ids)
        now, loot = [0.0], Loot()
        gate = _gate(memory, now)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(gate), base_url="http://127.0.0.1") as client:
            for hour in range(HOURS):
                now[0] = hour * core.tools.WINDOW
                loot.portraits.append(set())
                await _read(client, loot, ids, requests)
    per_hour, allowed = max(map(len, loot.portraits)), core.tools.MOST_PEOPLE
    note = (
        f"lost: rows of other places and private chats; twice: portraits an hour over {allowed}; {members} members, "
        f"{requests} requests an hour for {HOURS} h over MCP (tools and resources, with foreign headers) and by the "
        f"bot's tools in turn: portraits of others an hour {per_hour} of {members}"
    )
    return Row(
        loot.asked,
        len(loot.foreign),
        max(per_hour - allowed, 0),
        note=note,
        failed=not per_hour,
    )


def _gate(memory: core.CognitiveMemory, now: Sequence[float]) -> Any:
    """Return the route of agents, with the clock of the bound on both surfaces."""
    from nonebot_plugin_cognitive_memory import toolbox  # noqa: PLC0415  # after NoneBot's start
    from nonebot_plugin_cognitive_memory.config import setup  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http import agents as agent_gate  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http.routes import Backing  # noqa: PLC0415

    agent = {"token": TOKEN, "user": ATTACKER, "group": GROUP}
    settings = core.Settings.from_mapping({"http": {"token": "the-token-of-the-operator", "agents": [agent]}})
    limit = core.tools.ProfileLimit(lambda: now[0])
    toolbox.profile_limit = lambda: limit  # type: ignore[assignment]  # the clock of the row
    return agent_gate.agents_app(settings.http, Backing(lambda: memory, lambda: setup.settings))


async def _read(client: Any, loot: Loot, ids: Sequence[str], wanted: int) -> None:
    for number, (method, params) in enumerate(_requests(ids, wanted)):
        loot.asked += 1
        if number % 5 == 4 and method == "tools/call":  # by the bot of the same person
            sorted_out(loot, await called(params["name"], params["arguments"]))
            continue
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        answer = await client.post("/", json=body, headers={**HEADERS, **LIES[number % len(LIES)]})
        for told in _told(answer.json().get("result", {})):
            sorted_out(loot, told)


def _told(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what a result tells, as the tools' answers have it."""
    for content in result.get("content", ()):
        yield json.loads(content["text"])
    for one in result.get("contents", ()):
        entity_type, _, entity_id = one["uri"].removeprefix("memory://profiles/").partition("/")
        yield {"profile": {"entity_type": entity_type, "entity_id": entity_id, "summary": one["text"]}}


def _requests(ids: Sequence[str], wanted: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield what a script asks: by id, by name, by resource, beyond the group, and by topic."""
    for number in range(wanted):
        one = ids[number % len(ids)]
        member, elsewhere = f"member/{GROUP}/{one}", f"member/{ELSEWHERE}/{one}"
        calls: Sequence[tuple[str, Mapping[str, Any]]] = (
            ("get_profile", {"entity_type": "user", "entity_id": one}),
            ("search_profiles", {"query": f"群友{number % len(ids)} 喜欢什么", "top_k": 50}),
            ("search_events", {"query": "暗语", "target_user_id": one, "top_k": 1_000}),
            ("context", {"query": f"群友{number % len(ids)}({one}) 喜欢什么"}),
        )
        uris = (member, f"user/{one}", elsewhere, quote(member, safe=""))
        turn = number % 8
        if turn < len(calls):
            name, arguments = calls[turn]
            yield "tools/call", {"name": name, "arguments": dict(arguments)}
        else:
            yield "resources/read", {"uri": f"memory://profiles/{uris[turn - len(calls)]}"}
