"""Small or read-only disks, mounted for one test where mounting is permitted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """Mount an empty disk of a given size; skip the test if mounting is not permitted."""
    place.mkdir(parents=True, exist_ok=True)
    if not _mounted("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)):
        pytest.skip("only who may mount can make a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def set_read_only(place: Path, *, is_read_only: bool) -> None:
    """Make a mounted disk read-only or writable."""
    assert _mounted("-o", "remount,ro" if is_read_only else "remount,rw", str(place))


def fill(place: Path) -> Path:
    """Fill the disk of a folder completely, also after space was freed; return the file to remove."""
    junk = place / "junk"
    with junk.open("ab", buffering=0) as file:
        try:
            while file.write(b"0" * 4096):
                pass
        except OSError:
            return junk
    return junk


def _mounted(*arguments: str) -> bool:
    try:
        return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode == 0
    except OSError:
        return False
