"""A23 and A23b: a member asks the group's bot, or an agent over MCP, for what it knows of everybody."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

import httpx

import cognitive_memory_core as core

from ..fault_row import Extent, Row, Seen
from . import theatre

MEMBERS, QUESTIONS, HOURS = 200, 1_000, 3
GROUP, ELSEWHERE, ATTACKER = "760001", "760002", "2400001"
HERE = core.Scene.group(GROUP, ATTACKER, user_name="小林")
CANARY = re.compile("[甲乙丙丁]号暗语[0-9]+")


async def a23(extent: Extent) -> Row:
    """Let a model that obeys the attacker read all it can; only portraits of a few members an hour may be shown."""
    from nonebot import logger  # noqa: PLC0415  # after NoneBot's start

    members, questions, alerts = extent.of(MEMBERS, 40), extent.of(QUESTIONS, 120), list[str]()

    async def read(_: core.CognitiveMemory, loot: Loot, ids: Sequence[str]) -> None:
        sink = logger.add(lambda line: alerts.append(str(line)), level="WARNING", format="{message}")
        for name, arguments in _questions(ids, questions):
            loot.asked += 1
            _sorted_out(loot, await _called(name, arguments))
            if ATTACKER in "".join(alerts) and not loot.alert_at:
                loot.alert_at = loot.asked
        logger.remove(sink)

    loot = await _looted(members, read)
    told = f"first alert at call {loot.alert_at}; lines of the group, which every member may read: {len(loot.events)}"
    return loot.row(members, told, failed=not loot.alert_at)


Read = Callable[[core.CognitiveMemory, "Loot", Sequence[str]], Awaitable[None]]


async def _looted(members: int, read: Read) -> Loot:
    """Plant facts of members, then read hour after hour, by a clock that is moved by hand."""
    async with theatre.opened() as memory:
        from nonebot_plugin_cognitive_memory import injected  # noqa: PLC0415  # after NoneBot's start

        ids = [str(2_410_001 + number) for number in range(members)]
        await _planted(memory, ids)
        now, loot = [0.0], Loot()
        limit = core.tools.ProfileLimit(lambda: now[0])
        injected.profile_limit = lambda: limit  # type: ignore[assignment]  # the clock of the row
        for hour in range(HOURS):
            now[0] = hour * core.tools.WINDOW
            loot.portraits.append(set())
            await read(memory, loot, ids)
    return loot


@dataclass
class Loot:
    """What the attacker saw: portraits of others by hour, canaries of other places, and the call of the first alert."""

    portraits: list[set[str]] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set[str])
    events: set[str] = field(default_factory=set[str])
    alert_at: int = 0
    asked: int = 0

    def row(self, members: int, told: str, *, failed: bool = False) -> Row:
        """Return the row; it fails if no portrait was shown at all."""
        per_hour, allowed = max(map(len, self.portraits)), core.tools.MOST_PEOPLE
        note = f"in {HOURS} h; {told}; portraits of others an hour {per_hour} of {members}, {allowed} allowed"
        seen = Seen(lost=len(self.foreign), twice=max(per_hour - allowed, 0))
        return seen.row(self.asked, note, failed=failed or not per_hour)


async def _planted(memory: core.CognitiveMemory, ids: list[str]) -> None:
    """Give each member a fact in the group, one in another group and one in private, each with a canary."""
    for number, one in enumerate(ids):
        name = f"群友{number}"
        scenes = {
            "甲": core.Scene.group(GROUP, one, user_name=name),
            "乙": core.Scene.group(ELSEWHERE, one, user_name=name),
            "丙": core.Scene.private(one, user_name=name),
        }
        for word, scene in scenes.items():
            line = core.Message(f"{word}{number}", scene, f"我喜欢{word}号暗语{number}", datetime.now(timezone.utc))
            await memory.consider(scene, [line])
    while not await memory.drain(theatre.PATIENCE):
        pass


def _questions(ids: Sequence[str], wanted: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield calls as an extraction script writes them: by id, by name, by topic, and beyond the group."""
    for number in range(wanted):
        one = ids[number % len(ids)]
        yield (
            ("get_profile", {"entity_type": "user", "entity_id": one}),
            ("search_profiles", {"query": f"群友{number % len(ids)} 喜欢什么", "top_k": 50}),
            ("search_events", {"query": f"群友{number % len(ids)} 暗语", "top_k": 50}),
            ("get_profile", {"entity_type": "member", "entity_id": f"{ELSEWHERE}/{one}"}),
            ("search_events", {"query": "暗语", "target_user_id": one, "top_k": 1_000}),
        )[number % 5]


async def _called(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the answer of a bot's tool to the attacker."""
    from nonebot_plugin_cognitive_memory import call_tool  # noqa: PLC0415  # after NoneBot's start

    answer: Mapping[str, Any] = json.loads(await call_tool(name, arguments, HERE))
    return answer


def _sorted_out(loot: Loot, answer: Mapping[str, Any]) -> None:
    """Note whose portraits an answer shows, and which canaries."""
    shown = [*answer.get("profiles", ()), *filter(None, [answer.get("profile")])]
    people = {str(one["entity_id"]).rpartition("/")[2] for one in shown if one["entity_type"] != "group"}
    loot.portraits[-1] |= people - {ATTACKER}
    canaries = set(CANARY.findall(json.dumps(answer, ensure_ascii=False)))
    loot.foreign |= {one for one in canaries if not one.startswith("甲")}
    loot.events |= {one for one in canaries if one.startswith("甲")}


# A23b.

REQUESTS = 400
TOKEN = "an-agent-of-one-member"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
LIES = ({}, {"X-Memory-User": "2400002"}, {"X-Memory-Agent": "default"}, {"Mcp-Session-Id": "another"})


async def a23b(extent: Extent) -> Row:
    """Let an agent read portraits by tools and resources, and its person's bot as well; one count must bound both."""
    members, requests = extent.of(MEMBERS, 40), extent.of(REQUESTS, 60)

    async def read(memory: core.CognitiveMemory, loot: Loot, ids: Sequence[str]) -> None:
        gate = httpx.ASGITransport(_gate(memory))
        async with httpx.AsyncClient(transport=gate, base_url="http://127.0.0.1") as client:
            await _read_by_agents(client, loot, ids, requests)

    return (await _looted(members, read)).row(members, f"{requests} requests an hour")


def _gate(memory: core.CognitiveMemory) -> Any:
    """Return the route of agents."""
    from nonebot_plugin_cognitive_memory.config import setup  # noqa: PLC0415  # after NoneBot's start
    from nonebot_plugin_cognitive_memory.http import gates as agent_gate  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http.routes import Backing  # noqa: PLC0415

    agent = {"token": TOKEN, "user": ATTACKER, "group": GROUP}
    settings = core.Settings.from_mapping({"http": {"token": "the-token-of-the-operator", "agents": [agent]}})
    return agent_gate.agents_app(settings.http, Backing(lambda: memory, lambda: setup.settings))


async def _read_by_agents(client: Any, loot: Loot, ids: Sequence[str], wanted: int) -> None:
    for number, (method, params) in enumerate(_requests(ids, wanted)):
        loot.asked += 1
        if number % 5 == 4 and method == "tools/call":  # by the bot of the same person
            _sorted_out(loot, await _called(params["name"], params["arguments"]))
            continue
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        answer = await client.post("/", json=body, headers={**HEADERS, **LIES[number % len(LIES)]})
        for told in _told(answer.json().get("result", {})):
            _sorted_out(loot, told)


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
