"""What the attacker brings: names, orders in two languages, and wrappings, written for these rows."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from pathlib import Path

from cognitive_memory_core.context.render import CLOSED, OPENED

NASTY = Path(__file__).resolve().parents[2] / "tests" / "prompts" / "nasty"
TAGS = re.compile(r"</?[a-z_]+>")
JOINER = "\u200d"


@cache
def names() -> list[str]:
    """Give names that somebody would bear who wants to be somebody else, or to break what shows them."""
    found: list[str] = json.loads((NASTY / "names.json").read_text("utf-8"))["names"]
    return found


@cache
def payloads() -> list[str]:
    """Give every order in every wrapping."""
    read = json.loads((NASTY / "payloads.json").read_text("utf-8"))
    orders = [*read["orders"]["zh"], *read["orders"]["en"]]
    return [wrapping.replace("$order", order) for order in orders for wrapping in read["wrappings"]]


def strange_signs(text: str) -> int:
    """Count control, format, private and unpaired characters, and line ends that only some programs know."""
    kept = ("\n", "\t", JOINER)
    return sum(
        1 for char in text if char not in kept and unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
    )


def shape(text: str) -> tuple[int, list[str]]:
    """Reduce a prompt to what a name or a message must not change: its number of lines and its tags."""
    return len(text.split("\n")), TAGS.findall(unicodedata.normalize("NFKC", text))


def forged_fences(block: str) -> int:
    """Count the ways in which a context block was closed or opened other than by us."""
    if not block:
        return 0
    folded = unicodedata.normalize("NFKC", block)
    extra = folded.count(OPENED) + folded.count(CLOSED) - 2
    framed = block.startswith(OPENED) and block.endswith(CLOSED)
    return extra + int(not framed) + len([tag for tag in TAGS.findall(folded) if tag not in (OPENED, CLOSED)])
