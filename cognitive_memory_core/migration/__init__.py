"""Reads older memories and turns them into an export that the memory imports: nothing of a source is written."""

from __future__ import annotations

from .conversion import Conversion, Destination
from .jobs import turns_of
from .layout import Layout

__all__ = ["Conversion", "Destination", "Layout", "turns_of"]
