"""Generations that nothing will open again: vectors are somebody's words, too, and are not left lying about."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

_GENERATION = re.compile(r"[0-9]{4,9}")


def clear_generations(folder: Path) -> None:
    """Remove every generation of the embedded store, as far as the system lets us; blocking."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _GENERATION.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
