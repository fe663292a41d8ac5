"""Erases a person or a place from the memory, and from the files and caches of this plugin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import cognitive_memory_core as core

from .auto_consider import considerer
from .lifecycle import get_memory
from .platform_names import platform_names

Goes = Callable[[core.Scene], bool]
_keepers: list[Callable[[Goes], Awaitable[None]]] = [considerer.forget]


def on_erased(forget: Callable[[Goes], Awaitable[None]]) -> None:
    """Register a function that is called after each erasure, with a function that tells whether a scene was erased."""
    _keepers.append(forget)


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


async def _forget(is_erased: Goes) -> None:
    for forget in _keepers:
        await forget(is_erased)
