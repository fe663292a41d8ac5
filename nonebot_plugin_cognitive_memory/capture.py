"""Records what people and the bot say, and removes what is withdrawn.

There is no API call per message, and no exception reaches the bot. Replies to ``/memory`` are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from typing import Any
from uuid import uuid4

from nonebot import on_message
from nonebot.adapters import Bot, Event
from nonebot.compat import type_validate_python
from nonebot.matcher import current_bot, current_event
from nonebot.rule import Rule

import cognitive_memory_core as core

from . import heard, replies
from .announcing import announce
from .answer_sources import answer_sources
from .auto_consider import considerer
from .command_table import chat_text
from .config import setup
from .erasure import on_erased
from .heard import find_message, sent_at
from .left_places import note_return
from .lifecycle import lifetime
from .limits import warn_once
from .line_copies import line_copies
from .onebot import FORWARDED, Wording, v11, v12, worded
from .scene import agent_of, find_scene, is_captured, line_id, platform_names, qq_id, scene_at, text_id

SENDING = frozenset({"send_msg", "send_group_msg", "send_private_msg", "send_message"})
FORWARDING = frozenset({"send_forward_msg", "send_group_forward_msg", "send_private_forward_msg"})
_unrecorded: ContextVar[bool] = ContextVar("cognitive_memory_unrecorded", default=False)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Record no message that the bot sends during the ``with`` block."""
    token = _unrecorded.set(True)
    try:
        yield
    finally:
        _unrecorded.reset(token)


@Bot.on_called_api
async def record_sent(bot: Bot, exception: Exception | None, api: str, data: dict[str, Any], result: Any) -> None:
    """Record a message that the bot sent; ignores failed and other API calls. Never raises."""
    if exception is not None or api not in SENDING | FORWARDING or _unrecorded.get() or not lifetime.is_listening:
        return
    try:
        event: Event | None = current_event.get(None)
        asker = find_scene(bot, event) if event is not None and current_bot.get(None) is bot else None
        kind, sent = v12.Message if isinstance(bot, v12.Bot) else v11.Message, data.get("message")
        wording = worded(type_validate_python(kind, () if sent is None else sent))
        message = _own_message(bot, data, result, FORWARDED if api in FORWARDING else wording.text, asker)
        if message is None:
            return
        asked = find_message(bot, event) if event is not None and asker is not None else None
        answer_sources.note_answer(message.scene, asked.id if asked else "", message.id)
        if not message.text or not is_captured(message.scene):
            return
        addressed = _addressed(message, wording, asker, event)

        async def keep(memory: core.CognitiveMemory) -> None:
            if await _record(memory, message, addressed) and event is not None and message.scene == asker:
                with unrecorded():
                    await announce(bot, event, message.scene)

        await lifetime.hand_in(keep)
    except Exception as unforeseen:  # noqa: BLE001  # capture must never cost a reply
        warn_once(replies.log.NOT_CAPTURED.format(reason=type(unforeseen).__name__))


def _own_message(
    bot: Bot, data: Mapping[str, Any], result: object, text: str, asker: core.Scene | None
) -> core.Message | None:
    """Return the message that an API call sent; None if the call names no place.

    Its scene is the asker's if it goes to the asker's place, else that of the place. Like OneBot v11's event times, its
    time is in whole seconds there, so that answers sort after questions.
    """
    is_v12 = isinstance(bot, v12.Bot)
    agent, identify = agent_of(bot), text_id if is_v12 else qq_id
    if data.get("channel_id") or data.get("guild_id"):
        return None
    if "private" in (data.get("message_type"), data.get("detail_type")) or not data.get("group_id"):
        scene = scene_at(agent, "", identify(data.get("user_id")))
    else:
        scene = scene_at(agent, identify(data["group_id"]), bot.self_id)
    if scene is None:
        return None
    message_id = result.get("message_id") if isinstance(result, Mapping) else None
    own_id = line_id(message_id) if message_id else f"bot-{uuid4().hex}"
    now = datetime.now(timezone.utc)
    return core.Message(
        own_id,
        asker if asker is not None and asker.scope == scene.scope else scene,
        text,
        now if is_v12 else now.replace(microsecond=0),
        is_bot=True,
    )


def _addressed(
    message: core.Message, wording: Wording, asker: core.Scene | None, event: Event | None
) -> list[tuple[core.Scene, datetime]]:
    """Return whom a message of the bot answers or mentions, each with the time for which consent is asked.

    It is the time of the answered line, not of the answer: the answer to an incognito line may come after incognito has
    ended, from another task, or as a reply.
    """
    here, addressed = message.scene, list[tuple[core.Scene, datetime]]()
    if asker is not None and asker.scope == here.scope and isinstance(event, v11.Event | v12.Event):
        addressed.append((asker, sent_at(event)))
    if answered := heard.find_line(here, line_copies.known_id(here, line_id(wording.reply_to or ""))):
        addressed.append(answered)
    mentioned = (scene_at(here.agent, here.group_id, user_id) for user_id in wording.mentioned if here.group_id)
    return addressed + [(scene, message.sent_at) for scene in mentioned if scene]


async def _record(
    memory: core.CognitiveMemory, message: core.Message, people: Iterable[tuple[core.Scene, datetime]]
) -> bool:
    """Record a message, and let it be considered, if each of ``people`` may be recorded; return whether it was."""
    if not memory.is_running or not all([await memory.may_record(scene, at) for scene, at in people]):
        return False
    await memory.observe(message)
    considerer.note(message)
    return True


class _Recording(Rule):
    """Records messages, except commands and what the settings exclude.

    It matches nothing, because NoneBot logs two INFO lines for each run of a handler. As a class it costs no task:
    NoneBot starts seven for each event and each rule that is a function, and one for each matcher.
    """

    async def __call__(self, bot: Bot, event: Event, *_: object) -> bool:
        """Record a message."""
        await _take(bot, event)
        return False


on_message(priority=1, block=False).rule = _Recording()


async def name_earlier_lines(scene: core.Scene, heard_at: datetime) -> None:
    """Give the memory a name that the platform returned after the line at ``heard_at`` was recorded.

    If that fails, the name comes with the person's next line.
    """
    heard.note_name(scene)
    with suppress(core.CognitiveMemoryError):
        async with lifetime.in_order() as memory:
            await memory.note_name(scene, heard_at)


on_erased(platform_names.forget)
platform_names.on_named = name_earlier_lines


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
        number = str((event.model_extra or {}).get("real_seq") or "")
        first_id = line_copies.first_id(message, bot.self_id, everybody, number=number)
        said = chat if text is None else text.strip()
        if first_id != message.id or said != message.text:
            message = replace(message, id=first_id, text=said)
        heard.note_line(message)
        await note_return(message.scene)
        if isinstance(bot, v12.Bot):
            platform_names.ask(bot, message.scene, message.sent_at)
        if message.text:
            people = [(message.scene, message.sent_at)]
            await lifetime.hand_in(partial(_record, message=message, people=people))
    except Exception as unforeseen:  # noqa: BLE001  # capture must never cost the bot an event
        warn_once(replies.log.NOT_CAPTURED.format(reason=type(unforeseen).__name__))


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
    async with lifetime.in_order() as memory:
        considerer.drop_learned(scene, (message_id,))
        try:
            await memory.recall_message(scene, message_id)
        except core.CognitiveMemoryError as refused:
            if memory.is_running:
                warn_once(replies.log.NOT_WITHDRAWN.format(reason=refused))
