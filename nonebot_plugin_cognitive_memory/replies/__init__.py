"""Every sentence of the plugin that a person or a model can see, in Chinese: a module for each reader.

* ``log``: who reads the log
* ``chat_plugins``: who runs or writes a chat plugin, and the model that calls the tools
* ``commands``, ``memories``, ``status``: who types ``/memory`` or looks at a picture card
* ``http``, ``http_guide``: who uses the HTTP interface or MCP, and who reads its document
* ``console_zh`` and ``console_en``: who reads the console's pages, in Chinese and in English; ``console_core_en``: who
  reads there in English what the core says

A constant is a whole sentence, or a template for ``str.format`` that names its values. A function is used only where
the sentence depends on more than the values that it shows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import chat_plugins as chat_plugins
    from . import commands as commands
    from . import console_en as console_en
    from . import console_zh as console_zh
    from . import http as http
    from . import http_guide as http_guide
    from . import log as log
    from . import memories as memories
    from . import status as status


def __getattr__(name: str) -> object:
    """Load a module when it is first used: most bots need few of them."""
    try:
        return import_module(f".{name}", __name__)
    except ModuleNotFoundError as missing:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from missing
