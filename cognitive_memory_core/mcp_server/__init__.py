"""The memory as a server of the Model Context Protocol, by its SDK, which is imported when a server starts.

Version 1 and version 2 of the SDK both work, because other plugins of a bot may need either.
"""

from __future__ import annotations

from .exchange import called as called
from .exchange import description as description
from .exchange import memory_exchange as memory_exchange
from .sdk import answer_http as answer_http
from .sdk import is_installed as is_installed
from .sdk import serve_stdio as serve_stdio
