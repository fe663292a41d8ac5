"""Gives the memory to chat plugins that do not know it: one module for each, chosen by ``bridges``."""

from __future__ import annotations

from collections.abc import Iterable

from nonebot import get_driver, logger

from .. import replies
from ..config import setup
from . import deepseek, llmchat
from .companions import Companion, NotAttachedError

COMPANIONS = {one.name: one for one in (deepseek.COMPANION, llmchat.COMPANION)}


async def attach_chosen() -> None:
    """Attach the bridges of the settings, now that every plugin is loaded. Never raises; a refusal is one log line."""
    attach(dict.fromkeys(setup.settings.bridges))


def attach(names: Iterable[str]) -> None:
    """Attach bridges by name; log a line for each, whether it was attached or refused."""
    for name in names:
        try:
            logger.info(replies.log.logged(replies.bridges.attached(name, _attached(name))))
        except NotAttachedError as refused:
            logger.warning(replies.log.logged(replies.bridges.refused(name, refused)))
        except Exception as unforeseen:  # noqa: BLE001  # a start-up hook that raises would end the bot
            logger.warning(replies.log.logged(replies.bridges.refused(name, type(unforeseen).__name__)))


def _attached(name: str) -> str:
    companion: Companion | None = COMPANIONS.get(name)
    if companion is None:
        raise NotAttachedError(replies.bridges.unknown(COMPANIONS))
    version = companion.checked()
    companion.attach()
    return version


get_driver().on_startup(attach_chosen)
