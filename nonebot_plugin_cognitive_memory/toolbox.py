"""The memory as tools of a chat model; the dispatcher answers every call, also a malformed one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import cognitive_memory_core as core

from . import replies
from .config import setup
from .lifecycle import get_memory, lifetime
from .record_end_of_turn import TurnEnd
from .throttled_log import complain

if TYPE_CHECKING:
    Schema = core.tools.Schema
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

    async def _answer(self, name: object, written: object) -> core.tools.Answer:
        named = name if isinstance(name, str) else ""
        actions = {TURN: self._end, **core.tools.ACTIONS}
        tool = next((one for one in actions if named.endswith(one) and named.removesuffix(one) in _prefixes), None)
        if tool is None:
            return core.tools.failure(replies.tools.UNKNOWN_TOOL)
        if not (get_memory().is_running or (tool == TURN and lifetime.is_listening)):
            return core.tools.failure(replies.tools.NOT_ENABLED)
        asked = frozenset({self.end.message.id} if self.end.message else ())
        calling = caller(get_memory(), self.end.scene, setup.settings, asked)
        return await core.tools.answer(calling, tool, written, actions[tool])

    async def _end(self, _: core.tools.ToolCaller, arguments: core.tools.Arguments) -> core.tools.Answer:
        job_id = await self.end(
            arguments.text_argument("memo"),
            arguments.texts("observations"),
            perspective=arguments.text_argument("perspective") or None,
            force=arguments.flag("force"),
        )
        return {"id": job_id}


@cache
def profile_limit() -> core.tools.ProfileLimit:
    """Return the bound on whose profiles a person asks for, over all surfaces of this bot."""
    return core.tools.ProfileLimit()


def caller(
    memory: core.CognitiveMemory, scene: core.Scene, settings: core.Settings, asked: frozenset[str] = frozenset()
) -> core.tools.ToolCaller:
    """Return who calls the core's tools: a person in a place, who said the messages ``asked``."""
    too_broad = lambda who: complain(replies.log.too_broad(who))  # noqa: E731  # one call
    return core.tools.ToolCaller(memory, scene, settings, asked, profile_limit(), too_broad)


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
