"""``/memory`` and ``/记忆``: one file per group of subcommands. Importing this registers them."""

from __future__ import annotations

from . import basics, events, pins, profiles

__all__ = ["basics", "events", "pins", "profiles"]
