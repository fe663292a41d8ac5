"""Reads the subset of Markdown that profiles use, because QQ renders none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_MARKS = re.compile(r"\*\*|__|`|~~")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
_ITEM = re.compile(r"^(?:[-*+]|\d{1,3}[.)])\s+")
_RULE = re.compile(r"^(?:[-*_]\s*){3,}$")


@dataclass(frozen=True)
class PlainLine:
    """A line of text without its Markdown marks, and the kind of line that they made it."""

    kind: Literal["heading", "item", "text"]
    text: str


def plain_lines(markdown: str) -> Iterator[PlainLine]:
    """Yield the lines of a text that are not blank, without marks of emphasis, links and quotation."""
    for line in markdown.splitlines():
        text = line.strip()
        while text.startswith(">"):
            text = text[1:].lstrip()
        if not text or _RULE.match(text):
            continue
        heading = _HEADING.match(text)
        item = None if heading else _ITEM.match(text)
        shown = heading[1] if heading else text[item.end() :] if item else text
        shown = _LINK.sub(r"\1", _MARKS.sub("", shown)).strip()
        if shown:
            yield PlainLine("heading" if heading else "item" if item else "text", shown)
