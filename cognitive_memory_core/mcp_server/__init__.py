"""The memory as a server of the Model Context Protocol, by its SDK, which is imported when a server starts.

Version 1 and version 2 of the SDK both work, because other plugins of a bot may need either.
"""

from __future__ import annotations

from .exchange import Exchange, UnknownResource, called, description, memory_exchange
from .sdk import answer_http, is_installed, serve_stdio

__all__ = [
    "Exchange",
    "UnknownResource",
    "answer_http",
    "called",
    "description",
    "is_installed",
    "memory_exchange",
    "serve_stdio",
]
