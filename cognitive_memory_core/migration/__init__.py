"""Converts the memory of an older system to an export that this memory imports; the source is never changed."""

from __future__ import annotations

from .conversion import Conversion, Destination, turns_of
from .layout import Layout

__all__ = ["Conversion", "Destination", "Layout", "turns_of"]
