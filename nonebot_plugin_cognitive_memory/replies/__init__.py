"""Every sentence of the plugin that a person or a model can see, in Chinese: a module for each reader.

* ``label``: who looks for a plugin
* ``log``, ``bridges``: who reads the log
* ``tools``: the model that calls the tools
* ``commands``, ``usage``, ``memories``, ``status``, ``beliefs``, ``suggestions``, ``quality``: who types ``/memory``
* ``cards``: who looks at a picture card
* ``settings``: who changes settings of a running bot
* ``agents``: agents that speak MCP, and who reads the log about them
* ``http``, ``http_guide``: who uses the HTTP interface, and who reads its document
* ``metrics``: who watches the bot from outside
* ``console``: who opens the console; ``console_zh`` and ``console_en``: who reads its pages, in Chinese and in English

A constant is a whole sentence, or a template for ``str.format`` that names its values. A function is used only where
the sentence depends on more than the values that it shows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import (
        agents,
        beliefs,
        bridges,
        cards,
        commands,
        console,
        console_en,
        console_zh,
        http,
        http_guide,
        label,
        log,
        memories,
        metrics,
        quality,
        settings,
        status,
        suggestions,
        tools,
        usage,
    )

__all__ = [
    "agents",
    "beliefs",
    "bridges",
    "cards",
    "commands",
    "console",
    "console_en",
    "console_zh",
    "http",
    "http_guide",
    "label",
    "log",
    "memories",
    "metrics",
    "quality",
    "settings",
    "status",
    "suggestions",
    "tools",
    "usage",
]


def __getattr__(name: str) -> object:
    """Load a module when it is first used: most bots need few of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f".{name}", __name__)
