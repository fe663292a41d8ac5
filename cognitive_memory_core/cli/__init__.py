"""The command ``cognitive-memory``: one file per subcommand; :mod:`.main` dispatches to them."""

from __future__ import annotations

from .main import main

__all__ = ["main"]
