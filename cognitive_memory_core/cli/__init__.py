"""The command ``cognitive-memory``: one file a subcommand, gathered in :mod:`.main`."""

from __future__ import annotations

from .main import main

__all__ = ["main"]
