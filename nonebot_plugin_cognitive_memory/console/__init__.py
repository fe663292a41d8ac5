"""The web console: pages for the operator at ``/memory/console``, if the HTTP interface is mounted and it is set.

``access`` are its login codes and sessions, None if nothing was mounted.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from nonebot import logger

import cognitive_memory_core as core

from .. import http, replies
from ..config import setup

if TYPE_CHECKING:
    from ..http.site import Site
    from .sessions import ConsoleAccess

PATH = "/console"
ADDRESS = f"{http.PATH}{PATH}"


def opened(site: Site | None, settings: core.Settings) -> ConsoleAccess | None:
    """Mount the console; return its login codes and sessions, or None if it is switched off or Jinja is missing."""
    if site is None or not settings.http.console:
        return None
    if find_spec("jinja2") is None or find_spec("python_multipart") is None:
        logger.warning(replies.log.logged(replies.commands.NEEDS_JINJA))
        return None
    from .application import console_application  # noqa: PLC0415  # Jinja and FastAPI are optional
    from .records import Records, is_own  # noqa: PLC0415  # Jinja and FastAPI are optional
    from .sessions import ConsoleAccess  # noqa: PLC0415  # Jinja and FastAPI are optional
    from .visit import ConsoleContext  # noqa: PLC0415  # Jinja and FastAPI are optional

    access, records = ConsoleAccess(), Records()
    logger.add(records.take, level="INFO", filter=is_own, format="{message}")
    context = ConsoleContext(site.backing, setup.data_dir, records=records)
    site.add(PATH, console_application(access, context, settings.http.token.get_secret_value().strip()))
    logger.info(replies.log.logged(replies.commands.CONSOLE_MOUNTED.format(path=ADDRESS)))
    return access


access = opened(http.site, setup.settings)
