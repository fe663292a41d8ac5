"""Runs one tool for an agent; a failure that the model can cause is returned as an answer."""

from __future__ import annotations

import logging

from .. import sentences
from ..errors import CognitiveMemoryError, NotPermitted
from .actions import Answer, ToolCaller
from .agent_actions import AGENT_ACTIONS
from .schemas import AGENT_TOOLS
from .tool_arguments import Arguments, BadToolArgument

log = logging.getLogger(__name__)
STRICT = frozenset({"memory_update", "memory_delete"})  # changing or removing needs unrepaired arguments


async def agent_answer(caller: ToolCaller, name: str, written: object) -> Answer:
    """Run a tool in the caller's scene; if it is refused, return "ok": False and an "error" for the model."""
    action = AGENT_ACTIONS.get(name)
    if action is None:
        return failure(sentences.tools.UNKNOWN_TOOL)
    try:
        arguments = await Arguments.read(written, repair=name not in STRICT)
        arguments.require_bounded(AGENT_TOOLS[name])
        return {"ok": True, **await action(caller, arguments)}
    except NotPermitted as refused:
        scene = caller.scene
        log.warning("%s", sentences.tools.refused_tool(name, scene.group_id, scene.user_id))
        return failure(str(refused))
    except (BadToolArgument, CognitiveMemoryError) as refused:
        return failure(str(refused))


def failure(error: str) -> Answer:
    """Return the answer of a call that was refused."""
    return {"ok": False, "error": error}
