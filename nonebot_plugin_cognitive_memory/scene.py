"""Derives the scene, place and speaker, from the event alone, and asks OneBot v12 for the names that its events lack.

A message of OneBot v12 has ids only. The platform is asked for each person and group once a day, in the background and
one after another, so that a line never waits for the platform: a person's name comes after the first line is recorded.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from nonebot import get_bots, get_driver
from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException, SkippedException

import cognitive_memory_core as core

from . import replies
from .config import setup
from .lifecycle import run_with_bot
from .limits import Newest, warn_once
from .onebot import v11, v12

NAME_LENGTH = 64
NICKNAME = ("nickname", "user_name")  # the fields of a person's name outside of groups
ADMINS = frozenset({"owner", "admin"})  # roles, as OneBot v11 states them with each line of a group
AGAIN = 24 * 3600.0  # seconds until a name is asked for again
REFUSED_AGAIN = 3600.0  # seconds until that after a refusal
PATIENCE = 5.0  # seconds for one answer
KEPT, WAITING = 20_000, 500  # people and groups
ASKED_TOGETHER = 50  # groups in which the names of a person to be erased are asked for
_Key = tuple[str, str, str]  # agent, group, person; the person is "" for the group itself
_Query = tuple[Bot, datetime]  # the account that asks, and the time of the line that needed the answer first


@dataclass(frozen=True)
class PlatformAnswer:
    """The platform's answer about a person or a group; ``until`` is the end of its validity by the monotonic clock."""

    name: str = ""
    is_admin: bool = False
    nickname: str = ""
    until: float = 0.0


class PlatformNames:
    """Caches the platform's answers about people and groups, in memory only; ``clock`` returns monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with nothing cached; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._known: Newest[_Key, PlatformAnswer] = Newest(KEPT)
        self._queries: dict[_Key, _Query] = {}  # that wait or are under way, in their order
        self._turn = asyncio.Lock()
        self.on_named: Callable[[core.Scene, datetime], Awaitable[None]] | None = None
        """Called with a new name's scene and the time of the line that needed the name."""
        self.loop = core.BackgroundLoop("platform names", self.ask_waiting)

    def find(self, agent: str, group_id: str, user_id: str = "") -> PlatformAnswer:
        """Return the answer about a person in a group (in private with group ""), or about the group without a person.

        If there is no answer, its fields are blank.
        """
        return self._known.get((agent, group_id, user_id), PlatformAnswer())

    def ask(self, bot: Bot, scene: core.Scene, heard_at: datetime) -> None:
        """Ask the platform about the person and group of a line, in the background, if no valid answer is cached."""
        for user_id in (scene.user_id, "") if scene.group_id else (scene.user_id,):
            key = scene.agent, scene.group_id, user_id
            if self.find(*key).until <= self._clock() and len(self._queries) < WAITING:
                self._queries.setdefault(key, (bot, heard_at))
                self.loop.nudge()

    async def names_of(self, user_id: str) -> list[str]:
        """Return all names of a person that the platform has returned or returns now, within :data:`PATIENCE` seconds.

        For an erasure, which replaces these names in what others said. Open questions about the person are asked now,
        and each OneBot v12 account is asked for the nickname.
        """
        known = [answer.name for key, answer in self._known.items() if key[2] == user_id]
        asking = [(bot, key) for key, (bot, _) in self._queries.items() if key[2] == user_id][:ASKED_TOGETHER]
        asking += [(bot, ("", "", user_id)) for bot in get_bots().values() if isinstance(bot, v12.Bot)]
        told = await asyncio.gather(*(self._asked(bot, key) for bot, key in asking), return_exceptions=True)
        names = (answer.name for answer in told if isinstance(answer, PlatformAnswer))
        return [name for name in dict.fromkeys((*known, *names)) if name]

    async def forget(self, is_erased: Callable[[core.Scene], bool]) -> None:
        """Drop the names of each scene for which ``is_erased`` is true, and questions about them that are under way."""
        for key in {*self._known, *self._queries}:
            scene = scene_at(key[0], key[1], key[2] or "0")
            if scene is not None and is_erased(scene):
                self._known.pop(key, None)
                self._queries.pop(key, None)

    async def ask_waiting(self) -> float:
        """Ask about every waiting person and group, one after another; return the seconds until this is due again."""
        async with self._turn:
            while self._queries:
                key, (bot, heard_at) = next(iter(self._queries.items()))
                told = await self._asked(bot, key)
                if self._queries.pop(key, None) is None:  # forgotten meanwhile
                    continue
                self._known[key] = told
                agent, group_id, user_id = key
                named = {"user_name": told.name, "nickname": told.nickname} if user_id else {"group_name": told.name}
                scene = scene_at(agent, group_id, user_id or "0", **named)
                if scene is not None and told.name and self.on_named:
                    await self.on_named(scene, heard_at)
        return AGAIN

    async def _asked(self, bot: Bot, key: _Key) -> PlatformAnswer:
        _, group_id, user_id = key
        api = "get_group_member_info" if group_id and user_id else "get_user_info" if user_id else "get_group_info"
        asked = {"group_id": group_id, "user_id": user_id}
        try:
            told = await asyncio.wait_for(bot.call_api(api, **{k: v for k, v in asked.items() if v}), PATIENCE)
        except (AdapterException, asyncio.TimeoutError):
            known = self.find(*key)
            return PlatformAnswer(known.name, nickname=known.nickname, until=self._clock() + REFUSED_AGAIN)
        told = told if isinstance(told, Mapping) else {}
        is_admin = bool(group_id and user_id) and role_of(bot, told) in ADMINS
        return PlatformAnswer(name_of(told), is_admin, name_of(told, NICKNAME), self._clock() + AGAIN)


def name_of(told: object, keys: Sequence[str] = ("card", "user_displayname", *NICKNAME, "group_name")) -> str:
    """Return the name in an answer: a person's group card, else nickname; a group's name; else ""."""
    for key in keys:
        name = told.get(key) if isinstance(told, Mapping) else getattr(told, key, None)
        if isinstance(name, str) and (cleaned := core.clean_name(name[:NAME_LENGTH])):
            return cleaned
    return ""


def role_of(bot: Bot, told: object) -> str:
    """Return the role in an answer about a member, which OneBot v12 has only as an extension; "" if there is none."""
    fields: Mapping[Any, Any] = told if isinstance(told, Mapping) else {}
    role = fields.get("role", fields.get(f"{getattr(bot, 'platform', '')}.role"))
    return role if isinstance(role, str) else ""


platform_names = PlatformNames()
run_with_bot(platform_names.loop)


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


@lru_cache(maxsize=2_048)  # the same people speak again and again
def scene_at(
    agent: str, group_id: str | None, user_id: str | None, *, user_name: str = "", **of_group: Any
) -> core.Scene | None:
    """Build a scene from external ids; ``group_id`` is "" in private, None means an invalid id.

    ``of_group`` are further fields of a scene in a group: group_name, is_admin, nickname.
    """
    if not user_id or group_id is None:
        return None
    try:
        if not group_id:
            return core.Scene.private(user_id, user_name=user_name, agent=agent)
        return core.Scene.group(group_id, user_id, user_name=user_name, agent=agent, **of_group)
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
    """Return an id of OneBot v12 if it is a text and not empty, else None."""
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
        warn_once(replies.log.SEVERAL_PLATFORMS.format(platforms="、".join(sorted(_platforms))))
