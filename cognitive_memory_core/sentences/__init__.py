"""Every sentence of the core that a person or a model can read, in Chinese: a module for each reader.

* ``caller``: who calls the memory and made a mistake, met a bound, changed beliefs or brings in what was said before
* ``settings``, ``storage_errors``, ``models``: who runs the bot; ``models`` also the historian's model
* ``log``: who reads the log
* ``command_line``: who types ``cognitive-memory``
* ``report``: who reads the quality report or ``cognitive-memory status``
* ``context``: the model that answers, and whoever reads stored profiles and statements later, the core included
* ``tools``: the model that calls the tools

A constant is a whole sentence, or a template for ``str.format`` that names its values. A function stands only where the
sentence depends on more than the values that it shows.
"""

from __future__ import annotations

from . import caller, command_line, context, log, models, report, settings, storage_errors, tools

__all__ = ["caller", "command_line", "context", "log", "models", "report", "settings", "storage_errors", "tools"]
