"""``/memory`` and ``/记忆``: a file a family of subcommands. Importing this registers them."""

from __future__ import annotations

from . import basics, events, pins, profiles

__all__ = ["basics", "events", "pins", "profiles"]
