"""Mounts the HTTP interface on the bot's FastAPI application at import, if ``http.token`` is set; else imports nothing.

``site`` is what was mounted, None if nothing was.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from nonebot import get_driver, logger
from nonebot.drivers import Driver

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..lifecycle import get_memory

if TYPE_CHECKING:
    from .site import Site

PATH = "/memory"
SHORT = 16  # characters, below which a token is warned about


def mounted(driver: Driver, settings: core.Settings) -> Site | None:
    """Mount the interface and return it; None without a token, or with a driver that is not FastAPI's."""
    token = settings.http.token.get_secret_value().strip()
    if not token:
        return None
    app = _fastapi_of(driver)
    if app is None:
        logger.warning(replies.log.logged(replies.http.NEEDS_FASTAPI))
        return None
    from .dependencies import Backing  # noqa: PLC0415  # FastAPI is optional
    from .site import Site  # noqa: PLC0415  # the same

    site = Site(token, settings.http.hosts, Backing(get_memory, lambda: setup.settings))
    app.mount(PATH, site.app)
    logger.info(replies.log.logged(replies.http.MOUNTED.format(path=PATH)))
    if len(token) < SHORT:
        logger.warning(replies.log.logged(replies.http.GUESSABLE))
    return site


def _fastapi_of(driver: Driver) -> Any:
    """Return the driver's application if it is one of FastAPI, else None; does not import FastAPI."""
    fastapi = sys.modules.get("fastapi")
    app = getattr(driver, "server_app", None)
    return app if fastapi is not None and isinstance(app, fastapi.FastAPI) else None


site = mounted(get_driver(), setup.settings) if not setup.problem else None
