"""What a card is, and the positions of its texts and boxes; uses no image library.

Texts are drawn literally: nothing in them is markup. A text is split into clusters, each drawn as a whole, and broken
into lines; emoji and Chinese punctuation are heeded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn", "Me")  # categories of what is not drawn by itself
EAST_ASIAN = 0x2E80  # where the East Asian scripts begin
MOST_MARKS = 2  # combining marks on one character; towers of them leave the line
_PICTURE = (
    "[\U0001f000-\U0001faff]|[\u2600-\u27bf\u2b05-\u2b55\u231a-\u23ff\u25aa-\u25fe\u2190-\u21ff\u00a9\u00ae\u203c\u2049"
    "\u2122\u2139\u3030\u303d\u3297\u3299](?=\ufe0f)|[\u231a\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615"
    "\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa"
    "\u26fd\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55]"
)
_CHANGED = "(?:\ufe0f|[\U0001f3fb-\U0001f3ff])*"
_EMOJI = re.compile(
    f"[\U0001f1e6-\U0001f1ff]{{2}}|[0-9#*]\ufe0f?\u20e3|(?:{_PICTURE}){_CHANGED}[\U000e0020-\U000e007f]{{0,8}}"
    f"(?:\u200d(?:{_PICTURE}|[\u2600-\u27bf]){_CHANGED}){{0,6}}"
)
_OPENING = frozenset("（「『《〈【〔“‘([{")
_CLOSING = frozenset("，。！？、；：）」』》〉】〕”’…～·,.!?;:)]}%％")


def is_emoji(cluster: str) -> bool:
    """Return whether a cluster is drawn with the emoji font."""
    return _EMOJI.fullmatch(cluster) is not None


def clusters(text: str) -> Iterator[str]:
    """Split one line of text into emoji sequences and characters with their marks; what is invisible is dropped."""
    at = 0
    while at < len(text):
        emoji = _EMOJI.match(text, at)
        if emoji:
            yield emoji[0]
            at = emoji.end()
            continue
        end, marks = at + 1, 0
        while end < len(text) and unicodedata.category(text[end]) in ("Mn", "Me"):
            end += 1
            marks += 1
        char = text[at]
        if unicodedata.category(char) not in HIDDEN:
            yield char + "".join(mark for mark in text[at + 1 : end] if mark not in "\ufe0e\ufe0f")[:MOST_MARKS]
        at = end


def wrapped(text: str, width: float, measure: Callable[[str], float], *, most: int) -> list[list[str]]:
    """Break a text into at most ``most`` lines of clusters; "…" at the end marks that the rest is left out.

    Clusters without a width, which no font has, are left out.
    """
    lines: list[list[str]] = [[]]
    room = width
    for piece in _pieces(filter(measure, clusters(" ".join(text.split())))):
        length = sum(map(measure, piece))
        if length > room and lines[-1]:
            lines.append([])
            room = width
        for part in [piece] if length <= room else _cut(piece, room, width, measure):
            needed = sum(map(measure, part))
            if needed > room and lines[-1]:
                lines.append([])
                room = width
            if part == [" "] and lines[-1][-1:] in ([], [" "]):
                continue
            lines[-1] += part
            room -= needed
        if len(lines) > most:
            return [*lines[: most - 1], fitted([*lines[most - 1], "…"], width, measure, is_cut=True)]
    return [line for line in lines if line]


def fitted(line: Iterable[str], width: float, measure: Callable[[str], float], *, is_cut: bool = False) -> list[str]:
    """Shorten a line to a width, ending in "…" if anything is left out."""
    whole = list(line)
    if sum(map(measure, whole)) <= width:
        return whole
    room, kept = width - measure("…"), list[str]()
    for cluster in whole[:-1] if is_cut else whole:
        room -= measure(cluster)
        if room < 0:
            break
        kept.append(cluster)
    return [*kept, "…"]


def _pieces(found: Iterable[str]) -> Iterator[list[str]]:
    """Group clusters that must stay on one line: Latin words, and punctuation with the character beside it."""
    piece: list[str] = []
    for cluster in found:
        before = piece[-1] if piece else " "
        is_word = all(ord(one[0]) < EAST_ASIAN and not is_emoji(one) for one in (before, cluster))
        is_held = is_word or cluster[0] in _CLOSING or before[0] in _OPENING
        if piece and (" " in (before, cluster) or not is_held):
            yield piece
            piece = []
        piece.append(cluster)
    if piece:
        yield piece


def _cut(piece: Sequence[str], room: float, width: float, measure: Callable[[str], float]) -> Iterator[list[str]]:
    """Break a piece between its clusters: the first part fits in ``room``, each other part in ``width``."""
    part: list[str] = []
    for cluster in piece:
        length = measure(cluster)
        if part and length > room:
            yield part
            part, room = [], width
        part.append(cluster)
        room -= length
    if part:
        yield part


Accent = Literal["person", "group", "status", "figures"]
Tone = Literal["good", "busy", "bad", "plain"]
Colour = tuple[int, int, int]

WIDTH, MARGIN, PADDING = 1000, 36, 48
HEAD, SIGN = 208, 116
GAP = 38  # between blocks
RADIUS = 34
MOST_LINES = 48  # of text on a card, headings included
MOST_LABELS, MOST_FIGURES, MOST_BARS = 12, 9, 31
WHITE: Colour = (255, 255, 255)
Measure = Callable[[str, int, bool], float]
Corners = tuple[bool, bool, bool, bool]  # top left, top right, bottom right, bottom left
ALL: Corners = (True, True, True, True)
TOP: Corners = (True, True, False, False)


@dataclass(frozen=True)
class Card:
    """A card: a coloured head with a sign, a title and a subtitle, then blocks, then a small line at the end.

    Of ``sign`` the first character or emoji that a font has is drawn. Blocks call methods of a layout.
    """

    accent: Accent
    sign: str
    title: str
    subtitle: str
    blocks: Sequence[Callable[[CardLayout], None]]
    footer: str


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


def _theme(tokens: str) -> Theme:
    """Return the theme whose colours a style sheet states."""
    found: dict[str, Colour] = {}
    for name, hexadecimal in re.findall(r"--([a-z-]+): #([0-9a-f]{6});", tokens):
        red, green, blue = bytes.fromhex(hexadecimal)
        found[name] = red, green, blue
    plain = {name: found[name] for name in ("page", "sheet", "edge", "text", "faint", "label")}
    tones: dict[Tone, Colour] = {name: found[name] for name in get_args(Tone)}
    accents: dict[Accent, tuple[Colour, Colour]] = {
        name: (found[name], found[f"{name}-to"]) for name in get_args(Accent)
    }
    return Theme(**plain, tones=tones, accents=accents)


TOKENS = Path(__file__).with_name("tokens.css")  # also the console's and the site's
LIGHT, DARK = map(_theme, TOKENS.read_text("utf-8").split("@media"))


@dataclass(frozen=True)
class Words:
    """Clusters of one line from ``x`` on; ``y`` is the middle of the line's height."""

    x: float
    y: float
    clusters: Sequence[str]
    size: int
    colour: Colour
    bold: bool = False


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners; with ``to``, a gradient from ``colour`` at the left to ``to`` at the right."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    colour: Colour
    to: Colour | None = None
    corners: Corners = ALL


