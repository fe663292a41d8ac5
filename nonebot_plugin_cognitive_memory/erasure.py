"""Erasure of people and places, exports, and places that the bot left.

Those are stored in a file, and erased from the memory after ``capture.forget_left_days``. A group counts as left when
the bot leaves it, is removed from it, or it is dissolved; a private chat when the friendship ends (OneBot v12; v11 does
not report it). When a person leaves a group, nothing of theirs is erased.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
from nonebot import logger
from nonebot.adapters import Bot, Event

import cognitive_memory_core as core

from . import replies
from .auto_consider import considerer
from .config import JsonFile, setup
from .lifecycle import get_memory, run_with_bot
from .limits import warn_once
from .onebot import v11, v12
from .scene import agent_of, platform_names, qq_id, scene_at, text_id

Goes = Callable[[core.Scene], bool]
_keepers: list[Callable[[Goes], Awaitable[None]]] = [considerer.forget]


def on_erased(forget: Callable[[Goes], Awaitable[None]]) -> None:
    """Register a function that is called after each erasure, with a function that tells whether a scene was erased."""
    _keepers.append(forget)


async def erased_person(scene: core.Scene, user_id: str, memory: core.CognitiveMemory | None = None) -> core.Erasure:
    """Erase a person everywhere; return what was removed. ``memory`` is the bot's by default.

    Raises NotPermitted unless the scene is the person's own or the operator's.
    """
    names = await platform_names.names_of(user_id)
    erasure = await (memory or get_memory()).forget_user(scene, user_id, names=names)
    await _forget(lambda said_in: said_in.user_id == user_id)
    return erasure


async def erased_place(scene: core.Scene, memory: core.CognitiveMemory | None = None) -> core.Erasure:
    """Erase a group or a private chat; return what was removed. ``memory`` is the bot's by default."""
    erasure = await (memory or get_memory()).forget_scene(scene)
    await _forget(lambda said_in: said_in.scope == scene.scope)
    return erasure


async def _forget(is_erased: Goes) -> None:
    for forget in _keepers:
        await forget(is_erased)


FILE = "memory.jsonl"


@asynccontextmanager
async def exported(
    memory: core.CognitiveMemory, user_id: str | None = None, agent: str | None = None
) -> AsyncGenerator[tuple[Path, int], None]:
    """Export the memory, one person's part of it, or one agent's; yield the file and the number of its rows.

    The file is removed at the end, also if the caller is cancelled. A refusal of the disk is raised as StorageRefused.
    """
    try:
        folder = await asyncio.to_thread(tempfile.TemporaryDirectory)
        path = Path(folder.name) / FILE
        try:
            yield path, await memory.export(path, user_id=user_id, agent=agent)
        finally:
            with anyio.CancelScope(shield=True):
                await asyncio.to_thread(folder.cleanup)
                with suppress(core.CognitiveMemoryError):  # the memory was closed meanwhile
                    await memory.discard_export(path)
    except OSError as refused:
        raise core.StorageRefused(type(refused).__name__) from refused


LEFT_FILE = "departed.json"
EVERY = 3_600.0  # seconds between two looks for places whose time is over
GONE = frozenset({"kick_me", "disband"})
Row = list[Any]  # agent, group, person in a private chat, and the instant at which the bot left


class LeftPlaces:
    """The places that the bot left and when, stored in a file; erased in the background once their time is over."""

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(timezone.utc)) -> None:
        """Keep departures in the file at ``path``; ``now`` returns the current instant."""
        self.file = JsonFile[list[Row]](path, list)
        self._now = now
        self.loop = core.BackgroundLoop("departures", self.forget_due, longest_pause=EVERY)

    async def leave(self, scene: core.Scene) -> None:
        """Record that the bot left a place now; raises OSError if the file cannot be written."""
        row = [scene.agent, scene.group_id, "" if scene.group_id else scene.user_id, self._now().isoformat()]
        await self.forget(lambda left: left.scope == scene.scope, row)

    async def forget(self, is_erased: Goes, *more: Row) -> None:
        """Drop the places for which ``is_erased`` is true, and unreadable rows; raises OSError as :meth:`leave`."""
        kept = lambda row: (left := _departure(row)) is not None and not is_erased(left[0])  # noqa: E731  # one call
        await self.file.change(lambda rows: [*filter(kept, rows), *more])

    async def due(self, days: float) -> list[core.Scene]:
        """Return the places that the bot left at least ``days`` days ago; [] for 0 days."""
        over = self._now() - timedelta(days=days)
        departures = filter(None, map(_departure, await self.file.read()))
        return [scene for scene, at in departures if days and at <= over]

    async def forget_due(self) -> float:
        """Erase the places whose time is over; return the seconds until the next look, in which what failed is tried.

        The file is read also while no memory is open.
        """
        days = setup.settings.capture.forget_left_days
        for scene in await self.due(days):
            if get_memory().is_running:
                await erased_place(scene)
                logger.warning(
                    replies.log.logged(replies.log.FORGOT_PLACE.format(place=replies.log.place(scene), days=days))
                )
        return EVERY


def _departure(row: Row) -> tuple[core.Scene, datetime] | None:
    """Return the place of a row of the file, and when the bot left it; None if it cannot be read."""
    with suppress(ValueError, TypeError):
        agent, group, user, written = map(str, row)
        scene, at = scene_at(agent, group, user or "0"), datetime.fromisoformat(written)
        return (scene, at) if scene is not None and at.tzinfo is not None else None
    return None


leaving = LeftPlaces(setup.data_dir / LEFT_FILE) if setup.data_dir else None
if leaving is not None:
    on_erased(leaving.forget)
    run_with_bot(leaving.loop)


async def note_departure(bot: Bot, event: Event) -> None:
    """Record that the bot left a group or lost a friend, if the event says so, and log it."""
    agent, own_id = agent_of(bot), bot.self_id
    match event:
        case v11.GroupDecreaseNoticeEvent(group_id=group, user_id=user, sub_type=why):
            scene = scene_at(agent, qq_id(group), own_id) if why in GONE or str(user) == own_id else None
        case v12.GroupMemberDecreaseEvent(group_id=group, user_id=user):
            scene = scene_at(agent, text_id(group), own_id) if user == own_id else None
        case v12.FriendDecreaseEvent(user_id=user):
            scene = scene_at(agent, "", text_id(user))
        case _:
            scene = None
    if scene is not None and leaving is not None:
        days, words = setup.settings.capture.forget_left_days, replies.log
        told = words.LEFT_PLACE + (words.FORGOTTEN_LATER if days else words.KEPT_FOR_GOOD)
        logger.warning(words.logged(told.format(place=words.place(scene), days=days)))
        await _kept(leaving.leave(scene))


async def returned(scene: core.Scene) -> None:
    """Record that the bot is in a place again, because a message was heard there."""
    if leaving is not None and leaving.file.value:
        await _kept(leaving.forget(lambda other: other.scope == scene.scope))


async def _kept(write: Awaitable[None]) -> None:
    try:
        await write
    except OSError as refused:
        warn_once(replies.log.DEPARTURE_NOT_KEPT.format(reason=type(refused).__name__))
