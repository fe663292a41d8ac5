"""What the bridges share: checks of a chat plugin, and one turn of it with context, tools and recording.

Nothing in a turn raises: where the memory fails or is slow, the chat plugin answers without it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

from nonebot import get_loaded_plugins
from nonebot.adapters import Bot, Event
from nonebot.matcher import current_bot, current_event

import cognitive_memory_core as core

from .. import replies
from ..answer_sources import answer_sources
from ..capture import observe
from ..command_table import is_any_command
from ..config import setup
from ..heard import find_message, plain_text
from ..injected import MemoryToolbox, TurnEnd, consider, tool_guide, tool_schemas
from ..lifecycle import get_memory
from ..limits import Lasting, warn_once
from ..scene import find_scene

PREFIX = "cm_"
"""Begins the names of the memory's tools, so that they differ from those of the chat plugin's own tools."""
END = f"{PREFIX}end"
ROUNDS = 6
"""Requests in which a model may call the memory's tools before it must answer without them."""
PATIENCE, SHORT_PATIENCE = 15.0, 1.0  # seconds that a companion waits for the memory: as a rule, and after it was late
SHORT_FOR = 60.0  # seconds after a late call in which the patience is short: a turn makes several calls
SHOWN = 60  # characters of an answer in the memo of its turn
T = TypeVar("T")


class NotAttachedError(Exception):
    """The bridge to a chat plugin was not attached; the message is the reason in Chinese.

    The chat plugin runs as usual, but without this memory.
    """


def checked(module: str, tried: Mapping[str, str]) -> str:
    """Return the version of the first of a chat plugin's distributions; ``module`` "" is not looked for.

    Raises NotAttachedError unless the plugin is loaded, in versions that match ``tried``.
    """
    if module and not any(plugin.module_name == module for plugin in get_loaded_plugins()):
        raise NotAttachedError(replies.chat_plugins.NOT_LOADED.format(module=module))
    specifiers: Any = import_module("packaging.specifiers")  # needed only by bridges
    versions: list[str] = []
    for distribution, specifier in tried.items():
        try:
            versions.append(version(distribution))
            is_tried = specifiers.SpecifierSet(specifier).contains(versions[-1], prereleases=True)
        except PackageNotFoundError:
            versions.append(replies.chat_plugins.NO_VERSION)
            is_tried = False
        if not is_tried:
            tried_here = specifier.removeprefix("==")
            raise NotAttachedError(
                replies.chat_plugins.UNTRIED.format(distribution=distribution, found=versions[-1], tried=tried_here)
            )
    return versions[0]


def part_of(module: str, name: str, parameters: tuple[str, ...] = ()) -> Any:
    """Return the attribute ``name`` of a chat plugin's module; "Class.method" is a method.

    Raises NotAttachedError if it is missing, or is a function that lacks one of ``parameters``.
    """
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
    except (ImportError, AttributeError) as missing:
        raise NotAttachedError(replies.chat_plugins.MISSING_PART.format(part=f"{module}.{name}")) from missing
    if parameters and not set(parameters) <= set(inspect.signature(getattr(found, "__func__", found)).parameters):
        lacking = f"{module}.{name}({', '.join(parameters)})"
        raise NotAttachedError(replies.chat_plugins.MISSING_PART.format(part=lacking))
    return found


@dataclass
class BridgedTurn:
    """A turn that a bridged chat plugin answers; ``said`` is the person's text without a command at its beginning."""

    scene: core.Scene
    said: str
    end: TurnEnd
    has_ended: bool = False
    shown: tuple[str, ...] = ()  # ids of messages that the chat plugin shows its model, the one it answers first
    context: str | None = None  # built once: a turn may ask its model several times

    @property
    def tools(self) -> list[core.tools.Schema]:
        """Return the memory's tools as OpenAI's ``tools`` list; empty while no memory is open."""
        return tool_schemas(PREFIX) if get_memory().is_running else []

    async def block(self, *, with_tools: bool = False) -> str:
        """Return the text to add to the model's prompt: the context, after the guide to the tools if ``with_tools``.

        The context is missing if the memory has nothing for this turn or fails.
        """
        if self.context is None:
            built = await quietly(get_memory().context(self.scene, self.said, shown=self.shown or None), None)
            self.context = built.text if built else ""
            if built and self.shown:
                answer_sources.note_context(self.scene, self.shown[0], built)
        guide = tool_guide(PREFIX) if with_tools and self.tools else ""
        return "\n\n".join(filter(None, (guide, self.context)))

    async def call(self, name: str, arguments: Mapping[str, object] | str | None) -> str:
        """Run a tool that the chat plugin's model called; return the answer as JSON text, also for a failure."""
        self.has_ended |= name == END
        return await quietly(MemoryToolbox(self.end).call(name, arguments), replies.chat_plugins.TOOL_FAILED)

    async def answered(self, answer: object) -> None:
        """Record the turn, unless the model ended it by a call of the tool ``end`` or the answer is no text."""
        if self.has_ended or not isinstance(answer, str) or not answer.strip():
            return
        self.has_ended = True
        name, said = self.scene.user_name or "QQ", answer.strip()[:SHOWN]
        memo = replies.chat_plugins.MEMO.format(name=name, user_id=self.scene.user_id, answer=said)
        await quietly(self.end(memo), None)
        if setup.settings.capture.auto_consider == "off":  # nothing else would ever read the lines
            await quietly(consider(self.scene), None)


