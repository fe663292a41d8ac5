"""Dependencies of routes: the open memory, and the operator's scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.requests import Request

import cognitive_memory_core as core

from .. import replies
from ..replies import http_guide as guide

LONGEST_ID = 128  # characters
GroupId = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description=guide.GROUP_ID, examples=["10001"])]
Limit = Annotated[int, Query(ge=1, le=200, description=guide.LIMIT)]
Offset = Annotated[int, Query(ge=0, le=1_000_000, description=guide.OFFSET)]


class NothingThere(core.MistakeError):
    """The agent has stored nothing of the group, person or job that a request names."""


class EventChanged(core.MistakeError):
    """The event of a request was corrected or forgotten meanwhile; ``event`` stands for it now."""

    def __init__(self, event: core.Event) -> None:
        """Store the present event."""
        super().__init__(replies.http.CHANGED)
        self.event = event


@dataclass(frozen=True)
class Backing:
    """The memory and settings that the routes of an application read; stored as ``app.state.backing``."""

    memory: Callable[[], core.CognitiveMemory]
    settings: Callable[[], core.Settings]


@dataclass(frozen=True)
class OperatorAccess:
    """An open memory, with the agent to whose memory a request is restricted."""

    memory: core.CognitiveMemory
    settings: core.Settings
    agent: str

    def scene(self, group_id: str | None = None) -> core.Scene:
        """Return the operator's scene, in a group if one is given."""
        return core.Scene.operator(self.agent, group_id=group_id)

    async def known_group(self, group_id: str) -> core.Scene:
        """Return the operator's scene in a group; raises NothingThere if the agent has stored nothing of that group."""
        scene = self.scene(group_id)
        stored = await self.memory.activity(scene, days=1)
        if not (stored.events or stored.messages or (await self.memory.beliefs(scene, status="all", limit=1)).total):
            raise NothingThere(replies.http.UNKNOWN_GROUP)
        return scene


async def backing(request: Request) -> Backing:
    """Return the backing of the application that received a request."""
    found: Backing = request.app.state.backing
    return found


async def operator_access(
    behind: Annotated[Backing, Depends(backing)],
    agent: Annotated[str | None, Query(min_length=1, max_length=LONGEST_ID, description=guide.AGENT)] = None,
) -> OperatorAccess:
    """Return access to the memory; raise UnavailableError (status 503) if it is not open or is disabled."""
    memory, settings = behind.memory(), behind.settings()
    if not memory.is_running:
        raise core.UnavailableError(memory.reason)
    return OperatorAccess(memory, settings, agent or settings.agent)


Operator = Annotated[OperatorAccess, Depends(operator_access)]
