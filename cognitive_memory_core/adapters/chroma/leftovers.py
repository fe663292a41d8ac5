"""Inspects and removes generations on disk, without chromadb."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

from .pointer import Pointer

DATABASE = "chroma.sqlite3"
_GENERATION = re.compile(r"[0-9]{4,9}")


def seems_in_use(folder: Path, *, is_embedded: bool) -> bool:
    """Return whether the pointer names a generation and, for the embedded store, whether it exists; blocking."""
    number = Pointer(folder).read()
    return number is not None and (not is_embedded or (folder / f"{number:04d}" / DATABASE).is_file())


def clear_generations(folder: Path) -> None:
    """Remove every generation of the embedded store, as far as the system allows; blocking.

    Vectors reveal what people said, so those that will not be opened again are not left on disk.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _GENERATION.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
