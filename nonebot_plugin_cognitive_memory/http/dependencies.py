"""What routes ask for: the open memory, and the scene of the operator who asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Query
from starlette.requests import Request

import cognitive_memory_core as core

from .. import replies

Id = Annotated[str, Path(min_length=1, max_length=128)]


@dataclass(frozen=True)
class Backing:
    """What stands behind the routes of an application; kept as ``app.state.backing``."""

    memory: Callable[[], core.CognitiveMemory]
    settings: Callable[[], core.Settings]


@dataclass(frozen=True)
class OperatorAccess:
    """An open memory, and the agent whose part of it a request is about."""

    memory: core.CognitiveMemory
    agent: str

    def scene(self, group_id: str | None = None) -> core.Scene:
        """Return the operator's scene, in a group if one is given."""
        return core.Scene.operator(self.agent, group_id=group_id)


async def backing(request: Request) -> Backing:
    """Return what stands behind the application of a request."""
    found: Backing = request.app.state.backing
    return found


async def operator_access(
    behind: Annotated[Backing, Depends(backing)],
    agent: Annotated[str | None, Query(min_length=1, max_length=128, description=replies.http.AGENT)] = None,
) -> OperatorAccess:
    """Return the open memory; raise UnavailableError, which is answered with 503, if it is not open or is disabled."""
    memory = behind.memory()
    if not memory.is_running:
        raise core.UnavailableError(memory.reason)
    return OperatorAccess(memory, agent or behind.settings().agent)


Operator = Annotated[OperatorAccess, Depends(operator_access)]
