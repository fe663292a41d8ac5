"""Prompt templates: fixed instructions, a separator, and a prompt with ``$name`` placeholders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template

from .. import sentences
from ..disk import Disk, Vanished
from ..errors import PermanentError, StorageRefused

SEPARATOR = "<!-- prompt -->"
LONGEST_TEMPLATE = 20_000  # characters
LONGEST_FILE = 65_536  # bytes; more than any template may have characters
_UNDECODABLE = "\ufffd"


@dataclass(frozen=True)
class TemplateParts:
    """The two parts of a template."""

    instructions: str
    prompt: str

    def filled(self, parts: Mapping[str, str]) -> tuple[str, str]:
        """Return instructions and prompt with the placeholders filled, without empty lines.

        Inserted text is not expanded again: a ``$`` in it stays a ``$``.
        """
        prompt = Template(self.prompt).substitute(parts)
        lines = (line.rstrip() for line in prompt.split("\n"))
        return Template(self.instructions).substitute().strip(), "\n".join(line for line in lines if line)


def shipped(name: str) -> TemplateParts:
    """Read a template shipped with this package; blocking."""
    return split_template(
        (resources.files(__name__.rpartition(".")[0]) / "templates" / f"{name}.md").read_text("utf-8")
    )


def split_template(text: str) -> TemplateParts:
    """Split a template at its separator."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    at = _separators(lines)[0]
    return TemplateParts("\n".join(lines[:at]), "\n".join(lines[at + 1 :]))


def refusal(name: str, text: str, needed: frozenset[str], known: frozenset[str]) -> str:
    """Return why a template cannot be used and how to correct it; "" if it can be used.

    ``needed`` are the placeholders that it must contain, ``known`` all that it may contain.
    """
    told = sentences.settings
    if not text.strip() or len(text) > LONGEST_TEMPLATE or _UNDECODABLE in text:
        return told.TEMPLATE_UNREADABLE.format(name=name, limit=LONGEST_TEMPLATE)
    if len(_separators(text.split("\n"))) != 1 or not split_template(text).instructions.strip():
        return told.TEMPLATE_WITHOUT_SEPARATOR.format(name=name, separator=SEPARATOR)
    template = split_template(text)
    (above, stray_above), (held, stray) = _placeholders(template.instructions), _placeholders(template.prompt)
    if stray or stray_above:
        return told.TEMPLATE_STRAY_DOLLAR.format(name=name)
    if above:
        return told.TEMPLATE_PLACEHOLDER_ABOVE.format(name=name, found=_listed(above), separator=SEPARATOR)
    if held - known:
        return told.TEMPLATE_UNKNOWN_PLACEHOLDER.format(name=name, found=_listed(held - known), known=_listed(known))
    return told.TEMPLATE_LACKS.format(name=name, missing=_listed(needed - held)) if needed - held else ""


def _listed(placeholders: frozenset[str]) -> str:
    return "、".join(f"${name[:60]}" for name in sorted(placeholders)[:10])


def _separators(lines: list[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if line.strip() == SEPARATOR]


def _placeholders(text: str) -> tuple[frozenset[str], bool]:
    """Return the names of the placeholders, and whether there is a ``$`` that is neither part of one nor ``$$``."""
    found = list(Template.pattern.finditer(text))
    names = frozenset(name for match in found if (name := match["named"] or match["braced"]))
    return names, any(match["invalid"] is not None for match in found)


def read_templates(folder: Path, names: Iterable[str], disk: Disk | None = None) -> Mapping[str, str]:
    """Return the text of each ``{name}.md`` in a folder, by name; blocking, bounded in size, never raises.

    The caller validates them: anything but a readable regular file of bounded size gives "", and bytes that are not
    UTF-8 become U+FFFD. Links are not followed; other files are ignored.
    """
    reading = disk or Disk()
    paths = {name: folder / f"{name}.md" for name in names}
    return {name: _text(path, reading) for name, path in paths.items() if os.path.lexists(path)}


def _text(path: Path, disk: Disk) -> str:
    try:
        found = disk.find(path)
        return disk.read(path).decode("utf-8-sig", "replace") if found and found.size <= LONGEST_FILE else ""
    except (PermanentError, StorageRefused, Vanished):
        return ""
