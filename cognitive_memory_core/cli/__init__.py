"""The command ``cognitive-memory``; :mod:`.main` names the function of each subcommand."""

from __future__ import annotations

from .main import main

__all__ = ["main"]
