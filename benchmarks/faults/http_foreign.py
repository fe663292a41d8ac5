"""A16: the ids of another agent's things, with the token of the HTTP interface."""

from __future__ import annotations

import random
import secrets
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx

import cognitive_memory_core as core
from tests.plugin.web import served
from tests.support.http_world import BELIEF, EVENT, GROUP_ID, OLD_BELIEF, PIN, REVISION, plant
from tests.support.openapi_client import Operation, operations

from ..fault_row import Extent, Row
from .http_bots import CANARY, EXACT, TOKEN, load_plugin


async def a16(extent: Extent) -> Row:
    """Call every route with the token and the ids of another agent's things; none may be read or changed."""
    dice = random.Random(extent.seed)
    counts: Counter[str] = Counter()
    firsts: list[str] = []
    wanted = extent.of(10_000, 400)
    async with _two_agents() as (memory, asking):
        described = list(operations((await asking.get("/openapi.json")).json()))
        before = await _others(memory)
        unknown: dict[str, str] = {}
        for operation in islice(cycle([one for one in described if _names_something(one)]), wanted):
            values, is_foreign = _values(operation, dice)
            answer = await operation.call(asking, values)
            counts["sent"] += 1
            counts["foreign"] += is_foreign
            counts[f"{answer.status_code}"] += 1
            is_read = CANARY in answer.text or (is_foreign and answer.status_code != 404)
            is_other = answer.status_code == 404 and unknown.setdefault(operation.name, answer.text) != answer.text
            counts["read"] += is_read
            counts["unlike"] += is_other
            if is_read or is_other or answer.status_code >= 500:
                firsts.append(f"{operation.name} {values}: {answer.status_code} {answer.text[:60]}")
        changed = sum(1 for now, then in zip(await _others(memory), before, strict=True) if now != then)
    statuses = ", ".join(f"{status} {counts[status]}" for status in sorted(one for one in counts if one.isdigit()))
    return Row(
        counts["sent"],
        counts["read"],
        changed,
        failed=bool(counts["unlike"]) or counts["500"] > 0,
        note=f"lost: foreign reads; twice: lists of the other agents that changed; {counts['foreign']} with an id that "
        f"exists elsewhere, the others guessed or mutated; answers {statuses}; 404s unlike that of nothing "
        f"{counts['unlike']}; first: {firsts[0] if firsts else 'nothing'}",
    )


@asynccontextmanager
async def _two_agents() -> AsyncGenerator[tuple[core.CognitiveMemory, httpx.AsyncClient], None]:
    """Serve a memory in which another agent has the same groups as ours, and one of its own, with canaries."""
    load_plugin("~fastapi")
    from nonebot_plugin_cognitive_memory.http.gates import TokenBuckets  # noqa: PLC0415  # the same
    from nonebot_plugin_cognitive_memory.http.routes import Backing  # noqa: PLC0415  # needs NoneBot
    from nonebot_plugin_cognitive_memory.http.site import Site  # noqa: PLC0415  # the same

    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        memory = await stack.enter_async_context(core.CognitiveMemory.open(EXACT, folder / "data"))
        await plant(memory, folder)
        await plant(memory, folder, agent="another", suffix="f", canary=CANARY)
        await plant(memory, folder, agent="another", suffix="g", canary=CANARY, group_id="10002", person="2000002")
        site = Site(TOKEN, (), Backing(lambda: memory, lambda: EXACT), TokenBuckets(1e9, 10**9))
        from fastapi import FastAPI  # noqa: PLC0415  # with the others

        app = FastAPI()
        app.mount("/memory", site.app)
        port = await stack.enter_async_context(served(app))
        headers = {"Authorization": f"Bearer {TOKEN}"}
        base = f"http://127.0.0.1:{port}/memory"
        client = httpx.AsyncClient(base_url=base, headers=headers, trust_env=False, timeout=60.0)
        yield memory, await stack.enter_async_context(client)


def _names_something(operation: Operation) -> bool:
    return bool(operation.path_names) or operation.name in ("list_events", "list_pins", "export_memory")


def _values(operation: Operation, dice: random.Random) -> tuple[dict[str, str], bool]:
    """Return ids for a request, and whether they are of something that exists for another agent alone."""
    is_foreign = dice.random() < 0.5
    if operation.name == "export_memory":
        return {"user_id": "2000002" if is_foreign else _guess(dice)}, is_foreign
    values = {name: dice.choice(_FOREIGN[name]) if is_foreign else _guess(dice) for name in _wanted(operation)}
    if "entity_type" in values:
        values["entity_type"] = "member"
        values["entity_id"] = "10002/2000002" if is_foreign else f"{_guess(dice)}/{_guess(dice)}"
    return values, is_foreign


def _wanted(operation: Operation) -> list[str]:
    return operation.path_names or ["group_id"]


_FOREIGN = {
    "memory_id": [f"{one}{suffix}" for one in (BELIEF, OLD_BELIEF) for suffix in "fg"],
    "event_id": [f"{EVENT}{suffix}" for suffix in "fg"],
    "pin_id": [f"{PIN}{suffix}" for suffix in "fg"],
    "group_id": ["10002"],
    "entity_type": ["member"],
    "entity_id": ["10002/2000002"],
}


def _guess(dice: random.Random) -> str:
    """Return an id that exists nowhere: guessed, mutated, of another kind, or a trick of a store or a file system."""
    foreign = dice.choice([one for name, ids in _FOREIGN.items() if name != "entity_id" for one in ids])
    return dice.choice(
        (
            secrets.token_hex(16),
            foreign[:-2] + "zz",
            f"{foreign}0",
            foreign.upper() + "X",
            f"{foreign}' OR '1'='1",
            "%",
            "*",
            "..%2f..%2fanother",
            f"another\u2028{foreign}"[:60].replace("\u2028", "."),
            REVISION,
            "１０００２",
            str(dice.randrange(10**9, 10**10)),
        )
    )


async def _others(memory: core.CognitiveMemory) -> list[Any]:
    """Return everything of the other agent that a request could change."""
    scenes = [core.Scene.operator("another", group_id=group) for group in (GROUP_ID, "10002")]
    rows: list[Any] = [await memory.events(core.Scene.operator("another"), limit=200)]
    for scene in scenes:
        rows += [
            await memory.pins(scene),
            await memory.beliefs(scene, status="all"),
            await memory.belief_changes(scene),
        ]
    return rows
