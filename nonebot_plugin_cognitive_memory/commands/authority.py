"""Decides who may act on other people's memories; the sender's role that an event states is not trusted."""

from __future__ import annotations

import time
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from nonebot.adapters import Bot, Event
from nonebot.compat import type_validate_python
from nonebot.exception import AdapterException
from nonebot.permission import SUPERUSER

from .. import replies
from ..onebot import v11, v12
from ..platform_names import ADMINS, role_of
from ..throttled_log import complain

REPLAY = 300.0  # seconds after which a message is no call any more


async def objection(bot: Bot, event: Event, refusal: str = replies.commands.NOT_YOURS) -> str:
    """Return why the sender may not act on what others said here; "" if allowed.

    Superusers may, and admins of the group if the platform confirms their role now. The platform must also have the
    same message, because over HTTP anybody who can reach the port could forge the event.
    """
    if not await SUPERUSER(bot, event):
        is_admin = await find_admin(bot, event)
        if not is_admin:
            return refusal if is_admin is False else replies.commands.ADMIN_UNKNOWN
    return await _forgery(bot, event)


async def superuser_objection(bot: Bot, event: Event) -> str:
    """Return why the sender may not use a superuser's command; "" if allowed."""
    return await _forgery(bot, event) if await SUPERUSER(bot, event) else replies.commands.SUPERUSERS_ONLY


async def find_admin(bot: Bot, event: Event) -> bool | None:
    """Return whether the sender is owner or admin of the group; None if the platform does not tell."""
    if isinstance(event, v12.GroupMessageEvent):
        return await _is_admin_of_twelve(bot, event)
    if not isinstance(event, v11.GroupMessageEvent) or event.anonymous is not None:
        return False
    try:
        member = await bot.call_api(
            "get_group_member_info", group_id=event.group_id, user_id=event.user_id, no_cache=True
        )
    except AdapterException:
        return None
    return isinstance(member, dict) and member.get("role") in ADMINS


async def _is_admin_of_twelve(bot: Bot, event: v12.GroupMessageEvent) -> bool | None:
    """Return whether a OneBot v12 platform calls the sender an admin; None if it tells no role (an extension)."""
    try:
        member = await bot.call_api("get_group_member_info", group_id=event.group_id, user_id=event.user_id)
    except AdapterException:
        return None
    role = role_of(bot, member)
    return role in ADMINS if role else None


async def contradiction(bot: Bot, event: Event) -> str:
    """Return why a call about the sender's own data is refused, because the platform has another message by this id.

    "" if it has the same one. A platform that cannot return messages counts as agreeing, so that people can always
    reach their own data.
    """
    if isinstance(event, v11.MessageEvent):
        with suppress(AdapterException):
            stored = await bot.call_api("get_msg", message_id=event.message_id)
            return "" if _agrees(event, stored) else replies.commands.UNPROVEN
    return ""


async def _forgery(bot: Bot, event: Event) -> str:
    if not _is_platform(bot):
        complain(replies.log.IMPERSONABLE)
        return replies.commands.UNPROVEN
    if await _is_genuine(bot, event):
        return ""
    complain(replies.log.FORGEABLE if isinstance(bot, v11.Bot) else replies.log.FORGEABLE_TWELVE)
    return replies.commands.UNPROVEN


async def _is_genuine(bot: Bot, event: Event) -> bool:
    """Return whether the platform has this message; if it cannot tell, whether a secret guards against forgery."""
    if isinstance(event, v11.MessageEvent):
        try:
            return _agrees(event, await bot.call_api("get_msg", message_id=event.message_id))
        except AdapterException:
            return _is_guarded(bot, "onebot_v11_secret", "onebot_secret")
    return _is_guarded(bot, "onebot_v12_access_token", "onebot_access_token")


def _is_platform(bot: Bot) -> bool:
    """Return whether an access token ensures that nobody else can connect as the platform and confirm forged messages.

    True for OneBot v12: :func:`_is_genuine` checks its access token.
    """
    is_v11 = isinstance(bot, v11.Bot)
    return not is_v11 or _is_guarded(bot, "onebot_v11_access_token", "onebot_access_token")


def _agrees(event: v11.MessageEvent, message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("sender"), dict):
        return False
    group = message.get("group_id") or getattr(event, "group_id", None)
    return (
        str(message["sender"].get("user_id")) == str(event.user_id)
        and str(group) == str(getattr(event, "group_id", group))
        and message.get("message_type", event.message_type) == event.message_type
        and abs(event.time - _seconds(message.get("time"), event.time)) <= REPLAY
        and abs(time.time() - _seconds(message.get("time"), time.time())) <= REPLAY
        and _plain(message.get("message")) == _plain(event.original_message)
    )


def _plain(message: object) -> tuple[str, list[str]] | None:
    """Return the text and the mentions of a message; None if it is no message."""
    try:
        parts = type_validate_python(v11.Message, message)
    except ValueError:
        return None
    return parts.extract_plain_text().strip(), [str(part.data.get("qq")) for part in parts if part.type == "at"]


def _seconds(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _is_guarded(bot: Bot, *secrets: str) -> bool:
    config = bot.config
    return any(getattr(config, name, None) for name in secrets) or ip_address(str(config.host)).is_loopback
