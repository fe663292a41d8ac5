"""What a card shows, without any drawing. Texts are drawn literally: nothing in them is markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Accent = Literal["person", "group", "status", "figures"]
Tone = Literal["good", "busy", "bad", "plain"]


@dataclass(frozen=True)
class Labels:
    """Short words in rounded boxes."""

    words: Sequence[str]


@dataclass(frozen=True)
class Figures:
    """Numbers in large type, each with a label of what it counts below it."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Paragraphs:
    """A heading ("" for none) above lines of text; a line that is a list item gets a dot."""

    heading: str
    lines: Sequence[tuple[str, bool]]


@dataclass(frozen=True)
class Remarks:
    """Sentences, each with a coloured dot."""

    lines: Sequence[tuple[Tone, str]]


@dataclass(frozen=True)
class Chart:
    """A bar per day, with the day below it, and one sentence on all bars."""

    heading: str
    caption: str
    bars: Sequence[tuple[str, int]]


Block = Labels | Figures | Paragraphs | Remarks | Chart


@dataclass(frozen=True)
class Card:
    """A card: a coloured head with a sign, a title and a subtitle, then blocks, then a small line at the end.

    Of ``sign`` the first character or emoji that a font has is drawn.
    """

    accent: Accent
    sign: str
    title: str
    subtitle: str
    blocks: Sequence[Block]
    footer: str
