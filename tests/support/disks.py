"""Disks that are small or read-only: mounted for one test, where the test may mount."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """Mount an empty disk of a size at a place; skips the test where nothing may be mounted."""
    place.mkdir(parents=True, exist_ok=True)
    if not _mounted("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(place)):
        pytest.skip("only who may mount can make a small disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def set_read_only(place: Path, *, is_read_only: bool) -> None:
    """Let a mounted disk take writes, or refuse them."""
    assert _mounted("-o", "remount,ro" if is_read_only else "remount,rw", str(place))


def fill(place: Path) -> Path:
    """Leave no room on the disk of a place, also where some came free again; gives the file to remove."""
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
