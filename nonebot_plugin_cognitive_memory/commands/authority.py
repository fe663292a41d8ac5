"""Who may use a command: superusers, admins of the group as the platform has them now, and everybody on their own data.

The sender's role that an event states is not trusted, nor that the event comes from the platform at all.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from ipaddress import ip_address
from typing import Any

from nonebot.adapters import Bot, Event
from nonebot.compat import type_validate_python
from nonebot.exception import AdapterException
from nonebot.permission import SUPERUSER

import cognitive_memory_core as core

from .. import replies
from ..limits import warn_once
from ..onebot import v11, v12
from ..scene import ADMINS, role_of
from .calls import Call

REPLAY = 300.0  # seconds after which a message is no call any more


async def check_admin(call: Call, refusal: str = replies.commands.NOT_YOURS, roles: Collection[str] = ADMINS) -> None:
    """Raise MistakeError unless the sender may act on what others said here, as one of ``roles`` may.

    Superusers may, and admins of the group if the platform confirms their role now. The platform must also have the
    same message, because over HTTP anybody who can reach the port could forge the event.
    """
    if not await SUPERUSER(call.bot, call.event):
        is_admin = await find_admin(call.bot, call.event, roles)
        if not is_admin:
            raise core.MistakeError(refusal if is_admin is False else replies.commands.ADMIN_UNKNOWN)
    await _check_unforged(call.bot, call.event)


async def check_superuser(call: Call) -> None:
    """Raise MistakeError unless the sender may use a superuser's command."""
    if not await SUPERUSER(call.bot, call.event):
        raise core.MistakeError(replies.commands.SUPERUSERS_ONLY)
    await _check_unforged(call.bot, call.event)


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


async def check_own(call: Call) -> None:
    """Raise MistakeError for a call about the sender's own data if the platform has another message by its id.

    A platform that cannot return messages counts as agreeing, so that people can always reach their own data.
    """
    if await _is_genuine(call.bot, call.event) is False:
        raise core.MistakeError(replies.commands.UNPROVEN)


async def _check_unforged(bot: Bot, event: Event) -> None:
    """Raise MistakeError unless the platform has the message, and nobody else can be the platform.

    A platform that cannot return messages is believed if a secret guards against forgery.
    """
    is_v11 = isinstance(bot, v11.Bot)
    if is_v11 and not _is_guarded(bot, "onebot_v11_access_token", "onebot_access_token"):
        warn_once(replies.log.IMPERSONABLE)
        raise core.MistakeError(replies.commands.UNPROVEN)
    is_genuine = await _is_genuine(bot, event)
    if is_genuine is None:
        version, secret = ("v11", "secret") if is_v11 else ("v12", "access_token")
        is_genuine = _is_guarded(bot, f"onebot_{version}_{secret}", f"onebot_{secret}")
    if not is_genuine:
        warn_once(replies.log.FORGEABLE if is_v11 else replies.log.FORGEABLE_TWELVE)
        raise core.MistakeError(replies.commands.UNPROVEN)


async def _is_genuine(bot: Bot, event: Event) -> bool | None:
    """Return whether the platform has the same message by this id, sent lately; None if it cannot return messages."""
    if not isinstance(event, v11.MessageEvent):
        return None
    try:
        stored = await bot.call_api("get_msg", message_id=event.message_id)
    except AdapterException:
        return None
    sender = stored.get("sender") if isinstance(stored, dict) else None
    if not isinstance(sender, dict):
        return False
    own_group = getattr(event, "group_id", None)
    sent = stored.get("time") if isinstance(stored.get("time"), int | float) else None
    try:
        content: Any = type_validate_python(v11.Message, stored.get("message"))
    except ValueError:
        return False
    said, stored_said = (
        (parts.extract_plain_text().strip(), [str(part.data.get("qq")) for part in parts if part.type == "at"])
        for parts in (event.original_message, content)
    )
    return (
        str(sender.get("user_id")) == str(event.user_id)
        and str(stored.get("group_id") or own_group) == str(own_group or stored.get("group_id"))
        and stored.get("message_type", event.message_type) == event.message_type
        and (sent is None or max(abs(event.time - sent), abs(time.time() - sent)) <= REPLAY)
        and said == stored_said
    )


def _is_guarded(bot: Bot, *secrets: str) -> bool:
    config = bot.config
    return any(getattr(config, name, None) for name in secrets) or ip_address(str(config.host)).is_loopback
