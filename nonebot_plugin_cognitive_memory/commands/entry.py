"""The command itself: which call may be carried out, by whom, and what is answered.

The sender's role that an event states is not trusted. What is kept of earlier calls for a while: how many there were,
what is to be confirmed, which lists were shown.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import import_module
from ipaddress import ip_address
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

from nonebot import on_message
from nonebot.adapters import Bot, Event, MessageSegment
from nonebot.compat import type_validate_python
from nonebot.exception import AdapterException
from nonebot.permission import SUPERUSER
from nonebot.rule import Rule

import cognitive_memory_core as core

from .. import heard, replies
from ..capture import announce, unrecorded
from ..command_table import Command, called, is_ours, nearest
from ..config import setup
from ..lifecycle import get_memory, lifetime
from ..limits import Lasting, TokenBuckets, complain
from ..onebot import spoken, v11, v12, worded
from ..scene import ADMINS, find_scene, role_of

if TYPE_CHECKING:
    Listed = core.Event | core.Pin | core.Belief | core.Suggestion
    from collections.abc import Awaitable, Callable

    from ..cards import Card, Studio

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
        complain(replies.log.IMPERSONABLE)
        raise core.MistakeError(replies.commands.UNPROVEN)
    is_genuine = await _is_genuine(bot, event)
    if is_genuine is None:
        version, secret = ("v11", "secret") if is_v11 else ("v12", "access_token")
        is_genuine = _is_guarded(bot, f"onebot_{version}_{secret}", f"onebot_{secret}")
    if not is_genuine:
        complain(replies.log.FORGEABLE if is_v11 else replies.log.FORGEABLE_TWELVE)
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


to_confirm: Lasting[tuple[core.Scene, str], tuple[Hashable, str]] = Lasting(60.0, 1_000)
"""What people were asked to confirm by calling a command again, and the id of the message that called it."""


def is_confirmed(call: Call, content: Hashable) -> bool:
    """Return whether this call confirms an earlier one with the same content; if not, it is stored to be confirmed.

    ``content`` identifies everything that the command would change. A message that is delivered twice confirms nothing.
    """
    key, message_id = (call.here, call.command.name), str(getattr(call.event, "message_id", ""))
    asked = to_confirm.find(key)
    to_confirm.drop(key)
    if asked is not None and asked[0] == content and asked[1] != message_id:
        return True
    to_confirm.put(key, (content, message_id))
    return False


shown: Lasting[tuple[core.Scene, str], dict[int, str]] = Lasting(600.0, 1_000)
"""The ids by number of the list of each kind that each person was shown last in each scene."""


def show(scene: core.Scene, kind: str, items: Sequence[Listed], first: int = 1) -> None:
    """Store a list as shown, numbered from ``first``; what its numbers mean is read on use, as it may be forgotten."""
    shown.put((scene, kind), {number: item.id for number, item in enumerate(items, first)})


def shown_id(scene: core.Scene, kind: str, number: int | None, unknown: str) -> str:
    """Return the id of the item with this number in the list shown last.

    Raises MistakeError with the sentence ``unknown`` if there is none, or no longer.
    """
    if item_id := (shown.find((scene, kind)) or {}).get(number or 0):
        return item_id
    raise core.MistakeError(unknown)


FONTS = "fonts"  # folder in the data directory for the operator's own fonts
DAY = range(7, 20)  # hours in which cards are light


@cache
def studio() -> Studio:
    """Return the studio that draws the cards; it is made at the first call."""
    from ..cards import Studio  # noqa: PLC0415  # cards load with the first one

    return Studio(setup.data_dir / FONTS if setup.data_dir else None)


async def picture(bot: Bot, card: Card) -> Any:
    """Draw a card, dark at night; return it as a segment of a message, None if it could not be drawn."""
    from ..cards.layout import DARK, LIGHT  # noqa: PLC0415  # cards load with the first one

    theme = LIGHT if datetime.now(setup.settings.zone).hour in DAY else DARK
    png = await studio().drawn(card, theme)
    if png is None or not isinstance(bot, v12.Bot):
        return png and v11.MessageSegment.image(png)
    uploaded = await bot.call_api("upload_file", type="data", name="memory.png", data=png)
    return v12.MessageSegment.image(uploaded["file_id"])


PART = 800  # characters
MOST_PARTS = 12


async def send_long(bot: Bot, event: Event, text: str) -> None:
    """Send a text as one merged forward; else in at most twelve parts, the last of which says if the text is cut."""
    parts = _parts_of(text)
    if isinstance(event, v11.MessageEvent):
        name, account = replies.chat_plugins.PLUGIN_NAME, int(bot.self_id)
        segments = [v11.Message(v11.MessageSegment.text(part)) for part in parts]
        nodes = [v11.MessageSegment.node_custom(account, name, segment) for segment in segments]
        with suppress(AdapterException):
            if isinstance(event, v11.GroupMessageEvent):
                await bot.call_api("send_group_forward_msg", group_id=event.group_id, messages=nodes)
            else:
                await bot.call_api("send_private_forward_msg", user_id=event.user_id, messages=nodes)
            return
    for part in parts:
        await bot.send(event, spoken(bot, part))


def _parts_of(text: str) -> list[str]:
    """Split a text at line ends into parts of at most :data:`PART` characters."""
    parts: list[str] = []
    for whole in text.split("\n"):
        for line in [whole[start : start + PART] for start in range(0, max(len(whole), 1), PART)]:
            if parts and len(parts[-1]) + 1 + len(line) <= PART:
                parts[-1] += f"\n{line}"
            else:
                parts.append(line)
    return parts if len(parts) <= MOST_PARTS else [*parts[: MOST_PARTS - 1], replies.commands.CUT]


Answer: TypeAlias = "str | Card"
ONES_OWN = frozenset({"forget_me", "optout", "optin", "export"})  # also while nothing new is remembered
REPLY_LENGTH = 1_200  # characters of one message; longer answers are forwarded
CALLS = 10  # at once, and then by the minute
_told_to_wait: Lasting[Hashable, bool] = Lasting(60.0, 1_000)


@dataclass(frozen=True)
class Call:
    """A call of a subcommand: where and by whom, and the number and the text behind the subcommand."""

    bot: Bot
    event: Event
    here: core.Scene
    command: Command
    number: int | None
    text: str

    @property
    def usage(self) -> str:
        """The answer to a call that cannot be understood."""
        return replies.commands.usage(self.command)


class _Calls(Rule):
    """Matches calls of ``/memory``; a class costs no task for each message."""

    async def __call__(self, _bot: Bot, event: Event, *_: object) -> bool:
        """Return whether a message is one."""
        return is_ours(event.get_plaintext())


_pace = TokenBuckets(CALLS, CALLS)
calling = on_message(priority=0, block=True)  # chat plugins, whose default priority is 1, never answer a call
calling.rule = _Calls()


@calling.handle()
async def reply(bot: Bot, event: Event) -> None:
    """Carry out a call, or reply with the reason for refusing it.

    Superusers never wait, nor does the call that confirms an earlier one. Who was told to wait gets no answer until a
    call is admitted.
    """
    scene, text = find_scene(bot, event), worded(call_parts(event)).text
    command, _ = called(text)
    name, wait = command.name if command else "", 0
    if not (await SUPERUSER(bot, event) or (scene and to_confirm.find((scene, name)))):
        who = bot.self_id, scene.user_id if scene else event.get_session_id()
        wait = ceil(_pace.wait(who, take=True))
        if wait and _told_to_wait.find(who):
            return
        _told_to_wait.put(who, wait > 0)
    if wait:
        result: Answer = replies.commands.TOO_OFTEN.format(seconds=wait)
    elif scene is None:
        result = replies.commands.NOBODY
    elif command is None:
        like = nearest(text)
        result = replies.commands.usage(like, replies.commands.NEAREST) if like else replies.commands.UNKNOWN_SUBCOMMAND
    else:
        result = await _answered(bot, event, scene, command)
    await say(bot, event, result)


def call_parts(event: Event) -> list[MessageSegment]:
    """Return the texts and mentions of a message from its first text on, which calls a command."""
    parts = [part for part in event.get_message() if part.type in ("text", "at", "mention")]
    while parts and not (parts[0].type == "text" and str(parts[0].data.get("text")).strip()):
        parts.pop(0)
    return parts


async def _answered(bot: Bot, event: Event, scene: core.Scene, command: Command) -> Answer:
    """Return the answer to a call of a command, or one sentence on why it is refused or failed."""
    _, said = called(worded(call_parts(event), name_of=lambda user_id: heard.name_of(scene, user_id)).text)
    taken = re.fullmatch(command.takes, said, re.DOTALL)
    if taken is None:
        return replies.commands.usage(command)
    memory = get_memory()
    if not memory.is_running and command.name != "help" and not (lifetime.is_open and command.name in ONES_OWN):
        if lifetime.is_listening:
            return replies.commands.OPENING
        return replies.commands.off(memory.reason if await SUPERUSER(bot, event) else "")
    words = {name: value for name, value in taken.groupdict().items() if value}
    number = int(words["number"]) if "number" in words else None
    call = Call(bot, event, scene, command, number, words.get("text", "").strip())
    module, _, name = command.handler.partition(".")
    carry_out: Callable[[Call], Awaitable[Answer]] = getattr(
        await asyncio.to_thread(import_module, f".{module}", __package__), name
    )
    try:
        if command.who == "superusers":
            await check_superuser(call)
        if command.place not in ("anywhere", scene.kind):
            return replies.commands.ONLY_IN_GROUPS if command.place == "group" else replies.commands.ONLY_IN_PRIVATE
        if command.who == "admins" and scene.kind == "group":
            await check_admin(call, replies.commands.ADMINS_ONLY)
        answer = await carry_out(call)
        return answer if isinstance(answer, str) or not call.text else answer.text  # what is said then asks for text
    except core.MistakeError as mistake:
        return str(mistake)
    except core.CognitiveMemoryError as away:
        complain(str(away))
        return replies.commands.TROUBLE


async def say(bot: Bot, event: Event, result: Answer) -> None:
    """Send a reply that is not recorded; in a group that never got the notice of ``capture.announce``, send that, too.

    A reply that the platform refuses is logged, not raised.
    """
    text, card = (result, None) if isinstance(result, str) else (result.text, result)
    with unrecorded():
        is_shown = False
        try:
            if card and (drawn := await picture(bot, card)) is not None:
                await bot.send(event, drawn)
                is_shown = True
        except AdapterException as refused:
            complain(replies.log.PICTURE_REFUSED.format(reason=type(refused).__name__))
        try:
            if not is_shown and len(text) > REPLY_LENGTH:
                await send_long(bot, event, text)
            elif not is_shown:
                await bot.send(event, spoken(bot, text))
        except AdapterException as refused:
            complain(replies.log.NOT_ANSWERED.format(reason=type(refused).__name__))
            return
        if scene := find_scene(bot, event):
            await announce(bot, event, scene)
