"""Removes messages that people withdrew in the chat: from the log, from queued jobs and from events."""

from __future__ import annotations

from nonebot.adapters import Bot, Event

import cognitive_memory_core as core

from . import replies
from .auto_consider import considerer
from .lifecycle import get_memory
from .lines_of_several_accounts import line_copies
from .onebot import v11, v12
from .scene import agent_of, line_id, qq_id, scene_at, text_id
from .throttled_log import complain


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
