"""The annotated types that a chat plugin injects into its handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from nonebot.params import Depends

import cognitive_memory_core as core

from . import dependencies
from .toolbox import MemoryToolbox

Memory = Annotated[core.CognitiveMemory, Depends(dependencies.running_memory)]
"""The running memory."""
CurrentScene = Annotated[core.Scene, Depends(dependencies.current_scene)]
"""The place of the event and its speaker."""
MemoryContext = Annotated[core.Context, Depends(dependencies.memory_context)]
"""The block for the model, built for the event's message; empty for an event without a person."""
PersonalContext = Annotated[core.Context, Depends(dependencies.personal_context)]
"""The same block; a handler with it is skipped for an event without a person."""
RecordEnd = Annotated[Callable[..., Awaitable[str | None]], Depends(dependencies.turn_end)]
"""``await record_end(memo="", observations=(), *, perspective=None, force=False)``"""
Consider = Annotated[Callable[..., Awaitable[str | None]], Depends(dependencies.consideration)]
"""``await consider()``: the recent dialogue of this scene."""
SearchEvents = Annotated[Callable[..., Awaitable[list[core.Hit]]], Depends(dependencies.event_search)]
"""``await search_events(query, ...)`` in this scene."""
GetProfile = Annotated[Callable[..., Awaitable[core.Profile | None]], Depends(dependencies.profile)]
"""``await get_profile(entity_type, entity_id)`` in this scene."""
SearchProfiles = Annotated[Callable[..., Awaitable[list[core.ProfileHit]]], Depends(dependencies.profile_search)]
"""``await search_profiles(query, ...)`` in this scene."""
MemoryTools = Annotated[MemoryToolbox, Depends(dependencies.memory_tools)]
"""``.schemas`` and ``await tools.call(name, arguments)``"""
