"""Paints a drawing with Pillow; no other module imports it."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from .fonts import FontFiles
from .layout import WIDTH, Box, Colour, Words, is_emoji

PROBE, PROBED = chr(0x8BB0), 24  # a character that a Chinese font has, and the size at which glyphs are compared
UNASSIGNED = "\U0010fffd"
FACES = 12  # of one collection file
EMOJI_SIZES = (109, 160, 136, 128, 96, 64)
MOST_SYMBOL_FONTS = 6
COLOURS = 256
GLYPHS, TILES = 8_192, 256
SMOOTH = 4  # times larger are boxes drawn, then reduced

Font = ImageFont.FreeTypeFont
Face = tuple[Path, int]  # a font file and the number of the face in it


class Typefaces:
    """The fonts of this machine: a Chinese one, its bold cut, and others for characters that it lacks."""

    def __init__(self, files: FontFiles) -> None:
        """Open the fonts; :attr:`has_chinese` tells whether any has Chinese characters."""
        found = next((face for path in files.chinese if (face := _chinese_face(path))), None)
        self.has_chinese = found is not None
        self._regular = found or (Path(), 0)
        bold = files.bold_of(self._regular[0])
        self._bold = (_chinese_face(bold) if bold else None) or self._regular
        self._others = [(path, 0) for path in files.symbols[:MOST_SYMBOL_FONTS] if _opened(path, 0, PROBED)]
        self._emoji = next((face for path in files.emoji if (face := _emoji_face(path))), None)
        self._font = lru_cache(64)(_opened)
        self._glyphs_of: Callable[[str, bool], tuple[Face, str] | None] = lru_cache(GLYPHS)(self._choose)
        self.tile: Callable[[str, int], Image.Image | None] = lru_cache(TILES)(self._drawn_tile)

    def length(self, cluster: str, size: int, bold: bool) -> float:
        """Return the width of a cluster in pixels; 0 if no font has it, because it is then left out."""
        if is_emoji(cluster) and self.tile(cluster, size):
            return size * 1.2
        font, drawn = self.glyphs_of(cluster, size, bold)
        return font.getlength(drawn) if font else 0.0

    def glyphs_of(self, cluster: str, size: int, bold: bool) -> tuple[Font | None, str]:
        """Return the first font that has a cluster's first character, and the characters of the cluster that it has."""
        found = self._glyphs_of(cluster, bold)
        return (self._font(*found[0], size), found[1]) if found else (None, "")

    def _choose(self, cluster: str, bold: bool) -> tuple[Face, str] | None:
        for face in (self._bold if bold else self._regular, *self._others):
            font, drawn = self._font(*face, PROBED), ""
            for char in cluster:
                drawn += char if _has(font, char, after=drawn) else ""
            if drawn[:1] == cluster[:1]:
                return face, drawn
        return None

    def _drawn_tile(self, cluster: str, size: int) -> Image.Image | None:
        """Return an emoji drawn at its font's size and reduced to the text's; None if it cannot be drawn in colour."""
        if self._emoji is None:
            return None
        font, native = self._emoji
        width = min(round(font.getlength(cluster)), native * 4)
        if width <= 0:
            return None
        tile = Image.new("RGBA", (width, round(native * 1.2)))
        ImageDraw.Draw(tile).text((0, native * 0.6), cluster, font=font, embedded_color=True, anchor="lm")
        box = tile.getbbox()
        if box is None:
            return None
        tile = tile.crop(box)
        tile.thumbnail((round(size * 1.06), round(size * 1.06)), Image.Resampling.LANCZOS)
        return tile


def painted(height: int, parts: Sequence[Words | Box], page: Colour, typefaces: Typefaces) -> bytes:
    """Paint boxes and words in their order on a page, and return it as a PNG."""
    image = Image.new("RGB", (WIDTH, height), page)
    pen = ImageDraw.Draw(image)
    for part in parts:
        if isinstance(part, Box):
            _paint_box(image, part)
            continue
        x, room = part.x, part.size * 1.2
        for cluster in part.clusters:
            tile = typefaces.tile(cluster, part.size) if is_emoji(cluster) else None
            font, drawn = typefaces.glyphs_of(cluster, part.size, part.bold)
            if tile:
                image.paste(tile, (round(x + (room - tile.width) / 2), round(part.y - tile.height / 2)), tile)
            elif font:
                pen.text((x, part.y + part.size * 0.35), drawn, font=font, fill=part.colour, anchor="ls")
            x += typefaces.length(cluster, part.size, part.bold)
    file = io.BytesIO()
    image.quantize(COLOURS).save(file, "PNG", optimize=True)
    return file.getvalue()


def _paint_box(image: Image.Image, box: Box) -> None:
    width, height = max(round(box.width), 1), max(round(box.height), 1)
    filling = Image.new("RGB", (width, height), box.colour)
    if box.to:
        steps = Image.linear_gradient("L").rotate(90).resize((width, height))
        filling = Image.composite(Image.new("RGB", steps.size, box.to), filling, steps)
    large = Image.new("L", (width * SMOOTH, height * SMOOTH))
    whole = (0, 0, large.width - 1, large.height - 1)
    ImageDraw.Draw(large).rounded_rectangle(whole, box.radius * SMOOTH, fill=255, corners=box.corners)
    image.paste(filling, (round(box.x), round(box.y)), large.resize((width, height), Image.Resampling.BOX))


def _opened(path: Path, index: int, size: int) -> Font | None:
    try:
        return ImageFont.truetype(str(path), size, index=index)
    except (OSError, ValueError):
        return None


def _chinese_face(path: Path) -> tuple[Path, int] | None:
    """Return the best face of a font file with Chinese characters, for mainland China if possible; None without one."""
    ranks: dict[int, int] = {}  # lowest for simplified Chinese, highest for monospaced ones
    for index in range(FACES if path.suffix.lower() in (".ttc", ".otc") else 1):
        font = _opened(path, index, PROBED)
        if font and _has(font, PROBE):
            words = " ".join(part or "" for part in font.getname()).replace("-", " ").split()
            ranks[index] = 4 * ("Mono" in words) + 2 * (not {"SC", "CN", "GB", "YaHei"} & {*words}) + ("UI" in words)
    return (path, min(ranks, key=ranks.__getitem__)) if ranks else None


def _emoji_face(path: Path) -> tuple[Font, int] | None:
    """Return an emoji font and the size at which it opens; None if it does not open or draws nothing in colour."""
    for size in EMOJI_SIZES:
        font = _opened(path, 0, size)
        if font is not None:
            tile = Image.new("RGBA", (size * 2, size * 2))
            ImageDraw.Draw(tile).text((0, 0), "\U0001f600", font=font, embedded_color=True)
            colours = tile.convert("RGB").getcolors(maxcolors=1 << 24) or []
            return (font, size) if len(colours) > 8 else None  # noqa: PLR2004  # black and its edges are fewer
    return None


def _has(font: Font | None, char: str, *, after: str = "") -> bool:
    """Return whether a font has a character; a mark is tried on the characters before it."""
    if font is None:
        return False
    drawn = _glyph(font, after + char)
    return char.isspace() or (
        drawn.getbbox() is not None and drawn.tobytes() != _glyph(font, after + UNASSIGNED).tobytes()
    )


def _glyph(font: Font, char: str) -> Image.Image:
    image = Image.new("L", (2 * PROBED, 2 * PROBED))
    ImageDraw.Draw(image).text((PROBED / 2, PROBED / 4), char, font=font, fill=255)
    return image
