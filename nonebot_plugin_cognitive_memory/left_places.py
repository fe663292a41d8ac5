"""Places that the bot left: stored in a file, and erased from the memory after ``capture.forget_left_days``.

A group counts as left when the bot leaves it, is removed from it, or it is dissolved; a private chat when the
friendship ends (OneBot v12; v11 does not report it). When a person leaves a group, nothing of theirs is erased.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from nonebot import logger
from nonebot.adapters import Bot, Event

import cognitive_memory_core as core

from . import replies
from .config import setup
from .erasure import IsErased, erased_place, on_erased
from .json_file import JsonFile
from .lifecycle import get_memory, run_with_bot
from .limits import warn_once
from .onebot import v11, v12
from .scene import agent_of, qq_id, scene_at, text_id

LEFT_FILE = "departed.json"
EVERY = 3_600.0  # seconds between two looks for places whose time is over
GONE = frozenset({"kick_me", "disband"})
Row = list[Any]  # agent, group, person in a private chat, and the instant at which the bot left


class LeftPlaces:
    """The places that the bot left and when, stored in a file; erased in the background once their time is over."""

    def __init__(self, path: Path | None, now: Callable[[], datetime] = lambda: datetime.now(timezone.utc)) -> None:
        """Keep departures in the file at ``path``; ``now`` returns the current instant."""
        self.file = JsonFile[list[Row]](path, list)
        self._now = now
        self.loop = core.BackgroundLoop("departures", self.forget_due, longest_pause=EVERY)

    async def leave(self, scene: core.Scene) -> None:
        """Record that the bot left a place now; raises OSError if the file cannot be written."""
        row = [scene.agent, scene.group_id, "" if scene.group_id else scene.user_id, self._now().isoformat()]
        await self.forget(lambda left: left.scope == scene.scope, row)

    async def forget(self, is_erased: IsErased, *more: Row) -> None:
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
                    replies.log.logged(replies.log.FORGOT_PLACE.format(place=replies.log.place(scene.scope), days=days))
                )
        return EVERY


def _departure(row: Row) -> tuple[core.Scene, datetime] | None:
    """Return the place of a row of the file, and when the bot left it; None if it cannot be read."""
    with suppress(ValueError, TypeError):
        agent, group, user, written = map(str, row)
        scene, at = scene_at(agent, group, user or "0"), datetime.fromisoformat(written)
        return (scene, at) if scene is not None and at.tzinfo is not None else None
    return None


leaving = LeftPlaces(setup.path(LEFT_FILE))
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
    if scene is not None:
        days, words = setup.settings.capture.forget_left_days, replies.log
        told = words.LEFT_PLACE + (words.FORGOTTEN_LATER if days else words.KEPT_FOR_GOOD)
        logger.warning(words.logged(told.format(place=words.place(scene.scope), days=days)))
        await _write(leaving.leave(scene))


async def note_return(scene: core.Scene) -> None:
    """Record that the bot is in a place again, because a message was heard there."""
    if leaving.file.value:
        await _write(leaving.forget(lambda other: other.scope == scene.scope))


async def _write(work: Awaitable[None]) -> None:
    """Write the file; log a failure."""
    try:
        await work
    except OSError as refused:
        warn_once(replies.log.DEPARTURE_NOT_KEPT.format(reason=type(refused).__name__))
