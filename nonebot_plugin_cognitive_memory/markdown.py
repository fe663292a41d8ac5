"""The subset of Markdown that profiles use, as plain lines, because QQ renders none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

Kind = Literal["heading", "item", "text"]
_MARKS = re.compile(r"\*\*|__|`|~~")
_LINK = re.compile(r"!?\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
_ITEM = re.compile(r"^(?:[-*+]|\d{1,3}[.)])\s+")
_RULE = re.compile(r"^(?:[-*_]\s*){3,}$")


def plain_lines(markdown: str) -> Iterator[tuple[Kind, str]]:
    """Yield kind and text of each line that is not blank, without marks of emphasis, links and quotation."""
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
            yield "heading" if heading else "item" if item else "text", shown
