"""One turn of a bridged chat plugin: the text for its prompt, the memory's tools for its model, and its recording.

Nothing here raises: where the memory fails or is slow, the chat plugin answers without it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from nonebot.adapters import Bot, Event
from nonebot.matcher import current_bot, current_event

import cognitive_memory_core as core

from .. import replies
from ..capture_incoming import observe
from ..command_table import is_any_command
from ..config import setup
from ..event_message import find_message, plain_text
from ..lifecycle import get_memory
from ..record_end_of_turn import Source, TurnEnd, consider
from ..scene import find_scene
from ..throttled_log import complain
from ..toolbox import MemoryToolbox, tool_guide, tool_schemas
from .companions import PREFIX

PATIENCE, SHORT_PATIENCE = 15.0, 1.0  # seconds that a companion waits for the memory: as a rule, and after it was late
SHORT_FOR = 60.0  # seconds after a late call in which the patience is short: a turn makes several calls
SHOWN = 60  # characters of an answer in the memo of its turn
END = f"{PREFIX}end"
T = TypeVar("T")
_current: ContextVar[BridgedTurn | None] = ContextVar("cognitive_memory_bridged_turn", default=None)


class Patience:
    """How long a bridged chat plugin waits for a call of the memory: shorter for a while after a call was late."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with the full wait; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._is_short_until = float("-inf")

    def seconds(self) -> float:
        """Return the seconds to wait for the next call."""
        return SHORT_PATIENCE if self._clock() < self._is_short_until else PATIENCE

    def note_late(self) -> None:
        """Shorten the waits for a while, because a call was late."""
        self._is_short_until = self._clock() + SHORT_FOR


_patience = Patience()


@dataclass
class BridgedTurn:
    """A turn that a bridged chat plugin answers; ``said`` is the person's text without a command at its beginning."""

    scene: core.Scene
    said: str
    end: TurnEnd
    has_ended: bool = False
    shown: tuple[str, ...] = ()  # ids of messages that the chat plugin shows its model, with the one it answers
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
        guide = tool_guide(PREFIX) if with_tools and self.tools else ""
        return "\n\n".join(filter(None, (guide, self.context)))

    async def call(self, name: str, arguments: Mapping[str, object] | str | None) -> str:
        """Run a tool that the chat plugin's model called; return the answer as JSON text, also for a failure."""
        self.has_ended |= name == END
        answer = MemoryToolbox(self.end).call(name, arguments)
        return await quietly(answer, replies.bridges.TOOL_FAILED)

    async def answered(self, answer: object) -> None:
        """Record the turn, unless the model ended it by a call of the tool ``end`` or the answer is no text."""
        if self.has_ended or not isinstance(answer, str) or not answer.strip():
            return
        self.has_ended = True
        await quietly(self.end(replies.bridges.memo(self.scene, answer.strip()[:SHOWN])), None)
        if setup.settings.capture.auto_consider == "off":  # nothing else would ever read the lines
            await quietly(consider(self.scene), None)


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
    turn = _current.get()
    if turn is not None:
        return turn
    bot, event = current_bot.get(None), current_event.get(None)
    return await turn_of(bot, event, said) if bot is not None and event is not None else None


def current_turn() -> BridgedTurn | None:
    """Return this task's current turn, set by :func:`take` or :func:`taking`; None if there is none."""
    return _current.get()


def take(turn: BridgedTurn | None) -> None:
    """Make a turn the current one for the rest of this task."""
    _current.set(turn)


@contextmanager
def taking(turn: BridgedTurn | None) -> Iterator[None]:
    """Make a turn the current one of this task inside the ``with`` block."""
    token = _current.set(turn)
    try:
        yield
    finally:
        _current.reset(token)


def is_ours(name: object) -> bool:
    """Return whether a tool that a model called is the memory's, by the prefix of its name."""
    return isinstance(name, str) and name.startswith(PREFIX)


async def quietly(work: Awaitable[T], otherwise: T) -> T:
    """Return the result of ``work``; if it fails, is cancelled or takes too long, log that and return ``otherwise``.

    Late work is cancelled, but not waited for: a write to a disk that hangs ends when the disk answers.
    """
    task = asyncio.ensure_future(_outcome(work, otherwise))
    try:
        done, _ = await asyncio.wait({task}, timeout=_patience.seconds())
    finally:
        task.cancel()  # no effect if it is done
    if done:
        return task.result()
    _patience.note_late()
    complain(replies.bridges.FAILED.format(reason=asyncio.TimeoutError.__name__))
    return otherwise


async def _outcome(work: Awaitable[T], otherwise: T) -> T:
    try:
        return await work
    except asyncio.CancelledError:  # by the memory, which was closed meanwhile; the companion goes on
        return otherwise
    except Exception as unforeseen:  # noqa: BLE001  # a companion's answer must never depend on the memory
        complain(replies.bridges.FAILED.format(reason=type(unforeseen).__name__))
        return otherwise


async def _begun(bot: Bot, event: Event, said: str | None, shown: Sequence[Event]) -> BridgedTurn | None:
    scene = find_scene(bot, event)
    if scene is None:
        return None
    words, message = said or plain_text(event), find_message(bot, event)
    if message is not None and is_any_command(event) and words in event.get_plaintext():
        await observe(bot, event, text=words)
        message = core.Message(message.id, scene, words, message.sent_at)
    ids = tuple(one.id for other in (event, *shown) if (one := find_message(bot, other)))
    return BridgedTurn(scene, words, TurnEnd(scene, Source.of(message) if message else Source()), shown=ids)
