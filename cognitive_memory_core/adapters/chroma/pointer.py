"""Stores which generation is in use: one small file, replaced atomically."""

from __future__ import annotations

import re
from pathlib import Path

from ...disk import Disk

_NAME = "current"
_NUMBER = re.compile(r"[0-9]{4,9}")


class Pointer:
    """Reads and writes the file ``current``; blocking."""

    def __init__(self, folder: Path) -> None:
        """Initialise without touching the disk."""
        self._file = folder / _NAME
        self._disk = Disk()

    def read(self) -> int | None:
        """Return the number; None if the file is missing, unreadable or holds anything else."""
        try:
            with self._file.open("rb") as file:
                text = file.read(16).decode("ascii").strip()
        except (OSError, ValueError):
            return None
        return int(text) if _NUMBER.fullmatch(text) else None

    def write(self, number: int) -> None:
        """Write the number of a generation durably; raises StorageRefused if the disk refuses."""
        self._disk.rewrite(self._file, b"%04d\n" % number)
