"""Every sentence of the core that a person or a model can read, in Chinese: a module for each reader.

* ``evolution``: who reads what became of a group's beliefs, and what could become one
* ``caller``: who calls the memory and made a mistake, or met a bound
* ``settings``, ``storage_errors``, ``models``: who runs the bot; ``models`` also the historian's model
* ``log``: who reads the log
* ``backfill``: who brings in what was said before
* ``command_line``, ``doctor``, ``status``: who types ``cognitive-memory``
* ``report``: who reads the quality report
* ``migration``: who moves an older memory here
* ``context``: the model that answers
* ``tools``: the model that calls the tools
* ``stored_text``: whoever reads stored profiles and statements later, the core included

A constant is a whole sentence, or a template for ``str.format`` that names its values. A function stands only where the
sentence depends on more than the values that it shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..loading_on_use import loaded_on_use

if TYPE_CHECKING:
    from . import (
        backfill,
        caller,
        command_line,
        context,
        doctor,
        evolution,
        log,
        migration,
        models,
        report,
        settings,
        status,
        storage_errors,
        stored_text,
        tools,
    )

__all__ = [
    "backfill",
    "caller",
    "command_line",
    "context",
    "doctor",
    "evolution",
    "log",
    "migration",
    "models",
    "report",
    "settings",
    "status",
    "storage_errors",
    "stored_text",
    "tools",
]

__getattr__, _ = loaded_on_use(__name__, __all__)
