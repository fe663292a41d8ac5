"""Fonts made for tests: every character is a box, so that cards can be drawn on machines without a Chinese font."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

UNITS = 1_000
HAN = range(0x4E00, 0xA000)
PUNCTUATION = (*range(0x20, 0x7F), *range(0x3000, 0x3020), *range(0xFF01, 0xFF5F), 0xB7, 0x2026)


def a_font(folder: Path, name: str = "BoxesSC-Regular.ttf", characters: Iterable[int] = (*PUNCTUATION, *HAN)) -> Path:
    """Write a font with some characters; return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    font = FontBuilder(UNITS, isTTF=True)
    font.setupGlyphOrder([".notdef", "space", "box"])
    font.setupCharacterMap({code: "space" if code == 0x20 else "box" for code in characters})
    font.setupGlyf({".notdef": _box(300), "space": TTGlyphPen(None).glyph(), "box": _box(800)})
    font.setupHorizontalMetrics(dict.fromkeys((".notdef", "space", "box"), (UNITS, 0)))
    font.setupHorizontalHeader(ascent=880, descent=-120)
    font.setupNameTable({"familyName": "Boxes SC", "styleName": "Regular"})
    font.setupOS2(sTypoAscender=880, usWinAscent=880, usWinDescent=120)
    font.setupPost()
    path = folder / name
    font.save(path)
    return path


def _box(side: int) -> object:
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100 + side, 0), (100 + side, side), (100, side)):
        pen.lineTo(corner)
    pen.closePath()
    return pen.glyph()
