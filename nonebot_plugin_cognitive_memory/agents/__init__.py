"""The memory for MCP clients, at ``/memory/mcp`` of the HTTP interface; see :mod:`.mounting`."""

from __future__ import annotations

from .mounting import is_mounted

__all__ = ["is_mounted"]
