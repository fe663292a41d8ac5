"""Colours of cards, light and dark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .card import Accent, Tone

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Theme:
    """The colours of one appearance; an accent is a gradient from its first to its second colour."""

    page: Colour
    sheet: Colour
    edge: Colour
    text: Colour
    faint: Colour
    label: Colour
    tones: Mapping[Tone, Colour]
    accents: Mapping[Accent, tuple[Colour, Colour]]


LIGHT = Theme(
    page=(236, 239, 245),
    sheet=(255, 255, 255),
    edge=(226, 230, 238),
    text=(31, 38, 51),
    faint=(122, 131, 148),
    label=(240, 243, 249),
    tones={"good": (46, 174, 104), "busy": (237, 152, 45), "bad": (224, 82, 82), "plain": (150, 159, 176)},
    accents={
        "person": ((84, 112, 255), (149, 98, 240)),
        "group": ((14, 159, 152), (54, 128, 227)),
        "status": ((42, 157, 105), (20, 150, 170)),
        "figures": ((240, 126, 72), (224, 82, 122)),
    },
)
DARK = Theme(
    page=(17, 20, 27),
    sheet=(28, 33, 43),
    edge=(43, 50, 64),
    text=(229, 233, 242),
    faint=(139, 149, 168),
    label=(39, 46, 60),
    tones={"good": (70, 196, 130), "busy": (240, 170, 80), "bad": (240, 112, 112), "plain": (110, 120, 140)},
    accents={
        "person": ((66, 84, 196), (112, 72, 190)),
        "group": ((12, 118, 116), (40, 96, 176)),
        "status": ((28, 118, 80), (16, 108, 126)),
        "figures": ((186, 92, 52), (170, 58, 94)),
    },
)
