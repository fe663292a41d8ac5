"""Picture cards for profiles, status and statistics, drawn with Pillow if it and a Chinese font are there."""

from __future__ import annotations

from .studio import Studio

__all__ = ["Studio"]
