"""What a card is, and the positions of its texts and boxes; uses no image library.

Texts are drawn literally: nothing in them is markup. A text is split into clusters, each drawn as a whole, and broken
into lines; emoji and Chinese punctuation are heeded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

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

    Latin words, and punctuation with the character beside it, stay on one line. Clusters without a width, which no font
    has, are left out.
    """
    lines, line, room = list[list[str]](), list[str](), width
    for cluster in filter(measure, clusters(" ".join(text.split()))):
        if measure(cluster) > room and line and cluster != " ":
            following = [*line[1:], cluster]
            breaks = (at for at in range(len(line), 0, -1) if _may_break(line[at - 1], following[at - 1]))
            at = next(breaks, len(line))
            lines.append(line[:at])
            if len(lines) > most:
                break
            line = line[at:]
            room = width - sum(map(measure, line))
        if line or cluster != " ":
            line.append(cluster)
            room -= measure(cluster)
    lines += [line] if line else []
    if len(lines) > most:
        return [*lines[: most - 1], fitted([*lines[most - 1], *lines[most]], width, measure, is_cut=True)]
    return lines


def _may_break(before: str, after: str) -> bool:
    if " " in (before, after):
        return before == " "
    is_word = all(ord(one[0]) < EAST_ASIAN and not is_emoji(one) for one in (before, after))
    return not (is_word or after[0] in _CLOSING or before[0] in _OPENING)


def fitted(line: Sequence[str], width: float, measure: Callable[[str], float], *, is_cut: bool = False) -> list[str]:
    """Shorten a line to a width; "…" at its end marks that something is left out, here or, if ``is_cut``, behind it."""
    if not is_cut and sum(map(measure, line)) <= width:
        return list(line)
    room, kept = width - measure("…"), list[str]()
    for cluster in line:
        room -= measure(cluster)
        if room < 0:
            break
        kept.append(cluster)
    return [*kept, "…"]


Accent = Literal["person", "group", "status", "figures"]
Tone = Literal["good", "busy", "bad", "plain"]
Colour = tuple[int, int, int]
Theme = Mapping[str, Colour]
"""The colours of one appearance; an accent is a gradient from the colour of its name to that of its name with "-to"."""

WIDTH, MARGIN, PADDING = 1000, 36, 48
HEAD, SIGN = 208, 116
GAP = 38  # between blocks
RADIUS = 34
MOST_LINES = 48  # of text on a card, headings included
MOST_LABELS, MOST_FIGURES, MOST_BARS = 12, 9, 31
LABEL_LENGTH, LINE_LENGTH = 40, 400  # characters that are drawn
WHITE: Colour = (255, 255, 255)
Block = tuple[Any, ...]
Measure = Callable[[str, int, bool], float]
Corners = tuple[bool, bool, bool, bool]  # top left, top right, bottom right, bottom left
ALL: Corners = (True, True, True, True)
TOP: Corners = (True, True, False, False)


@dataclass(frozen=True)
class Card:
    """A card: a coloured head with a sign, a title and a subtitle, then blocks, then a small line at the end.

    Of ``sign`` the first character or emoji that a font has is drawn. A block is the name of the method of a layout
    that places it, and its arguments.
    """

    accent: Accent
    sign: str
    title: str
    subtitle: str
    blocks: Sequence[Block]
    footer: str

    @property
    def text(self) -> str:
        """What the card says, in lines, whole; the small line at its end is for the picture alone."""
        lines = [f"{self.title}（{self.subtitle}）"]
        for block in self.blocks:
            match block:
                case "labels", words, beneath:
                    lines += ["、".join(words), *beneath]
                case "figures", counted:
                    lines.append("，".join(f"{label} {number:,}" for label, number in counted.items()))
                case "paragraphs", heading, said:
                    lines += [f"【{heading}】"] if heading else []
                    for text, is_item, words in said:
                        lines += [f"· {text}" if is_item else text, *([f"   {words}"] if words else [])]
                case "remarks", said:
                    lines += [text for _, text in said]
                case _, heading, caption, _:  # a chart
                    lines.append(f"{heading}：{caption}")
        return "\n".join(lines)


