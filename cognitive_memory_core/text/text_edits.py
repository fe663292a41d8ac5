"""Replacements in a text, collected from several sources and applied together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """The replacement of the characters from ``start`` up to ``stop`` by ``text``."""

    start: int
    stop: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits applied; an edit that overlaps one given before it is ignored."""
    taken = bytearray(len(text))
    chosen: list[Edit] = []
    for edit in edits:
        if not any(taken[edit.start : edit.stop]):
            taken[edit.start : edit.stop] = b"\x01" * (edit.stop - edit.start)
            chosen.append(edit)
    return "".join(_pieces(text, sorted(chosen, key=lambda edit: edit.start)))


def _pieces(text: str, edits: list[Edit]) -> Iterable[str]:
    at = 0
    for edit in edits:
        yield text[at : edit.start]
        yield edit.text
        at = edit.stop
    yield text[at:]
