"""What chat plugins use: types that they inject, the turns that they end, and the memory as tools of a chat model."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any

from nonebot.adapters import Bot, Event
from nonebot.params import Depends

import cognitive_memory_core as core

from . import replies
from .answer_sources import answer_sources
from .auto_consider import considerer
from .config import setup
from .heard import find_message, plain_text
from .lifecycle import get_memory, lifetime
from .limits import warn_once
from .onebot import cleaned
from .scene import find_scene, scene_of

if TYPE_CHECKING:
    Schema = core.tools.Schema


@dataclass(frozen=True)
class TurnEnd:
    """Records finished turns of one scene.

    A turn answers ``message``; without one, the asker's newest line with this ``text``, or the newest if there is none.
    With the text "" it answers no line.
    """

    scene: core.Scene
    message: core.Message | None = None
    text: str | None = None

    async def __call__(
        self,
        memo: str = "",
        observations: Iterable[str] = (),
        *,
        perspective: str | None = None,
        force: bool = False,
    ) -> str | None:
        """Record a turn; return the id of its job, or None if the turn was refused or the memory failed.

        Errors of the memory are logged, not raised. ``perspective`` and ``force`` are those of ``Turn``.
        """
        async with lifetime.in_order() as memory:
            lines: list[core.Message] = []  # enough of the log to find the answered line and those before it
            with suppress(core.CognitiveMemoryError):
                lines = await memory.recent_messages(self.scene, 2 * setup.settings.historian.recent_messages_inject_k)
            answered = self._answered(lines)
            ids = (answered.id,) if answered else ()
            try:
                turn = core.Turn(
                    self.scene,
                    memo=_text(memo),
                    observations=_texts(observations),
                    perspective=perspective or None,
                    force=bool(force),
                    source_message=answered.text if answered else self.text or "",
                    recent_messages=_lines_before(lines, answered),
                    message_ids=ids,
                    happened_at=answered.sent_at if answered else None,
                )
                job_id = await memory.remember(turn)
            except core.CognitiveMemoryError as refused:
                warn_once(replies.log.NOT_RECORDED.format(reason=replies.log.reason_of(refused)))
                return None
        if job_id is not None and turn.observations:  # a memo states what was done, not what was learned
            considerer.drop_learned(self.scene, ids)
        return job_id

    def _answered(self, lines: list[core.Message]) -> core.Message | None:
        """Return the answered line, whose id tells the memory that the recorded turn covers it; None if unknown."""
        if self.message is not None or self.text == "":
            return self.message
        own = (line for line in reversed(lines) if not line.is_bot and line.scene.user_id == self.scene.user_id)
        return next((line for line in own if self.text is None or line.text == self.text.strip()), None)


async def record_end(  # the public signature is part of the contract
    scene: core.Scene,
    memo: str = "",
    observations: Iterable[str] = (),
    *,
    perspective: str | None = None,
    force: bool = False,
    source_message: str | None = None,
) -> str | None:
    """Record a finished turn of a scene; without ``source_message`` it answers the asker's newest line there.

    Return the job's id, None if nothing was queued. Errors of the memory are logged, not raised.
    """
    text = None if source_message is None else _text(source_message)
    return await TurnEnd(scene, text=text)(memo, observations, perspective=perspective, force=force)


async def consider(scene: core.Scene) -> str | None:
    """Hand in the recent lines of a scene that are in no turn, dialogue or event yet.

    Return the job's id, None if no line is new or the memory refused.
    """
    try:
        return await submit_dialogue(scene)
    except core.CognitiveMemoryError:
        return None


async def submit_dialogue(scene: core.Scene) -> str | None:
    """Hand in the same lines as :func:`consider`; return None if none is new; log a refusal and raise it."""
    async with lifetime.in_order() as memory:
        try:
            lines = await memory.recent_messages(scene, setup.settings.capture.consider_every)
            new = await considerer.unlearned(memory, scene, lines)
            job_id = await memory.consider(scene, new) if new else None
        except core.CognitiveMemoryError as refused:
            warn_once(replies.log.NOT_CONSIDERED.format(reason=replies.log.reason_of(refused)))
            raise
    considerer.drop_learned(scene, [line.id for line in new])
    return job_id


def _lines_before(lines: list[core.Message], answered: core.Message | None) -> tuple[core.Message, ...]:
    """Return the lines before the answered line, which is found by its id; all lines if it is not among them.

    If the answered line is a reply, it comes last, and the line to which it replies is included, however old.
    """
    at = next((index for index, line in enumerate(lines) if answered and line.id == answered.id), len(lines))
    before = lines[:at]
    if at == len(lines) or not lines[at].reply_to:
        return tuple(before)
    room = max(setup.settings.historian.recent_messages_inject_k - 2, 0)
    cut, kept = before[: max(at - room, 0)], before[max(at - room, 0) :]
    return (*(line for line in cut if line.id == lines[at].reply_to), *kept, lines[at])


def _text(value: Any) -> Any:
    """Clean a text; any other value is left for the core to reject."""
    return cleaned(value) if isinstance(value, str) else value or ""


def _texts(values: Any) -> tuple[Any, ...]:
    is_many = isinstance(values, Iterable) and not isinstance(values, str | dict)
    return tuple(map(_text, values)) if is_many else (_text(values),)


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
        actions = {TURN: self.end_turn, **core.tools.ACTIONS}
        tool = next((one for one in actions if named.endswith(one) and named.removesuffix(one) in _prefixes), None)
        if tool is None:
            return core.tools.failure(replies.chat_plugins.UNKNOWN_TOOL)
        if not (get_memory().is_running or (tool == TURN and lifetime.is_listening)):
            return core.tools.failure(replies.chat_plugins.NOT_ENABLED)
        asked = frozenset({self.end.message.id} if self.end.message else ())
        calling = caller(get_memory(), self.end.scene, setup.settings, asked)
        return await core.tools.answer(calling, tool, written, actions[tool])

    async def end_turn(
        self,
        _: core.tools.ToolCaller,
        memo: core.tools.Text = "",
        observations: core.tools.Texts = (),
        perspective: core.tools.Text = "",
        force: core.tools.Flag = False,
    ) -> core.tools.Answer:
        """End the turn as the tool; its parameters are the tool's schema."""
        return {"id": await self.end(memo, observations, perspective=perspective or None, force=force)}


