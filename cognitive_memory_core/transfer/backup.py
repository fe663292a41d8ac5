"""A backup: a directory that a memory can be opened on, as everything stood at one moment."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from .. import sentences
from ..errors import BadArgument, StorageRefused
from ..ports.ledger import Eraser
from ..ports.mirror import MemoMirror
from ..ports.queue import QueueEraser

SMALL = ("end_summaries.json", "announced.json", "overrides.json", "profiles", "prompts", "agents")  # what is copied
TEMP = ".tmp"  # half-written


async def backed_up(
    data_dir: Path, path: Path, *, queue: QueueEraser, eraser: Eraser, mirror: MemoMirror, at: datetime
) -> None:
    """Fill a new or empty directory, durably, or leave it as it was.

    The jobs first, then the ledger: a job that is done in between stands in both, and doing it again changes nothing.
    Whatever is an index is left out, since it is built anew. Raises BadArgument for a place where no backup may be,
    StorageRefused.
    """
    is_new = await asyncio.to_thread(_make_room, data_dir, path)
    try:
        await queue.copy_to(path / "queues")
        await eraser.copy_to(path / "ledger.db", at)
        await mirror.flush()
        await asyncio.to_thread(_copy_small, data_dir, path)
    except BaseException:
        await asyncio.shield(asyncio.to_thread(_empty, path, is_removed=is_new))
        raise


def _make_room(data_dir: Path, path: Path) -> bool:
    """Make the directory; tells whether it is new."""
    if path.resolve().is_relative_to(data_dir.resolve()):
        raise BadArgument(sentences.backup_inside(path))
    is_new = not os.path.lexists(path)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise BadArgument(sentences.backup_not_empty(path))
    except (FileExistsError, NotADirectoryError):
        raise BadArgument(sentences.backup_not_empty(path)) from None
    except OSError as refused:
        raise StorageRefused(sentences.storage_refused(path, refused.strerror)) from refused
    return is_new


def _copy_small(data_dir: Path, path: Path) -> None:
    try:
        for source in _small_files(data_dir):
            _copy(source, path / source.relative_to(data_dir))
        within = {inner for inner in path.rglob("*") if inner.is_dir()}
        for folder in within:
            folder.chmod(0o700)
        for folder in {path, path.parent, *within}:
            _sync(folder)
    except OSError as refused:
        raise StorageRefused(sentences.storage_refused(path, refused.strerror)) from refused


def _small_files(data_dir: Path) -> Iterator[Path]:
    for name in SMALL:
        place = data_dir / name
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (one for one in found if one.is_file() and not one.is_symlink() and one.suffix != TEMP)


def _copy(source: Path, target: Path) -> None:
    """Copy a file for its owner's eyes only; one that is replaced meanwhile is copied as it was or as it is."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with source.open("rb") as content, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as copy:
        shutil.copyfileobj(content, copy)
        copy.flush()
        os.fsync(copy.fileno())


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return  # Windows has no fsync of folders
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _empty(path: Path, *, is_removed: bool) -> None:
    for inner in path.iterdir():
        if inner.is_dir() and not inner.is_symlink():
            shutil.rmtree(inner, ignore_errors=True)
        else:
            inner.unlink(missing_ok=True)
    if is_removed:
        path.rmdir()
