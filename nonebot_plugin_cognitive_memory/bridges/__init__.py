"""Gives the memory to chat plugins that do not know it, chosen by ``bridges``: a module for each, and what they share.

A companion's module has ``MODULE``, the chat plugin's module; ``TRIED``, the versions of its distributions with which
the bridge was tried; ``attach()``, which wraps or registers what the bridge needs; and ``lent()``, which returns the
model that the operator set for the whole bot there, or None. Only the chosen ones are loaded.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from nonebot import get_driver, logger

from .. import replies
from ..config import setup
from ..lending import add_lender

COMPANIONS = ("ai-groupmate", "deepseek", "llmchat", "marshoai", "suggarchat")


async def attach_chosen() -> None:
    """Attach the bridges named in the settings, once every plugin is loaded."""
    for name in dict.fromkeys(setup.settings.bridges):
        attach(name)


def attach(name: str) -> None:
    """Attach a bridge; log a line, whether it was attached or refused, and raise nothing."""
    from .shared import NotAttachedError  # noqa: PLC0415  # most bots have no bridge

    try:
        logger.info(replies.log.logged(replies.bridges.ATTACHED.format(name=name, version=_attached(name))))
    except NotAttachedError as refused:
        logger.warning(replies.log.logged(replies.bridges.REFUSED.format(name=name, reason=refused)))
    except Exception as unforeseen:  # noqa: BLE001  # a start-up hook that raises would end the bot
        logger.warning(replies.log.logged(replies.bridges.REFUSED.format(name=name, reason=type(unforeseen).__name__)))


def _attached(name: str) -> str:
    """Attach a bridge; return the version of what it wraps. ``openai:name`` is for a plugin without a module here."""
    from .shared import NotAttachedError, checked  # noqa: PLC0415  # most bots have no bridge

    kind, _, plugin = name.partition(":")
    if kind == "openai":
        calls: Any = import_module(".openai_calls", __name__)
        found = calls.allow(plugin)
        add_lender(name, partial(calls.lent, plugin))
        return found
    if name not in COMPANIONS:
        raise NotAttachedError(
            replies.bridges.UNKNOWN.format(names="、".join([*COMPANIONS, replies.bridges.ANY_PLUGIN]))
        )
    companion: Any = import_module(f".{name.replace('-', '_')}", __name__)
    version = checked(companion.MODULE, companion.TRIED)
    companion.attach()
    add_lender(name, companion.lent)
    return version


get_driver().on_startup(attach_chosen)
