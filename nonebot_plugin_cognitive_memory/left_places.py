"""Places that the bot left: stored in a file, and erased from the memory after ``capture.forget_left_days``.

A group counts as left when the bot leaves it, is removed from it, or it is dissolved; a private chat when the
friendship ends (OneBot v12; v11 does not report it). When a person leaves a group, nothing of theirs is erased.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from nonebot import get_driver, logger
from nonebot.adapters import Bot, Event

import cognitive_memory_core as core

from . import replies
from .config import setup
from .erasure import erased_place, on_erased
from .json_file import replace_json
from .lifecycle import get_memory
from .onebot import v11, v12
from .scene import agent_of, qq_id, scene_at, text_id
from .throttled_log import complain

FILE = "departed.json"
EVERY = 3_600.0  # seconds between two looks for places whose time is over
GONE = frozenset({"kick_me", "disband"})
Place = tuple[str, str, str]  # agent, group, person; the person is "" for a group


class LeftPlaces:
    """The places that the bot left and when, stored in a file; ``now`` returns the current instant."""

    def __init__(self, path: Path, now: Callable[[], datetime] = lambda: datetime.now(timezone.utc)) -> None:
        """Keep departures in the file at ``path``, which :meth:`load` reads."""
        self._path = path
        self._now = now
        self._left: dict[Place, datetime] | None = None
        self._turn = asyncio.Lock()

    def is_left(self, scene: core.Scene) -> bool:
        """Return whether the bot left the place of a scene; False before :meth:`load`."""
        return _place(scene) in (self._left or {})

    async def load(self) -> None:
        """Read the file, once; an unreadable one counts as empty."""
        async with self._turn:
            await self._known()

    async def leave(self, scene: core.Scene) -> None:
        """Record that the bot left a place now; raises OSError if the file cannot be written."""
        async with self._turn:
            await self._write({**await self._known(), _place(scene): self._now()})

    async def forget(self, is_erased: Callable[[core.Scene], bool]) -> None:
        """Drop the places for which ``is_erased`` is true; raises OSError if the file cannot be written."""
        async with self._turn:
            known = await self._known()
            left = {place: at for place, at in known.items() if not ((scene := _scene(place)) and is_erased(scene))}
            if len(left) < len(known):
                await self._write(left)

    async def due(self, days: float) -> list[core.Scene]:
        """Return the places that the bot left at least ``days`` days ago; [] for 0 days."""
        async with self._turn:
            known = await self._known()
        over = self._now() - timedelta(days=days)
        return [scene for place, at in known.items() if days and at <= over and (scene := _scene(place))]

    async def _known(self) -> dict[Place, datetime]:
        if self._left is None:
            self._left = await asyncio.to_thread(self._read)
        return self._left

    async def _write(self, left: Mapping[Place, datetime]) -> None:
        self._left = dict(left)
        rows = [[*place, at.isoformat()] for place, at in left.items()]
        await asyncio.to_thread(replace_json, self._path, rows)

    def _read(self) -> dict[Place, datetime]:
        try:
            rows: Any = json.loads(self._path.read_text("utf-8"))
            return {(str(agent), str(group), str(user)): _instant(at) for agent, group, user, at in rows}
        except (OSError, ValueError, TypeError):
            return {}


class Leaving:
    """Records departures and returns of the bot, and erases places in the background once their time is over."""

    def __init__(self, departures: LeftPlaces) -> None:
        """Record departures in ``departures``."""
        self.departures = departures
        self._loop = core.BackgroundLoop("departures", self._round, longest_pause=EVERY)

    async def start(self) -> None:
        """Start the background loop."""
        self._loop.start()

    async def stop(self) -> None:
        """End the background loop."""
        await self._loop.stop()

    async def note(self, scene: core.Scene) -> None:
        """Record that the bot left a place, and log it."""
        days = setup.settings.capture.forget_left_days
        logger.warning(replies.log.logged(replies.log.left_place(scene, days)))
        try:
            await self.departures.leave(scene)
        except OSError as refused:
            complain(replies.log.DEPARTURE_NOT_KEPT.format(reason=type(refused).__name__))

    async def forget_due(self) -> int:
        """Erase the places whose time is over; return how many. If an erasure fails, the next call tries it again."""
        days, count = setup.settings.capture.forget_left_days, 0
        if not (days and get_memory().is_running):
            return 0
        for scene in await self.departures.due(days):
            await erased_place(scene)
            logger.warning(replies.log.logged(replies.log.forgot_place(scene, days)))
            count += 1
        return count

    async def _round(self) -> float:
        await self.departures.load()
        await self.forget_due()
        return EVERY


def left_scene(bot: Bot, event: Event) -> core.Scene | None:
    """Return the scene of the place that the bot left, if the event says so; None for every other event."""
    agent, own_id = agent_of(bot), bot.self_id
    match event:
        case v11.GroupDecreaseNoticeEvent(group_id=group, user_id=user, sub_type=why):
            return scene_at(agent, qq_id(group), own_id) if why in GONE or str(user) == own_id else None
        case v12.GroupMemberDecreaseEvent(group_id=group, user_id=user):
            return scene_at(agent, text_id(group), own_id) if user == own_id else None
        case v12.FriendDecreaseEvent(user_id=user):
            return scene_at(agent, "", text_id(user))
        case _:
            return None


async def returned(scene: core.Scene) -> None:
    """Record that the bot is in a place again, because a message was heard there; a failed write is logged."""
    if leaving is None or not leaving.departures.is_left(scene):
        return
    try:
        await leaving.departures.forget(_is_in(scene))
    except OSError as refused:
        complain(replies.log.DEPARTURE_NOT_KEPT.format(reason=type(refused).__name__))


def _is_in(scene: core.Scene) -> Callable[[core.Scene], bool]:
    return lambda other: other.scope == scene.scope


def _place(scene: core.Scene) -> Place:
    return scene.agent, scene.group_id, "" if scene.group_id else scene.user_id


def _scene(place: Place) -> core.Scene | None:
    agent, group_id, user_id = place
    return scene_at(agent, group_id, user_id or "0")


def _instant(text: object) -> datetime:
    at = datetime.fromisoformat(str(text))
    if at.tzinfo is None:
        raise ValueError
    return at


async def note_departure(bot: Bot, event: Event) -> None:
    """Record that the bot left a group or lost a friend, if the event says so."""
    scene = left_scene(bot, event)
    if scene is not None and leaving is not None:
        await leaving.note(scene)


leaving = Leaving(LeftPlaces(setup.data_dir / FILE)) if setup.data_dir else None
if leaving is not None:
    on_erased(leaving.departures.forget)
    get_driver().on_startup(leaving.start)
    get_driver().on_shutdown(leaving.stop)
