"""The HTTP interface: mounted on the bot's FastAPI application if ``http.token`` is set; see :mod:`.mounting`."""

from __future__ import annotations

from .mounting import site

__all__ = ["site"]
