"""The HTTP interface and what is mounted beside it, on the bot's FastAPI application, at import, if a token is set.

``site`` is what was mounted, None if nothing was. What it needs is imported only then.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from nonebot import get_driver, logger
from nonebot.drivers import Driver

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..lifecycle import get_memory

if TYPE_CHECKING:
    from .site import Site

PATH, AGENTS, METRICS = "/memory", "/mcp", "/metrics"
SHORT = 16  # characters, below which a token is warned about


def mounted(driver: Driver, settings: core.Settings) -> Site | None:
    """Mount the interface and return it; None without a token, or with a driver that is not FastAPI's."""
    token = settings.http.token.get_secret_value().strip()
    if not token:
        return None
    fastapi = sys.modules.get("fastapi")
    app: Any = getattr(driver, "server_app", None)
    if fastapi is None or not isinstance(app, fastapi.FastAPI):
        logger.warning(replies.log.logged(replies.http.NEEDS_FASTAPI))
        return None
    from .routes import Backing  # noqa: PLC0415  # FastAPI is optional
    from .site import Site  # noqa: PLC0415  # FastAPI is optional

    site = Site(token, settings.http.hosts, Backing(get_memory, lambda: setup.settings))
    app.mount(PATH, site.app)
    logger.info(replies.log.logged(replies.http.MOUNTED.format(path=PATH)))
    if len(token) < SHORT:
        logger.warning(replies.log.logged(replies.http.GUESSABLE))
    mount_agents(site, settings)
    mount_metrics(site, settings)
    return site


def mount_agents(site: Site, settings: core.Settings) -> bool:
    """Add the path of MCP clients; return False without the SDK of MCP."""
    if not core.mcp_server.is_installed():
        if settings.http.agents:
            logger.warning(replies.log.logged(replies.http.SDK_IS_MISSING))
        return False
    from .gates import agents_app  # noqa: PLC0415  # Starlette is optional

    site.add(AGENTS, agents_app(settings.http, site.backing))
    logger.info(replies.log.logged(replies.http.AGENTS_MOUNTED.format(count=len(settings.http.agents))))
    return True


def mount_metrics(site: Site, settings: core.Settings) -> bool:
    """Add the path of the metrics; return False without Prometheus' client library."""
    if find_spec("prometheus_client") is None:
        if settings.http.metrics_token.get_secret_value().strip():
            logger.warning(replies.log.logged(replies.http.LIBRARY_IS_MISSING))
        return False
    from .metrics import metrics_app  # noqa: PLC0415  # Starlette is optional

    site.add(METRICS, metrics_app(settings.http, site.backing))
    return True


site = mounted(get_driver(), setup.settings) if not setup.problem else None
