"""Derives the scene, place and speaker, from the event alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from nonebot import get_bots, get_driver
from nonebot.adapters import Bot, Event
from nonebot.exception import SkippedException

import cognitive_memory_core as core

from . import replies
from .config import setup
from .onebot import v11, v12
from .platform_names import ADMINS, NAME_LENGTH, NICKNAME, PlatformAnswer, name_of, platform_names
from .throttled_log import complain

ID_LENGTH = 128
_accounts: set[str] = set()  # of this bot, connected now or earlier
_platforms: set[str] = set()  # of these accounts
_QQ = re.compile(r"[1-9][0-9]{4,19}", re.ASCII)


def scene_of(bot: Bot, event: Event) -> core.Scene:
    """Return the scene of an event; skip the handler if it has no person or place."""
    scene = find_scene(bot, event)
    if scene is None:
        raise SkippedException
    return scene


def find_scene(bot: Bot, event: Event) -> core.Scene | None:
    """Return the scene of an event; None for anonymous members, channels, and all accounts of this bot."""
    fields, known = fields_of(event), PlatformAnswer()
    if is_v11 := isinstance(event, v11.Event):
        if event.post_type == "message_sent" or fields.get("anonymous") or fields.get("sub_type") == "anonymous":
            return None
        identify, own_id, kind = qq_id, str(event.self_id), fields.get("message_type")
    elif isinstance(event, v12.BotEvent) and not (fields.get("guild_id") or fields.get("channel_id")):
        identify, own_id, kind = text_id, event.self.user_id, event.detail_type
    else:
        return None
    agent, sender, user = agent_of(bot), fields.get("sender"), identify(fields.get("user_id"))
    if user == own_id or user in get_bots() or user in _accounts:
        return None
    group = None if kind == "private" else fields.get("group_id")
    place = identify(group) if group or kind == "group" else ""
    named = fields.get("group_name")
    group_name = named.strip()[:NAME_LENGTH] if isinstance(named, str) else ""
    if not is_v11:  # its messages have ids only
        known = platform_names.find(agent, place or "", user or "")
        group_name = group_name or platform_names.find(agent, place or "").name
    return scene_at(
        agent,
        place,
        user,
        user_name=name_of(sender) or known.name,
        group_name=group_name,
        is_admin=getattr(sender, "role", None) in ADMINS or known.is_admin,
        nickname=name_of(sender, NICKNAME) or known.nickname,
    )


def fields_of(event: Event) -> Mapping[str, object]:
    """Return the fields of an event, also those that its adapter does not know."""
    return {**vars(event), **(event.model_extra or {})}


def scene_at(
    agent: str,
    group_id: str | None,
    user_id: str | None,
    *,
    user_name: str = "",
    group_name: str = "",
    is_admin: bool = False,
    nickname: str = "",
) -> core.Scene | None:
    """Build a scene from external ids; ``group_id`` is "" in private, None means an invalid id."""
    if not user_id or group_id is None:
        return None
    try:
        if not group_id:
            return core.Scene.private(user_id, user_name=user_name, agent=agent)
        return core.Scene.group(
            group_id,
            user_id,
            user_name=user_name,
            group_name=group_name,
            agent=agent,
            is_admin=is_admin,
            nickname=nickname,
        )
    except core.BadArgument:
        return None


def agent_of(bot: Bot) -> str:
    """Return the agent whose memory this bot uses: its own with ``isolate_bots``, else the agent in the settings."""
    return bot.self_id if setup.settings.isolate_bots else setup.settings.agent


def is_captured(scene: core.Scene) -> bool:
    """Return whether the settings allow recording this person and place."""
    return setup.settings.capture.records(scene)


def qq_id(value: object) -> str | None:
    """Return a QQ number as text; None unless it is 5 to 20 ASCII digits without sign or leading zero."""
    text = str(value) if isinstance(value, str | int) else ""
    return text if _QQ.fullmatch(text) else None


def text_id(value: object) -> str | None:
    """Return an id of OneBot v12; None unless it is text that is not empty."""
    return value if isinstance(value, str) and value else None


def line_id(value: object) -> str:
    """Return the id of a message as text; a hash of it if it is blank, too long or has control characters."""
    text = str(value)
    is_usable = 0 < len(text) <= ID_LENGTH and text.isprintable()
    return text if is_usable else f"x-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:32]}"


@get_driver().on_bot_connect
async def note_account(bot: Bot) -> None:
    """Store an account of this bot, because another of its accounts may hear what it sends, even after it disconnected.

    Warn of accounts on several platforms that share a memory: nothing tells equal ids of two platforms apart.
    """
    _accounts.add(bot.self_id)
    _platforms.add(bot.platform if isinstance(bot, v12.Bot) else "qq")
    if len(_platforms) > 1 and not setup.settings.isolate_bots:
        complain(replies.log.SEVERAL_PLATFORMS.format(platforms="、".join(sorted(_platforms))))
