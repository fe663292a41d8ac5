"""Every sentence of the plugin that a person or a model can see, in Chinese: a module for each reader.

* ``metadata``: who looks for a plugin
* ``log``, ``bridges``: who reads the log
* ``tools``: the model that calls the tools
* ``commands``, ``usage``, ``memories``, ``looking_back``, ``status``, ``beliefs``: who types ``/memory``
* ``backfill``: who takes in what was said before
* ``cards``: who looks at a picture card
* ``settings``: who changes settings of a running bot
* ``http``, ``http_guide``: who uses the HTTP interface or MCP, and who reads its document
* ``metrics``: who watches the bot from outside
* ``console``: who opens the console; ``console_zh`` and ``console_en``: who reads its pages, in Chinese and in English;
  ``core_en``: who reads there in English what the core says

``markdown`` reads the Markdown of profiles, which QQ does not render.

A constant is a whole sentence, or a template for ``str.format`` that names its values. A function is used only where
the sentence depends on more than the values that it shows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import backfill as backfill
    from . import beliefs as beliefs
    from . import bridges as bridges
    from . import cards as cards
    from . import commands as commands
    from . import console as console
    from . import console_en as console_en
    from . import console_zh as console_zh
    from . import http as http
    from . import http_guide as http_guide
    from . import log as log
    from . import looking_back as looking_back
    from . import memories as memories
    from . import metadata as metadata
    from . import metrics as metrics
    from . import settings as settings
    from . import status as status
    from . import tools as tools
    from . import usage as usage


def __getattr__(name: str) -> object:
    """Load a module when it is first used: most bots need few of them."""
    try:
        return import_module(f".{name}", __name__)
    except ModuleNotFoundError as missing:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from missing
