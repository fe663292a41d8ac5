"""Measures the disk's time for one durable write, to compare with the time of ``end``."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

WRITES = 50
SIZE = 800  # bytes, about a job


def bare_writes(folder: Path) -> list[float]:
    """Write small files durably, one after another, and remove them; return the seconds that each write took."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        return list(_timed(Path(home)))


def _timed(home: Path) -> Iterator[float]:
    for number in range(WRITES):
        started = time.perf_counter()
        _write(home / "new", home / str(number))
        yield time.perf_counter() - started


def _write(temporary: Path, final: Path) -> None:
    with temporary.open("wb") as file:
        file.write(b"0" * SIZE)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(final)
    if sys.platform != "win32":  # Windows cannot sync a folder
        folder = os.open(final.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
