"""All subcommands. Importing this registers their handlers, which takes about as long as the rest of the command."""

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
