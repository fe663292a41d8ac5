"""Export and import: JSON Lines, version 1, one object a line, streamed both ways."""

from __future__ import annotations

from .streams import exported, imported

__all__ = ["exported", "imported"]