@cache
def profile_limit() -> core.tools.ProfileLimit:
    """Return the bound on whose profiles a person asks for, over all surfaces of this bot."""
    return core.tools.ProfileLimit()


def caller(
    memory: core.CognitiveMemory, scene: core.Scene, settings: core.Settings, asked: frozenset[str] = frozenset()
) -> core.tools.ToolCaller:
    """Return who calls the core's tools: a person in a place, who said the messages ``asked``."""
    too_broad = lambda who: warn_once(replies.log.too_broad(who))  # noqa: E731  # one call
    return core.tools.ToolCaller(memory, scene, settings, asked, profile_limit(), too_broad)


def tool_schemas(prefix: str = "") -> list[Schema]:
    """Return OpenAI's ``tools`` list with ``prefix`` before each name; :func:`call_tool` accepts such names.

    Raises BadArgument for a prefix with characters other than letters, digits, "_" and "-", or if a name becomes longer
    than 64 characters.
    """
    schemas = core.tools.function_schemas({TURN: MemoryToolbox.end_turn, **core.tools.ACTIONS}, prefix)
    _prefixes.add(prefix)
    return schemas


def tool_guide(prefix: str = "") -> str:
    """Return :data:`TOOL_GUIDE` with ``prefix`` before each tool's name, as :func:`tool_schemas` names them.

    Raises BadArgument as :func:`tool_schemas` does.
    """
    names = [str(schema["function"]["name"]).removeprefix(prefix) for schema in tool_schemas(prefix)]
    return re.sub(rf"(?<![a-z_])(?:{'|'.join(names)})(?![a-z_])", rf"{prefix}\g<0>", replies.chat_plugins.TOOL_GUIDE)


async def call_tool(name: str, arguments: Mapping[str, object] | str | None, scene: core.Scene) -> str:
    """Run a tool in a scene; see :meth:`MemoryToolbox.call`."""
    return await MemoryToolbox(TurnEnd(scene)).call(name, arguments)


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
        answer_sources.note_context(here, message.id, built)
    return built


async def memory_context(bot: Bot, event: Event) -> core.Context:
    """Build the context of the event's message; if the event has no person, return an empty one."""
    scene = find_scene(bot, event)
    return await personal_context(scene, bot, event) if scene else core.Context("", (), 0, ())


async def turn_end(here: CurrentScene, bot: Bot, event: Event) -> Callable[..., Awaitable[str | None]]:
    """Return ``record_end`` for this event: it records the answer to this message as a finished turn."""
    return TurnEnd(here, find_message(bot, event), text="")


async def memory_tools(end: Annotated[TurnEnd, Depends(turn_end)]) -> MemoryToolbox:
    """Return the tools, bound to the event."""
    return MemoryToolbox(end)


def _bound(operation: Callable[[], Callable[..., Awaitable[Any]]]) -> Any:
    """Depend on an operation, which is looked up for each event, with the event's scene bound to it."""

    async def bound(here: CurrentScene) -> Callable[..., Awaitable[Any]]:
        return partial(operation(), here)

    return Depends(bound)


Memory = Annotated[core.CognitiveMemory, Depends(running_memory)]
"""The running memory."""
MemoryContext = Annotated[core.Context, Depends(memory_context)]
"""The block for the model, built for the event's message; empty for an event without a person."""
PersonalContext = Annotated[core.Context, Depends(personal_context)]
"""The same block; a handler with it is skipped for an event without a person."""
RecordEnd = Annotated[Callable[..., Awaitable[str | None]], Depends(turn_end)]
"""``await record_end(memo="", observations=(), *, perspective=None, force=False)``"""
Consider = Annotated[Callable[..., Awaitable[str | None]], _bound(lambda: consider)]
"""``await consider()``: the recent dialogue of this scene."""
SearchEvents = Annotated[Callable[..., Awaitable[list[core.Hit]]], _bound(lambda: get_memory().search_events)]
"""``await search_events(query, ...)`` in this scene."""
GetProfile = Annotated[Callable[..., Awaitable[core.Profile | None]], _bound(lambda: get_memory().get_profile)]
"""``await get_profile(entity_type, entity_id)`` in this scene."""
SearchProfiles = Annotated[
    Callable[..., Awaitable[list[core.ProfileHit]]], _bound(lambda: get_memory().search_profiles)
]
"""``await search_profiles(query, ...)`` in this scene."""
MemoryTools = Annotated[MemoryToolbox, Depends(memory_tools)]
"""``.schemas`` and ``await tools.call(name, arguments)``"""
