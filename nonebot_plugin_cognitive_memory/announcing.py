"""Tells a group once that it is remembered, with the first reply that the bot sends there (``capture.announce``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from nonebot.adapters import Bot, Event
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from . import replies
from .config import setup
from .json_file import JsonFile
from .lending import lent_model
from .lifecycle import get_memory
from .limits import warn_once
from .onebot import spoken

FILE = "announced.json"
EDITION = "#2"  # of what the notice says; groups that were told an earlier one are told once more
ASKING = "+"  # after the edition: the notice also said that a provider of models is asked


Told = JsonFile[list[Any]]  # the groups that got the notice, each added after it was sent
announced = Told(setup.path(FILE), list)
_on_its_way: set[str] = set()


async def tell(
    told: Told, scene: core.Scene, send: Callable[[], Awaitable[object]], *, asks_provider: bool = False
) -> None:
    """Send the notice to a group that never got it; does nothing while another call sends it to the same group.

    A group that got it while no provider of models was asked gets it once more when one is (``asks_provider``). An
    error of ``send`` is raised, and a later call tries again. Raises OSError if the file cannot be written: then the
    group gets no second notice in this process, but one after a restart.
    """
    place = f"{scene.agent}/{scene.group_id}{EDITION}"
    now = place + ASKING * asks_provider
    if now in _on_its_way:
        return
    _on_its_way.add(now)
    try:
        if not {now, place + ASKING} & set(map(str, await told.read())):
            await send()
            await told.change(lambda places: [*places, now])
    finally:
        _on_its_way.discard(now)


async def announce(bot: Bot, event: Event, scene: core.Scene) -> bool:
    """Send the notice to an event's group unless it was sent before; return False if it is due and cannot be sent.

    The notice itself is not recorded.
    """
    is_due = setup.settings.capture.announce == "reply" and scene.kind == "group" and get_memory().is_running
    if not is_due:
        return True
    models = setup.settings.models
    own = (models.historian, models.triage, models.merge, models.evolution)
    try:  # what people say is sent to a provider of chat models if the bot has one of its own, or a lent one
        asks_provider = any(one.model_name for one in own)
        asks_provider = asks_provider or (get_memory().borrows and await lent_model() is not None)
        notice = replies.commands.announcement(setup.settings.capture, asks_provider=asks_provider)
        await tell(announced, scene, lambda: bot.send(event, spoken(bot, notice)), asks_provider=asks_provider)
    except (OSError, AdapterException) as refused:
        warn_once(replies.log.NOT_ANNOUNCED.format(reason=type(refused).__name__))
        return isinstance(refused, OSError)
    return True
