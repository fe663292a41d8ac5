"""Gives the memory to chat plugins that do not know it: one module for each, chosen by ``bridges``."""

from __future__ import annotations

from nonebot import get_driver

from ..config import setup


async def attach_chosen() -> None:
    """Attach the bridges named in the settings, once every plugin is loaded; a refused bridge is logged, not raised."""
    if setup.settings.bridges:
        from .attaching import attach  # noqa: PLC0415  # most bots have no bridge

        attach(dict.fromkeys(setup.settings.bridges))


get_driver().on_startup(attach_chosen)
