"""Export and import: JSON Lines, version 1, one object per line, streamed both ways. Backup: a data directory."""

from __future__ import annotations

from .backup import backed_up, checked_target
from .export_import import exported, imported

__all__ = ["backed_up", "checked_target", "exported", "imported"]
