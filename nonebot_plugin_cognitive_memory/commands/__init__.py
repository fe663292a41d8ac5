"""``/memory`` and ``/记忆``: one file per group of subcommands. Importing this registers them."""

from __future__ import annotations

from . import (
    beliefs,
    configuring,
    consent,
    console,
    events,
    help_and_status,
    pins,
    places,
    profiles,
    suggestions,
    superuser,
)

__all__ = [
    "beliefs",
    "configuring",
    "consent",
    "console",
    "events",
    "help_and_status",
    "pins",
    "places",
    "profiles",
    "suggestions",
    "superuser",
]