current: ContextVar[BridgedTurn | None] = ContextVar("cognitive_memory_bridged_turn", default=None)
"""The turn that this task answers, if a bridge has set it."""


@contextmanager
def taking(turn: BridgedTurn | None) -> Iterator[None]:
    """Make a turn the current one of this task inside the ``with`` block."""
    token = current.set(turn)
    try:
        yield
    finally:
        current.reset(token)


async def turn_of(
    bot: Bot, event: Event, said: str | None = None, *, shown: Sequence[Event] = ()
) -> BridgedTurn | None:
    """Return the turn that answers an event; None if the event has no person or the memory fails.

    A line that begins with a command is recorded here as ``said``, because capture leaves commands out. ``shown`` are
    the events whose messages the chat plugin shows its model itself; the context does not quote them.
    """
    return await quietly(_begun(bot, event, said, shown), None)


async def running_turn(said: str | None = None) -> BridgedTurn | None:
    """Return this task's current turn, else the turn of the event that NoneBot is handling in this task, else None."""
    turn, bot, event = current.get(), current_bot.get(None), current_event.get(None)
    if turn is not None or bot is None or event is None:
        return turn
    return await turn_of(bot, event, said)


async def _begun(bot: Bot, event: Event, said: str | None, shown: Sequence[Event]) -> BridgedTurn | None:
    scene = find_scene(bot, event)
    if scene is None:
        return None
    words, message = said or plain_text(event), find_message(bot, event)
    if message is not None and is_any_command(event.get_plaintext().lstrip()) and words in event.get_plaintext():
        await observe(bot, event, text=words)
        message = core.Message(message.id, scene, words, message.sent_at)
    ids = tuple(one.id for other in (event, *shown) if (one := find_message(bot, other)))
    return BridgedTurn(scene, words, TurnEnd(scene, message, text=""), shown=ids)


_late: Lasting[str, bool] = Lasting(SHORT_FOR, 1)


async def quietly(work: Awaitable[T], otherwise: T) -> T:
    """Return the result of ``work``; if it fails, is cancelled or takes too long, log that and return ``otherwise``.

    Late work is cancelled, but not waited for: a write to a disk that hangs ends when the disk answers.
    """

    async def outcome() -> T:
        try:
            return await work
        except asyncio.CancelledError:  # by the memory, which was closed meanwhile; the companion goes on
            return otherwise
        except Exception as unforeseen:  # noqa: BLE001  # a companion's answer must never depend on the memory
            warn_once(replies.chat_plugins.FAILED.format(reason=type(unforeseen).__name__))
            return otherwise

    task = asyncio.ensure_future(outcome())
    try:
        done, _ = await asyncio.wait({task}, timeout=SHORT_PATIENCE if _late.find("late") else PATIENCE)
    finally:
        task.cancel()  # no effect if it is done
    if done:
        return task.result()
    _late.put("late", True)  # a value
    warn_once(replies.chat_plugins.FAILED.format(reason=asyncio.TimeoutError.__name__))
    return otherwise


def with_block(messages: Sequence[Any], block: str) -> list[Any]:
    """Return the messages with the memory's text appended to a leading system message of text, else in a new one."""
    first = messages[0] if messages else None
    if block and isinstance(first, Mapping) and first.get("role") == "system" and isinstance(first.get("content"), str):
        return [{**first, "content": f"{first['content']}\n\n{block}".strip()}, *messages[1:]]
    return [*([{"role": "system", "content": block}] if block else []), *messages]


def is_ours(call: Any) -> bool:
    """Return whether a tool call of a model is of the memory, by its name; OpenAI's other tools name no function."""
    name = getattr(getattr(call, "function", None), "name", None)
    return isinstance(name, str) and name.startswith(PREFIX)


async def run_ours(turn: BridgedTurn, choice: Any) -> list[Any]:
    """Run the memory's tools that the model calls in ``choice``; return the messages to add before asking it again.

    Empty if it calls none of them, or if it answers in words and only ends the turn. Calls of the chat plugin's tools
    in the same choice are removed: the model repeats them after it has read the results.
    """
    message = choice.message
    if await end_in_words(turn, choice) or not (ours := [call for call in message.tool_calls or () if is_ours(call)]):
        return []
    message.tool_calls = ours
    told = [(call.id, await turn.call(call.function.name, call.function.arguments)) for call in ours]
    answers = [{"role": "tool", "tool_call_id": call_id, "content": answer} for call_id, answer in told]
    return [message.model_dump(exclude_none=True), *answers]


async def end_in_words(turn: BridgedTurn, choice: Any) -> bool:
    """If a choice has text and calls only the tool ``end``, run these calls, remove them and return True.

    With the calls left in, the chat plugin would ask the model once more, and the model would answer a second time.
    """
    message = choice.message
    calls = getattr(message, "tool_calls", None) or []
    if not (message.content and calls and all(is_ours(call) and call.function.name == END for call in calls)):
        return False
    for call in calls:
        await turn.call(END, call.function.arguments)
    message.tool_calls = None
    if hasattr(choice, "finish_reason"):
        choice.finish_reason = "stop"
    return True
