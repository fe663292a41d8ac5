"""The annotated types that a chat plugin injects into its handlers; each works for every event that has a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from nonebot.adapters import Bot, Event
from nonebot.params import Depends

import cognitive_memory_core as core

from .event_message import find_message, plain_text
from .heard import answer_sources
from .lifecycle import get_memory
from .record_end_of_turn import TurnEnd, consider
from .scene import find_scene, scene_of
from .toolbox import MemoryToolbox


async def current_scene(bot: Bot, event: Event) -> core.Scene:
    """Return the scene of the event; skip the handler if there is none."""
    return scene_of(bot, event)


CurrentScene = Annotated[core.Scene, Depends(current_scene)]
"""The place of the event and its speaker."""


async def running_memory(_here: CurrentScene) -> core.CognitiveMemory:
    """Return the running memory."""
    return get_memory()


async def personal_context(here: CurrentScene, bot: Bot, event: Event) -> core.Context:
    """Build the context of the event's message; skip the handler if there is no person."""
    message = find_message(bot, event)
    built = await get_memory().context(here, plain_text(event), shown=[message.id] if message else None)
    if message:
        answer_sources.built(here, message.id, built)
    return built


async def memory_context(bot: Bot, event: Event) -> core.Context:
    """Build the context of the event's message; if the event has no person, return an empty one."""
    scene = find_scene(bot, event)
    return await personal_context(scene, bot, event) if scene else core.Context("", (), 0, ())


async def turn_end(here: CurrentScene, bot: Bot, event: Event) -> Callable[..., Awaitable[str | None]]:
    """Return ``record_end`` for this event: it records the answer to this message as a finished turn."""
    return TurnEnd(here, find_message(bot, event), text="")


async def consideration(here: CurrentScene) -> Callable[..., Awaitable[str | None]]:
    """Return a function that hands in the recent dialogue of the event's scene."""
    return partial(consider, here)


async def memory_tools(end: Annotated[TurnEnd, Depends(turn_end)]) -> MemoryToolbox:
    """Return the tools, bound to the event."""
    return MemoryToolbox(end)


def _bound(operation: str) -> Any:
    """Depend on an operation of the running memory, bound to the event's scene."""

    async def bound(here: CurrentScene) -> Callable[..., Awaitable[Any]]:
        return partial(getattr(get_memory(), operation), here)

    return Depends(bound)


Memory = Annotated[core.CognitiveMemory, Depends(running_memory)]
"""The running memory."""
MemoryContext = Annotated[core.Context, Depends(memory_context)]
"""The block for the model, built for the event's message; empty for an event without a person."""
PersonalContext = Annotated[core.Context, Depends(personal_context)]
"""The same block; a handler with it is skipped for an event without a person."""
RecordEnd = Annotated[Callable[..., Awaitable[str | None]], Depends(turn_end)]
"""``await record_end(memo="", observations=(), *, perspective=None, force=False)``"""
Consider = Annotated[Callable[..., Awaitable[str | None]], Depends(consideration)]
"""``await consider()``: the recent dialogue of this scene."""
SearchEvents = Annotated[Callable[..., Awaitable[list[core.Hit]]], _bound("search_events")]
"""``await search_events(query, ...)`` in this scene."""
GetProfile = Annotated[Callable[..., Awaitable[core.Profile | None]], _bound("get_profile")]
"""``await get_profile(entity_type, entity_id)`` in this scene."""
SearchProfiles = Annotated[Callable[..., Awaitable[list[core.ProfileHit]]], _bound("search_profiles")]
"""``await search_profiles(query, ...)`` in this scene."""
MemoryTools = Annotated[MemoryToolbox, Depends(memory_tools)]
"""``.schemas`` and ``await tools.call(name, arguments)``"""
