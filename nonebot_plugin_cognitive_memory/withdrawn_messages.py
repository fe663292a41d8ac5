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
    """Remove from the memory a message that was withdrawn in the chat; a failure is logged."""
    found = find_withdrawal(bot, event)
    if found is None:
        return
    scene, message_id = found
    considerer.learned(scene, (message_id,))
    try:
        await get_memory().recall_message(scene, message_id)
    except core.CognitiveMemoryError as refused:
        if get_memory().is_running:
            complain(replies.log.NOT_WITHDRAWN.format(reason=refused))


def find_withdrawal(bot: Bot, event: Event) -> tuple[core.Scene, str] | None:
    """Return the scene and message id of a withdrawal event, else None.

    In a group, the scene's person is the bot if the sender's id is invalid.
    """
    agent, own_id = agent_of(bot), bot.self_id
    match event:
        case v11.GroupRecallNoticeEvent(group_id=group, user_id=user, message_id=message):
            scene = scene_at(agent, qq_id(group), qq_id(user) or own_id)
        case v11.FriendRecallNoticeEvent(user_id=user, message_id=message):
            scene = scene_at(agent, "", qq_id(user))
        case v12.GroupMessageDeleteEvent(group_id=group, user_id=user, message_id=message):
            scene = scene_at(agent, text_id(group), text_id(user) or own_id)
        case v12.PrivateMessageDeleteEvent(user_id=user, message_id=message):
            scene = scene_at(agent, "", text_id(user))
        case _:
            return None
    return (scene, line_copies.known_id(scene, line_id(message))) if scene else None
