"""Reads the events of another program's Chroma folder: a separate process opens a copy of the folder."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

from .process import COMMAND, clean_environment

LONGEST_ROW = 1_000_000  # bytes
COPY = "chroma"


def size_of(folder: Path) -> int:
    """Return the total size in bytes of a folder's regular files; links are not followed."""
    places = (Path(inner) / name for inner, _, names in os.walk(folder) for name in names)
    return sum(place.lstat().st_size for place in places if not place.is_symlink())


def foreign_rows(folder: Path, scratch: Path) -> Generator[bytes, None, None]:
    """Copy the folder into ``scratch`` and yield its events as JSON lines; a line that is too long is yielded as b"".

    Raises OSError after yielding what could be read if that is not all, OSError or shutil.Error if copying fails.
    """
    copy = scratch / COPY
    shutil.copytree(folder, copy, ignore=_skipped_entries, copy_function=shutil.copyfile)
    for inner, _, _ in os.walk(copy):
        Path(inner).chmod(0o700)
    process = subprocess.Popen(  # noqa: S603  # our own interpreter with our own module
        [*COMMAND, str(copy)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=scratch,  # chromadb reads .env from the working directory
        env=clean_environment(os.environ, sys.path),
    )
    assert process.stdout is not None  # noqa: S101  # it was asked for
    try:
        while line := process.stdout.readline(LONGEST_ROW):
            is_whole = line.endswith(b"\n")
            while not line.endswith(b"\n") and (line := process.stdout.readline(LONGEST_ROW)):
                pass  # too long: walked over
            yield line if is_whole else b""
        if process.wait():
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(folder))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _skipped_entries(folder: str, names: list[str]) -> list[str]:
    """Return what is not copied: links lead elsewhere, and pipes would block."""
    places = [Path(folder) / name for name in names]
    return [place.name for place in places if place.is_symlink() or not (place.is_file() or place.is_dir())]
