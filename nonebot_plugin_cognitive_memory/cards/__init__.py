"""Picture cards for profiles, status and statistics, drawn with Pillow if it and a Chinese font are there."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from .layout import Card, CardLayout, Theme
from .painting import found_fonts

if TYPE_CHECKING:
    from .painting import Typefaces

MOST_WAITING = 8  # cards; further askers get text at once


class Studio:
    """Draws cards in a thread, one at a time, with the fonts of this machine, which the first card looks for."""

    def __init__(self, own_fonts: Path | None, *, has_library: bool | None = None) -> None:
        """Prepare; fonts in the folder ``own_fonts`` are preferred to the system's."""
        self._own_fonts = own_fonts
        has_it = find_spec("PIL") is not None if has_library is None else has_library
        self._typefaces: Typefaces | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0
        self.missing = "" if has_it else "library"

    async def drawn(self, card: Card, theme: Theme) -> bytes | None:
        """Return a card as a PNG; None if this machine cannot draw it, or if too many cards wait."""
        if self.missing or self._waiting >= MOST_WAITING:
            return None
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(self._draw, card, theme)
        finally:
            self._waiting -= 1

    def _draw(self, card: Card, theme: Theme) -> bytes | None:
        from .painting import Typefaces, painted  # noqa: PLC0415  # the library is optional

        if self._typefaces is None:
            self._typefaces = Typefaces(found_fonts(self._own_fonts))
        if not self._typefaces.has_chinese:
            self.missing = "font"
            return None
        return painted(CardLayout(theme, self._typefaces.length).drawing(card), self._typefaces)
