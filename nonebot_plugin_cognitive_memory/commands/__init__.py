"""``/memory`` and ``/记忆``: one file per group of subcommands. Importing this registers the command.

The subcommands are loaded with its first call, but for what comes by itself.
"""

from __future__ import annotations

from . import entry, scheduled

__all__ = ["entry", "scheduled"]
