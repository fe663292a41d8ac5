"""A1: a chat model controlled by an attacker calls the tools in one scene to reach the content of all others."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from tests.support.clock import FrozenClock
from tests.support.histories import History
from tests.support.opened import Witness, opened
from tests.support.planted import Planted, tokens_in
from tests.support.reading_rule import may_meet
from tests.support.sowing import GROUPS, PEOPLE, Extent, Sower

from ..fault_row import Extent as Size
from ..fault_row import Row, Seen
from ..isolation import load_plugin

ODD: tuple[Any, ...] = (
    "*", "%", "", None, True, 0, -1, 10**400, float("nan"), [], {}, {"$ne": ""}, {"$gt": ""}, ["10001", "10002"],
    "10001 OR 1=1", "' OR 1=1 --", "10001\x1f10002", "default\x1fgroup\x1f20001", "\x00", "10001\n", "+10001",
    "１０００１", "010001", "../../etc/passwd", "..\\..\\x", "%2e%2e%2f", "CON", "10001/../10002", "10001/10002/3",
    "/", "²", "阿棠(10001)", "x" * 300, "\ud800", "operator", {"group_id": "20001"}, [[["20001"]]],
)  # fmt: skip
FIELDS = (
    "query", "target_user_id", "target_group_id", "top_k", "time_from", "time_to", "entity_type", "entity_id", "fact",
    "id", "scene", "agent", "user_id", "group_id", "kinds", "where", "sharing", "operator",
)  # fmt: skip
TOOLS = ("search_events", "get_profile", "search_profiles", "memory_list", "memory_update", "memory_delete")
LEAST = 400


def a1(extent: Size) -> Row:
    """Call tools with the worst arguments; nothing foreign may be shown, changed, or raised."""
    load_plugin()
    seen = asyncio.run(_besieged(extent.of(20_000, LEAST), random.Random(extent.seed)))
    return seen.row(seen.pop("calls"), failed=seen["raised"] or seen["answers of another form"])


async def _besieged(calls: int, dice: random.Random) -> Seen:
    """Call tools; unauthorised changes are lost, leaks count as twice."""
    seen, clock = Seen(), FrozenClock()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with opened("exact", Path(folder) / "data", clock, Witness()) as memory:
            history = History(memory, Sower(dice), Path(folder), clock)
            await history.begin(Extent())
            await history.go_on(12)
            before = await _pins(memory)
            for _ in range(calls):
                await _call(history, seen)
            seen["lost"] += len(before.symmetric_difference(await _pins(memory)))
    return seen


async def _call(history: History, seen: Seen) -> None:
    """Call one tool; a pin that the call might change never belongs to the asker."""
    from nonebot_plugin_cognitive_memory import call_tool  # noqa: PLC0415  # loaded by now
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime  # noqa: PLC0415  # see above

    lifetime.memory = history.memory
    about = history.sower.dice.choice([*history.standing.planted.values()])
    scene, tool = history.sower.scene(), history.sower.dice.choice(TOOLS)
    seen["calls"] += 1
    try:
        answer: Any = json.loads(await call_tool(tool, _arguments(history.sower.dice, tool, about, scene), scene))
    except Exception:  # noqa: BLE001  # whatever is raised is what the row looks for
        seen["raised"] += 1
        return
    is_known = answer.get("ok") is True or (answer.get("ok") is False and answer.get("error"))
    seen["answers of another form"] += not is_known
    seen["twice"] += sum(not may_meet(token, scene, history.standing) for token in tokens_in(answer))


def _arguments(dice: random.Random, tool: str, about: Planted, scene: core.Scene) -> Any:
    """Return arguments as an object or as JSON text, sometimes broken; the asker's own pins are excluded."""
    odd: Callable[[], Any] = lambda: dice.choice((*ODD, *GROUPS, *PEOPLE))  # noqa: E731  # two words that are used six times
    given = {name: odd() for name in dice.sample(FIELDS, dice.randint(0, 6))}
    given |= {"query": about.token} if dice.random() < 0.8 else {}
    given |= {"entity_type": dice.choice(("user", "member", "group")), "entity_id": _entity(dice, about)}
    is_theirs = about.what == "pin" and not (about.stands_in(scene) and about.person == scene.user_id)
    if tool in ("memory_update", "memory_delete"):
        given |= {"id": about.id if is_theirs else odd(), "fact": "改掉"}
    if dice.random() < 0.5:
        return given
    written = json.dumps(given, default=str)
    return written[: dice.randint(0, len(written))] if dice.random() < 0.2 else written


def _entity(dice: random.Random, about: Planted) -> Any:
    written = "/".join(part for part in (about.key.group_id, about.key.user_id) if part)
    return dice.choice((written, written, about.place_id, *dice.sample(ODD, 2)))


async def _pins(memory: core.CognitiveMemory) -> set[tuple[str, str, str]]:
    """Return every pin of all scenes with its current text."""
    found: set[tuple[str, str, str]] = set()
    for agent in ("default", "second"):
        scenes = [core.Scene.operator(agent, group_id=group) for group in GROUPS]
        for scene in (*scenes, *(core.Scene.private(person, agent=agent) for person in PEOPLE)):
            found |= {(pin.id, pin.text, pin.owner_id) for pin in await memory.pins(scene)}
    return found
