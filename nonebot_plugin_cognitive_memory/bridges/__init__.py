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
    from .shared import NotAttachedError, checked  # noqa: PLC0415  # most bots have no bridge

    kind, _, plugin = name.partition(":")
    try:
        if kind == "openai":  # for a plugin without a module here
            calls: Any = import_module(".openai_calls", __name__)
            version, lent = calls.allow(plugin), partial(calls.lent, plugin)
        elif name in COMPANIONS:
            companion: Any = import_module(f".{name.replace('-', '_')}", __name__)
            version, lent = checked(companion.MODULE, companion.TRIED), companion.lent
            companion.attach()
        else:
            known = "、".join([*COMPANIONS, replies.chat_plugins.ANY_PLUGIN])
            raise NotAttachedError(replies.chat_plugins.UNKNOWN.format(names=known))  # noqa: TRY301  # refused as the others
        add_lender(name, lent)
        logger.info(replies.log.logged(replies.chat_plugins.ATTACHED.format(name=name, version=version)))
    except Exception as refused:  # noqa: BLE001  # a start-up hook that raises would end the bot
        reason = str(refused) if isinstance(refused, NotAttachedError) else type(refused).__name__
        logger.warning(replies.log.logged(replies.chat_plugins.REFUSED.format(name=name, reason=reason)))


get_driver().on_startup(attach_chosen)
