"""Tells whether a generation is in use, and removes generations from the disk, without importing chromadb."""

from __future__ import annotations

import contextlib
import re
import shutil
from pathlib import Path

from .generation_in_use import Pointer

DATABASE = "chroma.sqlite3"
_GENERATION = re.compile(r"[0-9]{4,9}")


def seems_in_use(folder: Path, *, server: str) -> bool:
    """Return whether a generation is recorded as in use and, if it is a local folder, still exists; blocking.

    ``server`` is the digest of the configured server, "" for local folders. A server is not asked. False if the record
    is of another server, because the settings changed since: the index is then built anew.
    """
    pointer = Pointer(folder)
    number = pointer.read()
    if number is None or pointer.server() != server:
        return False
    return bool(server) or (folder / f"{number:04d}" / DATABASE).is_file()


def clear_generations(folder: Path) -> None:
    """Remove every generation of the embedded store, as far as the system allows; blocking.

    Vectors that will not be used again are removed because they reveal what people said.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _GENERATION.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