def _theme(tokens: str) -> Theme:
    """Return the colours that a style sheet states, by name."""
    found: dict[str, Colour] = {}
    for name, hexadecimal in re.findall(r"--([a-z-]+): #([0-9a-f]{6});", tokens):
        red, green, blue = bytes.fromhex(hexadecimal)
        found[name] = red, green, blue
    return found


TOKENS = Path(__file__).with_name("tokens.css")  # also the console's and the site's
LIGHT, DARK = map(_theme, TOKENS.read_text("utf-8").split("@media"))


@dataclass(frozen=True)
class Words:
    """The :func:`clusters` of one line, drawn from ``x`` on; ``y`` is the middle of the line's height."""

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


class CardLayout:
    """Places the parts of one card below each other; ``measure`` returns the width of a cluster at a font size."""

    def __init__(self, theme: Theme, measure: Measure) -> None:
        """Start at the top of an empty page."""
        self._theme = theme
        self._measure = measure
        self._parts: list[Words | Box] = []
        self._y = 0.0
        self._lines = MOST_LINES
        self._accent = self._readable_accent = WHITE
        self._left = MARGIN + PADDING
        self._room = WIDTH - 2 * (MARGIN + PADDING)

    def parts(self, card: Card) -> tuple[int, Sequence[Words | Box]]:
        """Return the height of a card's page, and what is drawn on it, in this order."""
        is_dark = sum(self._theme["sheet"]) < sum(self._theme["text"])
        self._accent = self._theme[card.accent]
        self._readable_accent = _mixed(self._accent, WHITE, 0.34) if is_dark else self._accent
        self._head(card)
        self._y = MARGIN + HEAD
        for block in card.blocks:
            if self._lines > 0:
                self._y += GAP
                getattr(self, block[0])(*block[1:])
        self._put(card.footer, self._left, self._y + GAP + 18, 24, self._theme["faint"], self._room)
        bottom = self._y + 2 * GAP + 28
        sheet = Box(MARGIN, MARGIN, WIDTH - 2 * MARGIN, bottom - MARGIN, RADIUS, self._theme["sheet"])
        return round(bottom + MARGIN), (sheet, *self._parts)

    def _head(self, card: Card) -> None:
        first, second = self._accent, self._theme[f"{card.accent}-to"]
        left, middle = MARGIN + 44, MARGIN + HEAD / 2
        right = left + SIGN + 32
        room = WIDTH - MARGIN - 44 - right
        self._parts.append(Box(MARGIN, MARGIN, WIDTH - 2 * MARGIN, HEAD, RADIUS, first, second, TOP))
        self._parts.append(Box(left, middle - SIGN / 2, SIGN, SIGN, SIGN / 2, _mixed(first, WHITE, 0.26)))
        sign = next(filter(lambda one: self._measure(one, 54, True), clusters(card.sign)), "?")
        self._put(sign, left, middle, 54, WHITE, SIGN, bold=True, aligned=0.5)
        size = next((size for size in (50, 44) if self._width(card.title, size, bold=True) <= room), 38)
        self._put(card.title, right, middle - 28, size, WHITE, room, bold=True)
        self._put(card.subtitle, right, middle + 40, 28, _mixed(second, WHITE, 0.82), room)

    def labels(self, words: Sequence[str], beneath: Sequence[str]) -> None:
        """Place short words in rounded boxes, and small lines below them."""
        x, size, height = float(self._left), 28, 54
        short = (word[:LABEL_LENGTH] for word in words)
        for word in [one for one in short if self._width(one, size)][:MOST_LABELS]:
            width = min(self._width(word, size) + 48, self._room)
            if x > self._left and x + width > self._left + self._room:
                x, self._y = float(self._left), self._y + height + 14
            self._parts.append(Box(x, self._y, width, height, height / 2, self._theme["label"]))
            self._put(word, x + 24, self._y + height / 2, size, self._theme["text"], width - 48)
            x += width + 14
        self._y += height + (14 if beneath else 0)
        for text in beneath:
            self._small(text, indent=0)

    def figures(self, counted: Mapping[str, int]) -> None:
        """Place numbers in large type, each with a label of what it counts below it."""
        pairs = list(counted.items())[:MOST_FIGURES]
        columns = min(max(len(pairs), 1), 3)
        width = self._room / columns
        for at, (label, number) in enumerate(pairs):
            if at and at % columns == 0:
                self._y += 136
            x = self._left + width * (at % columns)
            self._put(f"{number:,}", x, self._y + 34, 58, self._readable_accent, width - 16, bold=True)
            self._put(label, x, self._y + 88, 26, self._theme["faint"], width - 16)
        self._y += 108

    def paragraphs(self, heading: str, lines_of: Sequence[tuple[str, bool, str]]) -> None:
        """Place a heading ("" for none) above lines of text, each with its words, small; a list item gets a dot."""
        if heading:
            self._heading(heading)
        for text, is_item, words in lines_of[: max(self._lines, 0)]:
            if is_item and self._lines > 0:
                self._parts.append(Box(self._left + 4, self._y + 20, 10, 10, 5, self._readable_accent))
            self._text(text, 32, 50, indent=34 if is_item else 0)
            self._small(words, indent=34 if is_item else 0)
        self._y -= 4

    def remarks(self, lines: Sequence[tuple[Tone, str]]) -> None:
        """Place sentences, each with a coloured dot."""
        for tone, text in lines:
            if self._lines > 0:
                self._parts.append(Box(self._left + 2, self._y + 16, 14, 14, 7, self._theme[tone]))
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
            x, is_last = self._left + step * at, at == len(bars) - 1
            tall = max(height * count / most, 8) if count else 4
            colour, radius = self._readable_accent if count else self._theme["edge"], min(8, tall / 2)
            self._parts.append(Box(x + step * 0.17, base - tall, step * 0.66, tall, radius, colour, None, TOP))
            if count == most or (is_last and count):
                self._put(str(count), x - step, base - tall - 20, 24, self._theme["faint"], 3 * step, aligned=0.5)
            if (len(bars) - 1 - at) % 2 == 0:
                self._put(label, x - step, base + 26, 22, self._theme["faint"], 3 * step, aligned=0.5)
        self._parts.append(Box(self._left, base, self._room, 2, 0, self._theme["edge"]))
        self._y = base + 44

    def _heading(self, text: str, beside: str = "") -> None:
        self._parts.append(Box(self._left, self._y + 7, 8, 30, 4, self._accent))
        room = self._room - 22
        self._put(text, self._left + 22, self._y + 22, 31, self._theme["text"], room, bold=True)
        taken = min(self._width(text, 31, bold=True), room) + 24
        if beside and room > taken:
            x = self._left + 22 + taken
            self._put(beside, x, self._y + 23, 25, self._theme["faint"], room - taken, aligned=1.0)
        self._y += 56
        self._lines -= 1

    def _small(self, words: str, *, indent: int) -> None:
        """Place what somebody said beneath what was made of it."""
        if words:
            self._text(words, 25, 38, indent=indent, colour=self._theme["faint"])
            self._y += 8

    def _text(self, text: str, size: int, height: int, *, indent: int, colour: Colour | None = None) -> None:
        """Place a text on the next lines, at most as many as the card has room for; a text that is cut ends in "…"."""
        measure: Callable[[str], float] = lambda cluster: self._measure(cluster, size, False)  # noqa: E731  # one call
        room, most, colour = self._room - indent, self._lines, colour or self._theme["text"]
        lines = wrapped(text[:LINE_LENGTH], room, measure, most=most) if most > 0 else []
        for line in lines:
            self._parts.append(
                Words(self._left + indent, self._y + height / 2, line, size, colour or self._theme["text"])
            )
            self._y += height
        self._lines -= len(lines)

    def _put(
        self,
        text: str,
        x: float,
        y: float,
        size: int,
        colour: Colour,
        room: float,
        *,
        bold: bool = False,
        aligned: float = 0.0,
    ) -> None:
        """Place one line, cut to ``room``; ``aligned`` is 0 for its left, 0.5 for its middle, 1 for its right."""
        measure: Callable[[str], float] = lambda cluster: self._measure(cluster, size, bold)  # noqa: E731  # two calls
        line = fitted(list(filter(measure, clusters(" ".join(text.split())))), room, measure)
        self._parts.append(Words(x + aligned * (room - sum(map(measure, line))), y, line, size, colour, bold))

    def _width(self, text: str, size: int, *, bold: bool = False) -> float:
        return sum(self._measure(cluster, size, bold) for cluster in clusters(" ".join(text.split())))


def _mixed(one: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue
