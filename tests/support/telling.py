"""Tells a memory something and reads what it recalls, as a chat plugin would."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any

from cognitive_memory_core import CognitiveMemory, Event, Message, Scene, Settings, Turn, VectorStoreSettings

from .waiting import PATIENCE

_numbers = count(1)
EXACT = Settings(vector_store=VectorStoreSettings(backend="exact"))  # starting the vector store takes a second per test

READING = Scene.group("618203471", "2156083317", user_name="阿禾", group_name="山脚读书会")
READING_MILI = Scene.group("618203471", "2680914375", user_name="米粒", group_name="山脚读书会")
GAMES = Scene.group("930417652", "2156083317", user_name="禾苗", group_name="周末桌游搭子")
GAMES_DOUSHA = Scene.group("930417652", "3417085926", user_name="豆沙", group_name="周末桌游搭子")
PRIVATE = Scene.private("2156083317", user_name="阿禾")
PRIVATE_MILI = Scene.private("2680914375", user_name="米粒")


@asynccontextmanager
async def a_memory(data_dir: Path, settings: Settings | None = None, **options: Any) -> AsyncIterator[CognitiveMemory]:
    """Open a memory with default settings, but without the vector store, which only affects speed."""
    async with CognitiveMemory.open(settings or EXACT, data_dir, **options) as memory:
        yield memory


async def tell(memory: CognitiveMemory, scene: Scene, *observations: str, **fields: Any) -> list[Event]:
    """End a turn with observations and wait for the historian; return what the scene can list afterwards."""
    await memory.remember(Turn(scene, observations=observations, **fields))
    assert await memory.drain(PATIENCE)
    return await memory.events(scene, limit=200)


async def say(memory: CognitiveMemory, scene: Scene, *lines: str | Message, at: datetime | None = None) -> list[Event]:
    """Let the person of a scene say lines that are considered; wait for the historian; return what is listed there."""
    when = at or datetime.now(timezone.utc)
    said = [
        line if isinstance(line, Message) else Message(f"said{next(_numbers)}", scene, line, when) for line in lines
    ]
    await memory.consider(scene, said)
    assert await memory.drain(PATIENCE)
    return await memory.events(scene, limit=200)


async def recalled(memory: CognitiveMemory, scene: Scene, query: str) -> str:
    """Return everything that a query returns in a scene: context, search, log and list."""
    context = await memory.context(scene, query)
    hits = await memory.search_events(scene, query, top_k=50)
    logged = await memory.search_events(scene, query, kinds=("message",), top_k=50)
    listed = await memory.events(scene, limit=200)
    texts = [hit.event.text for hit in (*hits, *logged)] + [event.text for event in listed]
    return "\n".join((context.text, *texts))
