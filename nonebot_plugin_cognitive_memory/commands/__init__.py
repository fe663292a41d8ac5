"""``/memory`` and ``/记忆``: one file per group of subcommands. Importing this registers them."""

from __future__ import annotations

from . import basics, beliefs, configuring, consent, console, events, operations, pins, places, profiles, suggestions

__all__ = [
    "basics",
    "beliefs",
    "configuring",
    "consent",
    "console",
    "events",
    "operations",
    "pins",
    "places",
    "profiles",
    "suggestions",
]
