"""Loads the operator's own prompt templates: files of known names in one folder, read once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..durable_files import Disk, Vanished
from ..errors import PermanentError, StorageRefused

KNOWN = ("rewrite", "triage", "merge", "compress", "evolve", "suggest")
LONGEST = 65_536  # bytes; more than any template may have characters
_UNREADABLE = ""


def read_templates(folder: Path, names: Iterable[str] = KNOWN, disk: Disk | None = None) -> Mapping[str, str]:
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
        if found is None or found.size > LONGEST:
            return _UNREADABLE
        return disk.read(path).decode("utf-8-sig", "replace")
    except (PermanentError, StorageRefused, Vanished):
        return _UNREADABLE
