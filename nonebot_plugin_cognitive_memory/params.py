"""The dependency functions behind the injectable names. Each of them resolves for every event that has a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

from nonebot.adapters import Bot, Event
from nonebot.params import Depends

import cognitive_memory_core as core

from . import recording
from .incoming import find_message, plain_text
from .lifecycle import get_memory
from .recording import Source, TurnEnd
from .scene import scene_of
from .tools import MemoryToolbox


async def current_scene(bot: Bot, event: Event) -> core.Scene:
    """Return the scene of the event, or skip the handler."""
    return scene_of(bot, event)


Here = Annotated[core.Scene, Depends(current_scene)]


async def running_memory(_here: Here) -> core.CognitiveMemory:
    """Return the running memory."""
    return get_memory()


async def memory_context(here: Here, event: Event) -> core.Context:
    """Build the context of the event's message."""
    return await get_memory().context(here, plain_text(event))


async def turn_end(here: Here, bot: Bot, event: Event) -> Callable[..., Awaitable[str | None]]:
    """Bind the end of a turn to the event."""
    message = find_message(bot, event)
    return TurnEnd(here, Source.of(message) if message else Source())


async def consideration(here: Here) -> Callable[..., Awaitable[str | None]]:
    """Bind consideration to the event's scene."""
    return partial(recording.consider, here)


async def event_search(here: Here) -> Callable[..., Awaitable[list[core.Hit]]]:
    """Bind the search to the event's scene."""
    return partial(get_memory().search_events, here)


async def profile(here: Here) -> Callable[..., Awaitable[core.Profile | None]]:
    """Bind the reading of profiles to the event's scene."""
    return partial(get_memory().get_profile, here)


async def profile_search(here: Here) -> Callable[..., Awaitable[list[core.ProfileHit]]]:
    """Bind the search of profiles to the event's scene."""
    return partial(get_memory().search_profiles, here)


async def memory_tools(here: Here, bot: Bot, event: Event) -> MemoryToolbox:
    """Bind the tools to the event."""
    message = find_message(bot, event)
    return MemoryToolbox(TurnEnd(here, Source.of(message) if message else Source()))
