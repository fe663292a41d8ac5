"""Erasure of people and places, also from what the plugin itself keeps, and exports."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

import cognitive_memory_core as core

from .auto_consider import considerer
from .lifecycle import get_memory
from .scene import platform_names, scene_at

IsErased = Callable[[core.Scene], bool]
_forgetting: list[Callable[[IsErased], Awaitable[None]]] = [considerer.forget]


def on_erased(forget: Callable[[IsErased], Awaitable[None]]) -> None:
    """Register a function that is called after each erasure, with a function that tells whether a scene was erased."""
    _forgetting.append(forget)


async def erased_person(scene: core.Scene, user_id: str, memory: core.CognitiveMemory | None = None) -> core.Erasure:
    """Erase a person everywhere; return what was removed. ``memory`` is the bot's by default.

    Raises NotPermitted unless the scene is the person's own or the operator's.
    """
    names = await platform_names.names_of(user_id)
    erasure = await (memory or get_memory()).forget_user(scene, user_id, names=names)
    await _forget(lambda said_in: said_in.user_id == user_id)
    return erasure


async def erased_place(scene: core.Scene, memory: core.CognitiveMemory | None = None) -> core.Erasure:
    """Erase a group or a private chat; return what was removed. ``memory`` is the bot's by default."""
    erasure = await (memory or get_memory()).forget_scene(scene)
    await _forget(lambda said_in: said_in.scope == scene.scope)
    return erasure


async def _forget(is_erased: IsErased) -> None:
    for forget in _forgetting:
        await forget(is_erased)
    scene_at.cache_clear()  # last: the others may build scenes


FILE = "memory.jsonl"


@asynccontextmanager
async def exported(
    memory: core.CognitiveMemory, user_id: str | None = None, agent: str | None = None
) -> AsyncGenerator[tuple[Path, int], None]:
    """Export the memory, one person's part of it, or one agent's; yield the file and the number of its rows.

    The file is removed at the end, also if the caller is cancelled. A refusal of the disk is raised as StorageRefused.
    """
    try:
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory)
        path = Path(folder.name) / FILE
        try:
            yield path, await memory.export(path, user_id=user_id, agent=agent)
        finally:
            with anyio.CancelScope(shield=True):
                await asyncio.to_thread(folder.cleanup)
                with suppress(core.CognitiveMemoryError):  # the memory was closed meanwhile
                    await memory.discard_export(path)
    except OSError as refused:
        raise core.StorageRefused(type(refused).__name__) from refused
