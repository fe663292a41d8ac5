"""Parsing of a Markdown text into sections, and the inverse, which restores the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_MARK = "##"  # a single # heads the whole text, not a section


@dataclass(frozen=True)
class OutlineSection:
    """A heading as written, and the lines below it; the first section of a text has no heading."""

    heading: str
    lines: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The heading's text."""
        return self.heading.strip("# \t")

    @property
    def text(self) -> str:
        """The joined lines, without surrounding blank ones."""
        return "\n".join(self.lines).strip()


def sections_of(text: str) -> list[OutlineSection]:
    """Split a text before each heading of the second level or deeper."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.split("\n"):
        if line.startswith(_MARK) and line.strip("# \t"):
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return [OutlineSection(heading, tuple(lines)) for heading, lines in found]


def written(sections: Iterable[OutlineSection]) -> str:
    """Return sections as Markdown text; the inverse of :func:`sections_of`."""
    lines = [line for one in sections for line in ((one.heading, *one.lines) if one.heading else one.lines)]
    return "\n".join(lines)


def headed(title: str) -> str:
    """Write a heading."""
    return f"{_MARK} {title}"
