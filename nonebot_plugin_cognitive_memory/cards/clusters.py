"""Splits text into clusters, each drawn as a whole, and breaks it into lines; handles emoji and Chinese punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

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
