"""The actions of the tools in a bot: the core's, and the one that ends a turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import cognitive_memory_core as core

from . import replies
from .config import setup
from .lifecycle import get_memory
from .record_end_of_turn import TurnEnd
from .throttled_log import complain

Answer = core.tools.Answer
Action = Callable[[TurnEnd, core.tools.Arguments], Awaitable[Answer]]
profile_limit = core.tools.ProfileLimit()


async def _end(end: TurnEnd, arguments: core.tools.Arguments) -> Answer:
    job_id = await end(
        arguments.text_argument("memo"),
        arguments.texts("observations"),
        perspective=arguments.text_argument("perspective") or None,
        force=arguments.flag("force"),
    )
    return {"id": job_id}


def _in_scene(action: core.tools.Action) -> Action:
    async def run(end: TurnEnd, arguments: core.tools.Arguments) -> Answer:
        asked = frozenset(end.source.message_ids if end.source else ())
        caller = core.tools.ToolCaller(get_memory(), end.scene, setup.settings, asked, profile_limit, _complain_of)
        return await action(caller, arguments)

    return run


def _complain_of(scene: core.Scene) -> None:
    complain(replies.log.too_broad(scene))


ACTIONS: Mapping[str, Action] = {
    "end": _end,
    **{name: _in_scene(action) for name, action in core.tools.ACTIONS.items()},
}
