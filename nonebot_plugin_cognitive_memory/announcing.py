"""``capture.announce``: tells each group once that the bot remembers, together with the bot's first answer there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from . import replies
from .config import setup
from .json_file import read_json, replace_json
from .lending import lent_model
from .lifecycle import get_memory
from .message_text import spoken
from .throttled_log import complain

FILE = "announced.json"
EDITION = "#2"  # of what the notice says; groups that were told an earlier one are told once more
ASKING = "+"  # after the edition: the notice also said that a provider of models is asked


class Announcements:
    """The groups that got the notice, stored in a file; a group is added after the notice was sent."""

    def __init__(self, path: Path) -> None:
        """Keep the groups in the file at ``path``, which the first :meth:`tell` reads."""
        self._path = path
        self._told: set[str] | None = None
        self._on_its_way: set[str] = set()
        self._turn = asyncio.Lock()

    async def tell(
        self, scene: core.Scene, send: Callable[[], Awaitable[object]], *, asks_provider: bool = False
    ) -> None:
        """Send the notice to a group that never got it; does nothing while another call sends it to the same group.

        A group that got it while no provider of models was asked gets it once more when one is (``asks_provider``).
        An error of ``send`` is raised, and a later call tries again. Raises OSError if the file cannot be written: then
        the group gets no second notice in this process, but one after a restart.
        """
        told = f"{scene.agent}/{scene.group_id}{EDITION}"
        place = told + ASKING * asks_provider
        if place in self._on_its_way:
            return
        self._on_its_way.add(place)
        try:
            async with self._turn:
                if self._told is None:
                    self._told = set(map(str, await asyncio.to_thread(read_json, self._path, list)))
            if self._told & {place, told + ASKING}:
                return
            await send()
            async with self._turn:
                self._told = {*self._told, place}
                await asyncio.to_thread(replace_json, self._path, sorted(self._told))
        finally:
            self._on_its_way.discard(place)


announcements = Announcements(setup.data_dir / FILE) if setup.data_dir else None


async def announce(bot: Bot, event: Event, scene: core.Scene) -> bool:
    """Send the notice to an event's group unless it was sent before; return False if it is due and cannot be sent.

    The notice itself is not recorded.
    """
    is_due = setup.settings.capture.announce == "reply" and scene.kind == "group" and get_memory().is_running
    if not is_due or announcements is None:
        return True
    models = setup.settings.models
    own = (models.historian, models.triage, models.merge, models.evolution)
    try:  # what people say is sent to a provider of chat models if the bot has one of its own, or a lent one
        asks_provider = any(one.model_name for one in own)
        asks_provider = asks_provider or (get_memory().borrows and await lent_model() is not None)
        notice = replies.commands.announcement(setup.settings.capture, asks_provider=asks_provider)
        await announcements.tell(scene, lambda: bot.send(event, spoken(bot, notice)), asks_provider=asks_provider)
    except (OSError, AdapterException) as refused:
        complain(replies.log.NOT_ANNOUNCED.format(reason=type(refused).__name__))
        return isinstance(refused, OSError)
    return True
