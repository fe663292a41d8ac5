"""Draws cards in a thread, one at a time; without Pillow or a Chinese font it draws none."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from .card import Card
from .fonts import found_fonts
from .layout import CardLayout
from .themes import Theme

if TYPE_CHECKING:
    from .painting import Typefaces

MOST_WAITING = 8  # cards; further askers get text at once


class Studio:
    """Draws cards with the fonts of this machine, which the first card looks for."""

    def __init__(self, own_fonts: Path | None, *, has_library: bool | None = None) -> None:
        """Prepare; fonts in the folder ``own_fonts`` are preferred to the system's."""
        self._own_fonts = own_fonts
        self._has_library = find_spec("PIL") is not None if has_library is None else has_library
        self._typefaces: Typefaces | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0
        self.missing = "" if self._has_library else "library"
        self._is_set_up = not self._has_library

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
        from .painting import painted  # noqa: PLC0415  # the library is optional

        typefaces = self._fonts()
        if typefaces is None:
            return None
        return painted(CardLayout(theme, typefaces.length).drawing(card), typefaces)

    def _fonts(self) -> Typefaces | None:
        from .painting import NoChineseFont, Typefaces  # noqa: PLC0415  # the library is optional

        if not self._is_set_up:
            self._is_set_up = True
            try:
                self._typefaces = Typefaces(found_fonts(self._own_fonts))
            except NoChineseFont:
                self.missing = "font"
        return self._typefaces