@dataclass(frozen=True)
class Drawing:
    """The boxes and words to be drawn, in order, and the size and colour of the page, in pixels."""

    width: int
    height: int
    page: Colour
    parts: Sequence[Words | Box]


class CardLayout:
    """Places the parts of one card below each other; ``measure`` returns the width of a cluster at a font size."""

    def __init__(self, theme: Theme, measure: Measure) -> None:
        """Start at the top of an empty page."""
        self._theme = theme
        self._measure = measure
        self._parts: list[Words | Box] = []
        self._y = 0.0
        self._lines = MOST_LINES
        self._accent: tuple[Colour, Colour] = (WHITE, WHITE)
        self._left = MARGIN + PADDING
        self._room = WIDTH - 2 * (MARGIN + PADDING)

    def drawing(self, card: Card) -> Drawing:
        """Return the drawing of a card."""
        self._accent = self._theme.accents[card.accent]
        self._y = MARGIN + HEAD
        for block in card.blocks:
            if self._lines > 0:
                self._y += GAP
                block(self)
        self._y += GAP
        footer = Words(self._left, self._y + 18, self._fitted(card.footer, self._room, 24), 24, self._theme.faint)
        self._parts.append(footer)
        self._y += 36 + GAP - 8
        bottom, sheet = self._y, WIDTH - 2 * MARGIN
        body = Box(MARGIN, MARGIN, sheet, bottom - MARGIN, RADIUS, self._theme.sheet)
        parts = (body, *self._head(card), *self._parts)
        return Drawing(WIDTH, round(bottom + MARGIN), self._theme.page, parts)

    def _head(self, card: Card) -> list[Words | Box]:
        first, second = self._accent
        top, left = MARGIN, MARGIN + 44
        middle, right = top + HEAD / 2, left + SIGN + 32
        room = WIDTH - MARGIN - 44 - right
        disc = Box(left, middle - SIGN / 2, SIGN, SIGN, SIGN / 2, _mixed(first, WHITE, 0.26))
        sign = self._fitted(card.sign, 1e9, 54, bold=True)[:1] or ["?"]
        whole = wrapped(card.title, 1e9, self._measured(50, bold=True), most=1)
        fits = (size for size in (50, 44) if self._length(whole[0] if whole else (), size, bold=True) <= room)
        size = next(fits, 38)
        head: list[Words | Box] = [
            Box(MARGIN, top, WIDTH - 2 * MARGIN, HEAD, RADIUS, first, second, TOP),
            disc,
            Words(left + (SIGN - self._length(sign, 54, bold=True)) / 2, middle, sign, 54, WHITE, bold=True),
            Words(right, middle - 28, self._fitted(card.title, room, size, bold=True), size, WHITE, bold=True),
        ]
        faint = _mixed(second, WHITE, 0.82)
        return [*head, Words(right, middle + 40, self._fitted(card.subtitle, room, 28), 28, faint)]

    def labels(self, words: Sequence[str]) -> None:
        """Place short words in rounded boxes."""
        x, size, height = float(self._left), 28, 54
        fitting = (self._fitted(word, self._room - 48, size) for word in words)
        for clusters in islice(filter(None, fitting), MOST_LABELS):
            width = self._length(clusters, size) + 48
            if x > self._left and x + width > self._left + self._room:
                x, self._y = float(self._left), self._y + height + 14
            self._parts.append(Box(x, self._y, width, height, height / 2, self._theme.label))
            self._parts.append(Words(x + 24, self._y + height / 2, clusters, size, self._theme.text))
            x += width + 14
        self._y += height

    def figures(self, counted: Sequence[tuple[str, str]]) -> None:
        """Place numbers in large type, each with a label of what it counts below it."""
        pairs = counted[:MOST_FIGURES]
        columns = min(max(len(pairs), 1), 3)
        width = self._room / columns
        for at, (number, label) in enumerate(pairs):
            if at and at % columns == 0:
                self._y += 136
            x = self._left + width * (at % columns)
            clusters = self._fitted(number, width - 16, 58, bold=True)
            self._parts.append(Words(x, self._y + 34, clusters, 58, self._readable_accent(), bold=True))
            self._parts.append(Words(x, self._y + 88, self._fitted(label, width - 16, 26), 26, self._theme.faint))
        self._y += 108

    def paragraphs(self, heading: str, lines_of: Sequence[tuple[str, bool]]) -> None:
        """Place a heading ("" for none) above lines of text; a line that is a list item gets a dot."""
        if heading:
            self._heading(heading)
        for text, is_item in lines_of:
            top, lines = self._y, self._lines
            self._text(text, 32, 50, indent=34 if is_item else 0)
            if is_item and self._lines < lines:
                self._parts.append(Box(self._left + 4, top + 20, 10, 10, 5, self._readable_accent()))
        self._y -= 4

    def remarks(self, lines: Sequence[tuple[Tone, str]]) -> None:
        """Place sentences, each with a coloured dot."""
        for tone, text in lines:
            if self._lines > 0:
                self._parts.append(Box(self._left + 2, self._y + 16, 14, 14, 7, self._theme.tones[tone]))
                self._text(text, 29, 46, indent=34)
                self._y += 8
        self._y -= 8

    def chart(self, heading: str, caption: str, counts: Sequence[tuple[str, int]]) -> None:
        """Place a bar per day, with the day below it, and one sentence on all bars."""
        self._heading(heading, caption)
        bars, height = counts[-MOST_BARS:], 168
        most = max((count for _, count in bars), default=0)
        step = self._room / max(len(bars), 1)
        base = self._y + 34 + height
        for at, (label, count) in enumerate(bars):
            x = self._left + step * at
            tall = max(height * count / most, 8) if count else 4
            colour = self._readable_accent() if count else self._theme.edge
            self._parts.append(
                Box(x + step * 0.17, base - tall, step * 0.66, tall, min(8, tall / 2), colour, None, TOP)
            )
            if count == most or (at == len(bars) - 1 and count):
                self._centred(str(count), x, step, base - tall - 20, 24)
            if (len(bars) - 1 - at) % 2 == 0:
                self._centred(label, x, step, base + 26, 22)
        self._parts.append(Box(self._left, base, self._room, 2, 0, self._theme.edge))
        self._y = base + 44

    def _heading(self, text: str, beside: str = "") -> None:
        self._parts.append(Box(self._left, self._y + 7, 8, 30, 4, self._accent[0], self._accent[0]))
        clusters = self._fitted(text, self._room - 24, 31, bold=True)
        self._parts.append(Words(self._left + 22, self._y + 22, clusters, 31, self._theme.text, bold=True))
        room = self._room - 22 - self._length(clusters, 31, bold=True) - 24
        if beside and room > 0:
            said = self._fitted(beside, room, 25)
            right = self._left + self._room - self._length(said, 25)
            self._parts.append(Words(right, self._y + 23, said, 25, self._theme.faint))
        self._y += 56
        self._lines -= 1

    def _text(self, text: str, size: int, height: int, *, indent: int) -> None:
        """Place a text on the next lines, at most as many as the card has room for; a text that is cut ends in "…"."""
        measure = self._measured(size)
        lines = wrapped(text, self._room - indent, measure, most=self._lines) if self._lines > 0 else []
        for line in lines:
            self._parts.append(Words(self._left + indent, self._y + height / 2, line, size, self._theme.text))
            self._y += height
        self._lines -= len(lines)

    def _centred(self, text: str, x: float, width: float, y: float, size: int) -> None:
        self._parts.append(Words(x + (width - self._length(text, size)) / 2, y, text, size, self._theme.faint))

    def _fitted(self, text: str, width: float, size: int, *, bold: bool = False) -> list[str]:
        lines = wrapped(text, width, self._measured(size, bold=bold), most=1)
        return fitted(lines[0], width, self._measured(size, bold=bold)) if lines else []

    def _length(self, clusters: Sequence[str], size: int, *, bold: bool = False) -> float:
        return sum(self._measure(cluster, size, bold) for cluster in clusters)

    def _measured(self, size: int, *, bold: bool = False) -> Callable[[str], float]:
        return lambda cluster: self._measure(cluster, size, bold)

    def _readable_accent(self) -> Colour:
        """Return the accent colour, lighter on a dark page."""
        is_dark = sum(self._theme.sheet) < sum(self._theme.text)
        return _mixed(self._accent[0], WHITE, 0.34) if is_dark else self._accent[0]


def _mixed(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue
