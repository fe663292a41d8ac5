"""All subcommands; importing this module registers their handlers."""

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
