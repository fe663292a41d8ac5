"""Records messages that people send: no API call per message, and no exception reaches the bot."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from nonebot import on
from nonebot.adapters import Bot, Event
from nonebot.rule import Rule

import cognitive_memory_core as core

from . import heard, replies
from .auto_consider import considerer
from .command_table import is_any_command, is_ours, unsigned, words_after
from .config import setup
from .erasure import on_erased
from .event_message import as_everybody_hears, find_message
from .left_places import note_departure, returned
from .lifecycle import get_memory, lifetime
from .lines_of_several_accounts import line_copies
from .onebot import v12
from .platform_names import platform_names
from .scene import is_captured
from .throttled_log import complain
from .withdrawn_messages import withdraw


class _Recording(Rule):
    """Records a person's message, unless it is a command or excluded by the settings; takes notice of what goes.

    It matches calls of ``/memory`` only, because NoneBot logs two INFO lines for each run of a handler. As a class it
    costs no task: NoneBot starts seven for each event and each rule that is a function, and one for each matcher.
    """

    async def __call__(self, bot: Bot, event: Event, *_: object) -> bool:
        kind = event.get_type()
        if kind == "message":
            await _take(bot, event, is_left_out=_is_no_chat)
            return is_ours(event.get_plaintext())
        if kind == "notice":
            await withdraw(bot, event)
            await note_departure(bot, event)
        return False


LATE, AFTER = 100, timedelta(seconds=2)  # lines of the log before a line that was delivered late, and after its time
hearing = on(priority=0, block=True)  # before chat plugins, whose default priority is 1
hearing.rule = _Recording()


async def name_earlier_lines(scene: core.Scene, heard_at: datetime) -> None:
    """Give the memory a name that the platform returned after the line at ``heard_at`` was recorded.

    If that fails, the name comes with the person's next line.
    """
    heard.note_name(scene)
    with suppress(core.CognitiveMemoryError):
        async with lifetime.in_order() as memory:
            await memory.note_name(scene, heard_at)


on_erased(platform_names.forget)
platform_names.on_named(name_earlier_lines)


async def observe(bot: Bot, event: Event, *, text: str | None = None) -> None:
    """Record a message that is chat although it begins with a command; called by chat plugins.

    The command's sign is left out. A plugin that knows the text after its command's name passes it as ``text``.
    Settings and consent apply as for any message. Calls of ``/memory``, and events without a message, are ignored.
    Never raises.
    """
    await _take(bot, event, text, is_left_out=lambda event: is_ours(event.get_plaintext().lstrip()))


async def _take(bot: Bot, event: Event, text: str | None = None, *, is_left_out: Callable[[Event], bool]) -> None:
    try:
        message = find_message(bot, event)
        if message is None or not message.text or not is_captured(message.scene) or is_left_out(event):
            return
        line_id = await _first_id(message, bot.self_id, event)
        message = replace(message, id=line_id, text=_chat_of(message.text) if text is None else text.strip())
        heard.note_line(message)
        await returned(message.scene)
        if isinstance(bot, v12.Bot):
            platform_names.ask(bot, message.scene, message.sent_at)
        if message.text:
            memory = get_memory()
            await memory.observe(message)
            if not memory.is_running or await memory.may_record(message.scene, message.sent_at):
                considerer.note(message)
    except Exception as unforeseen:  # noqa: BLE001  # capture must never cost the bot an event
        complain(replies.log.NOT_CAPTURED.format(reason=type(unforeseen).__name__))


async def _first_id(message: core.Message, account: str, event: Event) -> str:
    """Return the id of a line's first copy if another account of this bot heard it before, else its own."""
    words, number = as_everybody_hears(event), str(getattr(event, "real_seq", "") or "")
    if message.sent_at < lifetime.started_at:  # delivered late: an earlier process may have recorded it
        near = await get_memory().recent_messages(message.scene, LATE, until=message.sent_at + AFTER)
        line_copies.note_logged(replace(message, text=_chat_of(message.text)), words, near)
    return line_copies.first_id(message, account, words, number=number)


def _is_no_chat(event: Event) -> bool:
    """Return whether a message is a command, other than those that ``capture.chat_commands`` counts as chat."""
    if not is_any_command(event):
        return False
    text = event.get_plaintext().lstrip()
    return is_ours(text) or words_after(text, setup.settings.capture.chat_commands) is None


def _chat_of(text: str) -> str:
    """Return a text without its command sign; a command in ``capture.chat_commands`` loses its name too."""
    words = words_after(text, setup.settings.capture.chat_commands)
    return unsigned(text) if words is None else words
