"""Decides who may act on other people's memories; the sender's role that an event states is not trusted."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

from nonebot.adapters import Bot, Event
from nonebot.compat import type_validate_python
from nonebot.exception import AdapterException
from nonebot.permission import SUPERUSER

from .. import replies
from ..onebot import v11, v12
from ..scene import ADMINS, role_of
from ..throttled_log import complain

REPLAY = 300.0  # seconds after which a message is no call any more


async def objection(
    bot: Bot, event: Event, refusal: str = replies.commands.NOT_YOURS, roles: Collection[str] = ADMINS
) -> str:
    """Return why the sender may not act on what others said here; "" if allowed, as one of ``roles`` is.

    Superusers may, and admins of the group if the platform confirms their role now. The platform must also have the
    same message, because over HTTP anybody who can reach the port could forge the event.
    """
    if not await SUPERUSER(bot, event):
        is_admin = await find_admin(bot, event, roles)
        if not is_admin:
            return refusal if is_admin is False else replies.commands.ADMIN_UNKNOWN
    return await _forgery(bot, event)


async def superuser_objection(bot: Bot, event: Event) -> str:
    """Return why the sender may not use a superuser's command; "" if allowed."""
    return await _forgery(bot, event) if await SUPERUSER(bot, event) else replies.commands.SUPERUSERS_ONLY


async def find_admin(bot: Bot, event: Event, roles: Collection[str] = ADMINS) -> bool | None:
    """Return whether the sender is owner or admin of the group, by default; None if the platform does not tell.

    A platform of OneBot v12 tells a role as an extension only.
    """
    is_v12 = isinstance(event, v12.GroupMessageEvent)
    if not is_v12 and (not isinstance(event, v11.GroupMessageEvent) or event.anonymous is not None):
        return False
    fresh = {} if is_v12 else {"no_cache": True}
    try:
        member = await bot.call_api("get_group_member_info", group_id=event.group_id, user_id=event.user_id, **fresh)
    except AdapterException:
        return None
    role = role_of(bot, member)
    return role in roles if role or not is_v12 else None


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
    """Return why a message may be forged; "" if the platform has it, and nobody else can be the platform.

    A platform that cannot return messages is believed if a secret guards against forgery.
    """
    is_v11 = isinstance(bot, v11.Bot)
    if is_v11 and not _is_guarded(bot, "onebot_v11_access_token", "onebot_access_token"):
        complain(replies.log.IMPERSONABLE)
        return replies.commands.UNPROVEN
    if isinstance(event, v11.MessageEvent):
        try:
            is_genuine = _agrees(event, await bot.call_api("get_msg", message_id=event.message_id))
        except AdapterException:
            is_genuine = _is_guarded(bot, "onebot_v11_secret", "onebot_secret")
    else:
        is_genuine = _is_guarded(bot, "onebot_v12_access_token", "onebot_access_token")
    if is_genuine:
        return ""
    complain(replies.log.FORGEABLE if is_v11 else replies.log.FORGEABLE_TWELVE)
    return replies.commands.UNPROVEN


def _agrees(event: v11.MessageEvent, message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("sender"), dict):
        return False
    group = message.get("group_id") or getattr(event, "group_id", None)
    sent = message.get("time") if isinstance(message.get("time"), int | float) else None
    return (
        str(message["sender"].get("user_id")) == str(event.user_id)
        and str(group) == str(getattr(event, "group_id", group))
        and message.get("message_type", event.message_type) == event.message_type
        and (sent is None or max(abs(event.time - sent), abs(time.time() - sent)) <= REPLAY)
        and _plain(message.get("message")) == _plain(event.original_message)
    )


def _plain(message: object) -> tuple[str, list[str]] | None:
    """Return the text and the mentions of a message; None if it is no message."""
    try:
        parts = type_validate_python(v11.Message, message)
    except ValueError:
        return None
    return parts.extract_plain_text().strip(), [str(part.data.get("qq")) for part in parts if part.type == "at"]


def _is_guarded(bot: Bot, *secrets: str) -> bool:
    config = bot.config
    return any(getattr(config, name, None) for name in secrets) or ip_address(str(config.host)).is_loopback
