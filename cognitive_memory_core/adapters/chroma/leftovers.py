"""What is known of generations by the disk alone, without chromadb: whether one is in use, and how to remove them."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

from .pointer import Pointer

DATABASE = "chroma.sqlite3"
_GENERATION = re.compile(r"[0-9]{4,9}")


def seems_in_use(folder: Path, *, is_embedded: bool) -> bool:
    """Return whether a generation is named as the one in use and, in the embedded store, lies there; blocking."""
    number = Pointer(folder).read()
    return number is not None and (not is_embedded or (folder / f"{number:04d}" / DATABASE).is_file())


def clear_generations(folder: Path) -> None:
    """Remove every generation of the embedded store, as far as the system lets us; blocking.

    Vectors are somebody's words, too: those that nothing will open again are not left behind.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _GENERATION.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
