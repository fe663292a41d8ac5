"""``capture.announce``: a group is told once that the bot remembers, together with the bot's first answer there."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from . import replies
from .config import setup
from .lifecycle import get_memory
from .throttled_log import complain
from .wording import spoken

FILE = "announced.json"


class Announcements:
    """The groups that have been told, in a file; a group is written down before it is told."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self._path = path
        self._told: set[str] | None = None
        self._turn = asyncio.Lock()

    async def claim(self, scene: core.Scene) -> bool:
        """Tell whether it is time to tell this group, which it is once. Raises OSError when that cannot be kept."""
        place = f"{scene.agent}/{scene.group_id}"
        if self._told is not None and place in self._told:
            return False
        async with self._turn:
            told = self._told if self._told is not None else await asyncio.to_thread(self._read)
            if place not in told:
                await asyncio.to_thread(self._write, {*told, place})
            self._told = {*told, place}
            return place not in told

    def _read(self) -> set[str]:
        try:
            return {str(place) for place in json.loads(self._path.read_text("utf-8"))}
        except (FileNotFoundError, ValueError, TypeError):
            return set()

    def _write(self, told: set[str]) -> None:
        draft = self._path.with_suffix(".tmp")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(sorted(told), file)
        draft.replace(self._path)


announcements = Announcements(setup.data_dir / FILE) if setup.data_dir else None


async def announce(bot: Bot, event: Event, scene: core.Scene) -> None:
    """Tell the group of an event that the bot remembers, if it was never told; what this sends is never recorded."""
    is_due = setup.settings.capture.announce == "reply" and scene.kind == "group" and get_memory().is_running
    if not is_due or announcements is None:
        return
    try:
        if await announcements.claim(scene):
            await bot.send(event, spoken(bot, replies.announcement()))
    except (OSError, AdapterException) as refused:
        complain(replies.not_announced(type(refused).__name__))
