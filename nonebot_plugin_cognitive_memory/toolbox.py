"""The memory as tools of a chat model; the dispatcher answers every call, also a malformed one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nonebot import logger

import cognitive_memory_core as core

from . import replies
from .lifecycle import get_memory, lifetime
from .record_end_of_turn import TurnEnd

if TYPE_CHECKING:
    from .tool_actions import Action

    Schema = core.tools.Schema
STRICT = frozenset({"memory_update", "memory_delete"})  # changing or removing needs unrepaired arguments
TURN = "end"  # waits while the memory opens
_prefixes = {""}


@dataclass(frozen=True)
class MemoryToolbox:
    """The tools, bound to the scene of the person being answered; no argument gives access to another scene."""

    end: TurnEnd

    @property
    def schemas(self) -> list[Schema]:
        """Return OpenAI's ``tools`` list."""
        return tool_schemas()

    async def call(self, name: str, arguments: Mapping[str, object] | str | None) -> str:
        """Run a tool; arguments are an object or JSON text. The answer is JSON text, also for a failure."""
        return json.dumps(await self._answer(name, arguments), ensure_ascii=False)

    async def _answer(self, name: str, written: object) -> Mapping[str, object]:
        tool, action = _find(name)
        if action is None:
            return _failure(replies.tools.UNKNOWN_TOOL)
        if not (get_memory().is_running or (tool == TURN and lifetime.is_listening)):
            return _failure(replies.tools.NOT_ENABLED)
        try:
            arguments = await core.tools.Arguments.read(written, repair=tool not in STRICT)
            return {"ok": True, **await action(self.end, arguments)}
        except core.NotPermitted as refused:
            logger.warning(replies.log.logged(replies.log.refused_tool(tool, self.end.scene)))
            return _failure(str(refused))
        except (core.tools.BadToolArgument, core.CognitiveMemoryError) as refused:
            return _failure(str(refused))


def tool_schemas(prefix: str = "") -> list[Schema]:
    """Return OpenAI's ``tools`` list with ``prefix`` before each name; :func:`call_tool` accepts such names.

    Raises BadArgument for a prefix with characters other than letters, digits, "_" and "-", or if a name becomes longer
    than 64 characters.
    """
    schemas = core.tools.function_schemas(prefix)
    _prefixes.add(prefix)
    return schemas


def tool_guide(prefix: str = "") -> str:
    """Return :data:`TOOL_GUIDE` with ``prefix`` before each tool's name, as :func:`tool_schemas` names them.

    Raises BadArgument as :func:`tool_schemas` does.
    """
    names = [str(schema["function"]["name"]).removeprefix(prefix) for schema in tool_schemas(prefix)]
    return re.sub(rf"(?<![a-z_])(?:{'|'.join(names)})(?![a-z_])", rf"{prefix}\g<0>", replies.tools.TOOL_GUIDE)


async def call_tool(name: str, arguments: Mapping[str, object] | str | None, scene: core.Scene) -> str:
    """Run a tool in a scene; see :meth:`MemoryToolbox.call`."""
    return await MemoryToolbox(TurnEnd(scene)).call(name, arguments)


def _find(name: object) -> tuple[str, Action | None]:
    from .tool_actions import ACTIONS  # noqa: PLC0415  # most bots give no tools to their model

    named = name if isinstance(name, str) else ""
    for tool, action in ACTIONS.items():
        if named.endswith(tool) and named.removesuffix(tool) in _prefixes:
            return tool, action
    return named, None


def _failure(error: str) -> Mapping[str, object]:
    return {"ok": False, "error": error}
