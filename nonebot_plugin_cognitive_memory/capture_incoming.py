"""Records messages that people send, and removes those that they withdraw.

There is no API call per message, and no exception reaches the bot.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from nonebot import on
from nonebot.adapters import Bot, Event
from nonebot.rule import Rule

import cognitive_memory_core as core

from . import heard, replies
from .auto_consider import considerer
from .command_table import chat_text, is_ours
from .config import setup
from .erasure import on_erased
from .event_message import find_message
from .left_places import note_departure, returned
from .lifecycle import get_memory, lifetime
from .lines_of_several_accounts import line_copies
from .message_text import worded
from .onebot import v11, v12
from .platform_names import platform_names
from .scene import agent_of, is_captured, line_id, qq_id, scene_at, text_id
from .throttled_log import complain


class _Recording(Rule):
    """Records messages, except commands and what the settings exclude, and acts on withdrawals and departures.

    It matches calls of ``/memory`` only, because NoneBot logs two INFO lines for each run of a handler. As a class it
    costs no task: NoneBot starts seven for each event and each rule that is a function, and one for each matcher.
    """

    async def __call__(self, bot: Bot, event: Event, *_: object) -> bool:
        kind = event.get_type()
        if kind == "message":
            await _take(bot, event)
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
    await _take(bot, event, text, is_chat=True)


async def _take(bot: Bot, event: Event, text: str | None = None, *, is_chat: bool = False) -> None:
    """Record a message that is no command; ``is_chat``: the caller says that it is chat, although it begins like one.

    A command in ``capture.chat_commands`` is chat without its name, any other chat without its command sign. A line
    that another account of this bot heard before has the id of that copy.
    """
    try:
        message = find_message(bot, event)
        if message is None or not message.text or not is_captured(message.scene):
            return
        commands = setup.settings.capture.chat_commands
        chat = chat_text(event.get_plaintext(), message.text, commands, is_chat=is_chat)
        if chat is None:
            return
        segments = getattr(event, "original_message", ())
        is_plain = all(segment.type == "text" for segment in segments)
        everybody = message.text if is_plain else worded(segments).text  # with all mentions, as each account hears it
        if message.sent_at < lifetime.started_at:  # delivered late: an earlier process may have recorded it
            near = await get_memory().recent_messages(message.scene, LATE, until=message.sent_at + AFTER)
            line_copies.note_logged(replace(message, text=chat), everybody, near)
        number = str(getattr(event, "real_seq", "") or "")
        first_id = line_copies.first_id(message, bot.self_id, everybody, number=number)
        said = chat if text is None else text.strip()
        if first_id != message.id or said != message.text:
            message = replace(message, id=first_id, text=said)
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


async def withdraw(bot: Bot, event: Event) -> None:
    """Remove from the memory a message that was withdrawn in the chat, if the event says so; a failure is logged.

    In a group, the scene's person is the bot if the sender's id is invalid.
    """
    agent, own_id, withdrawn = agent_of(bot), bot.self_id, getattr(event, "message_id", None)
    match event:
        case v11.GroupRecallNoticeEvent(group_id=group, user_id=user):
            scene = scene_at(agent, qq_id(group), qq_id(user) or own_id)
        case v11.FriendRecallNoticeEvent(user_id=user):
            scene = scene_at(agent, "", qq_id(user))
        case v12.GroupMessageDeleteEvent(group_id=group, user_id=user):
            scene = scene_at(agent, text_id(group), text_id(user) or own_id)
        case v12.PrivateMessageDeleteEvent(user_id=user):
            scene = scene_at(agent, "", text_id(user))
        case _:
            scene = None
    if scene is None:
        return
    message_id = line_copies.known_id(scene, line_id(withdrawn))
    considerer.learned(scene, (message_id,))
    try:
        await get_memory().recall_message(scene, message_id)
    except core.CognitiveMemoryError as refused:
        if get_memory().is_running:
            complain(replies.log.NOT_WITHDRAWN.format(reason=refused))
