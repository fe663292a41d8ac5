"""The dependency functions behind the injected types; each works for every event that has a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

from nonebot.adapters import Bot, Event
from nonebot.params import Depends

import cognitive_memory_core as core

from .event_message import find_message, plain_text
from .lifecycle import get_memory
from .record_end_of_turn import Source, TurnEnd, consider
from .scene import find_scene, scene_of
from .toolbox import MemoryToolbox


async def current_scene(bot: Bot, event: Event) -> core.Scene:
    """Return the scene of the event; skip the handler if there is none."""
    return scene_of(bot, event)


Here = Annotated[core.Scene, Depends(current_scene)]


async def running_memory(_here: Here) -> core.CognitiveMemory:
    """Return the running memory."""
    return get_memory()


async def memory_context(bot: Bot, event: Event) -> core.Context:
    """Build the context of the event's message; if the event has no person, return an empty one."""
    scene = find_scene(bot, event)
    return await personal_context(scene, bot, event) if scene else core.Context("", (), 0, ())


async def personal_context(here: Here, bot: Bot, event: Event) -> core.Context:
    """Build the context of the event's message; skip the handler if there is no person."""
    message = find_message(bot, event)
    return await get_memory().context(here, plain_text(event), shown=[message.id] if message else None)


async def turn_end(here: Here, bot: Bot, event: Event) -> Callable[..., Awaitable[str | None]]:
    """Return ``record_end`` for this event: it records the answer to this message as a finished turn."""
    message = find_message(bot, event)
    return TurnEnd(here, Source.of(message) if message else Source())


async def consideration(here: Here) -> Callable[..., Awaitable[str | None]]:
    """Return a function that hands in the recent dialogue of the event's scene."""
    return partial(consider, here)


async def event_search(here: Here) -> Callable[..., Awaitable[list[core.Hit]]]:
    """Return ``search_events``, bound to the event's scene."""
    return partial(get_memory().search_events, here)


async def profile(here: Here) -> Callable[..., Awaitable[core.Profile | None]]:
    """Return ``get_profile``, bound to the event's scene."""
    return partial(get_memory().get_profile, here)


async def profile_search(here: Here) -> Callable[..., Awaitable[list[core.ProfileHit]]]:
    """Return ``search_profiles``, bound to the event's scene."""
    return partial(get_memory().search_profiles, here)


async def memory_tools(here: Here, bot: Bot, event: Event) -> MemoryToolbox:
    """Return the tools, bound to the event."""
    message = find_message(bot, event)
    return MemoryToolbox(TurnEnd(here, Source.of(message) if message else Source()))
