"""Adds the metrics to the HTTP interface at import, if there is one and Prometheus' client library is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from nonebot import logger

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..http import site as mounted_site

if TYPE_CHECKING:
    from ..http.site import Site

PATH = "/metrics"


def mount_metrics(site: Site | None, settings: core.Settings) -> bool:
    """Add the path to ``site`` and return True; return False without a site or without the library."""
    if site is None:
        return False
    if find_spec("prometheus_client") is None:
        if settings.http.metrics_token.get_secret_value().strip():
            logger.warning(replies.log.logged(replies.metrics.LIBRARY_IS_MISSING))
        return False
    from .metrics_gate import MetricsGate  # noqa: PLC0415  # Starlette is optional

    site.add(PATH, MetricsGate(settings.http, site.backing))
    return True


is_mounted = mount_metrics(mounted_site, setup.settings)
