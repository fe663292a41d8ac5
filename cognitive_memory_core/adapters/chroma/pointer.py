"""Stores which generation is in use: one small file, replaced atomically."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

_NAME = "current"
_NUMBER = re.compile(r"[0-9]{4,9}")
_TRIES = 10  # on Windows a virus scanner may have the file open for a moment
_PAUSE = 0.05  # seconds


class Pointer:
    """Reads and writes the file ``current``; blocking."""

    def __init__(self, folder: Path) -> None:
        """Initialise without touching the disk."""
        self._file = folder / _NAME

    def read(self) -> int | None:
        """Return the number; None if the file is missing, unreadable or holds anything else."""
        try:
            with self._file.open("rb") as file:
                text = file.read(16).decode("ascii").strip()
        except (OSError, ValueError):
            return None
        return int(text) if _NUMBER.fullmatch(text) else None

    def write(self, number: int) -> None:
        """Store a number durably; raises OSError if the disk refuses."""
        temp = self._file.with_name(f"{_NAME}.tmp")
        with temp.open("wb") as file:
            file.write(b"%04d\n" % number)
            file.flush()
            os.fsync(file.fileno())
        _replace(temp, self._file)
        _sync(self._file.parent)


def _replace(source: Path, target: Path) -> None:
    for _ in range(_TRIES - 1):
        with contextlib.suppress(PermissionError):
            source.replace(target)
            return
        time.sleep(_PAUSE)
    source.replace(target)


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return  # Windows has no fsync for directories
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
