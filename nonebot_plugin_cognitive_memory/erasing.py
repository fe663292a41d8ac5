"""Erases a person or a place from the memory, and from what this plugin has gathered for it."""

from __future__ import annotations

import cognitive_memory_core as core

from .auto_consider import considerer
from .lifecycle import get_memory


async def erased_person(scene: core.Scene, user_id: str) -> core.Erasure:
    """Erase a person everywhere, if the scene may; return what was removed."""
    erasure = await get_memory().forget_user(scene, user_id)
    await considerer.forget(lambda said_in: said_in.user_id == user_id)
    return erasure


async def erased_place(scene: core.Scene) -> core.Erasure:
    """Erase a group or a private chat; return what was removed."""
    erasure = await get_memory().forget_scene(scene)
    await considerer.forget(lambda said_in: said_in.scope == scene.scope)
    return erasure
