"""The web console: pages for the operator at ``/memory/console``; see :mod:`.mounting`."""

from __future__ import annotations

from .mounting import access

__all__ = ["access"]
