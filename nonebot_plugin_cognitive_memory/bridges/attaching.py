"""Attaches bridges by name; loaded only if ``bridges`` names one."""

from __future__ import annotations

from collections.abc import Iterable

from nonebot import logger

from .. import replies
from . import ai_groupmate, deepseek, llmchat, marshoai, openai_calls, suggarchat
from .companions import Companion, NotAttachedError

COMPANIONS = {
    module.COMPANION.name: module.COMPANION for module in (ai_groupmate, deepseek, llmchat, marshoai, suggarchat)
}


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
    kind, colon, plugin = name.partition(":")
    if kind == openai_calls.NAME:
        if not (colon and plugin):
            raise NotAttachedError(replies.bridges.OPENAI_WITHOUT_PLUGIN)
        return openai_calls.allow(plugin)
    companion: Companion | None = COMPANIONS.get(name)
    if companion is None:
        raise NotAttachedError(replies.bridges.unknown([*COMPANIONS, replies.bridges.ANY_PLUGIN]))
    version = companion.checked()
    companion.attach()
    return version
