"""Adds the path for MCP clients to the HTTP interface at import, if there is one and MCP's SDK is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonebot import logger

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..http import site as mounted_site

if TYPE_CHECKING:
    from ..http.site import Site

PATH = "/mcp"


def mount_agents(site: Site | None, settings: core.Settings) -> bool:
    """Add the path to ``site`` and return True; return False without a site or without the SDK of MCP."""
    if site is None:
        return False
    if not core.mcp_server.is_installed():
        if settings.http.agents:
            logger.warning(replies.log.logged(replies.agents.SDK_IS_MISSING))
        return False
    from .agent_gate import AgentGate  # noqa: PLC0415  # Starlette is optional

    site.add(PATH, AgentGate(settings.http, site.backing))
    logger.info(replies.log.logged(replies.agents.MOUNTED.format(count=len(settings.http.agents))))
    return True


is_mounted = mount_agents(mounted_site, setup.settings)
