"""Writes a backup: a data directory, consistent at one moment, on which a memory can be opened."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import stat
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from .. import sentences
from ..directory_owner import LEDGER
from ..disk import TEMP, Disk, Vanished, reason_of, refusals
from ..end_summaries import EndSummaries
from ..errors import BadArgument
from ..queue.job_queue import FileQueue
from ..store.erasure import Eraser
from ..tasks import completed

WAITING = ("end_summaries.takeover.json",)  # copied before the ledger, since it is removed once the ledger has it all
SMALL = (  # copied after it
    *("end_summaries.json", "announced.json", "considering.json", "departed.json", "evolution_schedule.json"),
    *("overrides.json", "profiles", "prompts", "fonts", "agents"),
)


async def backed_up(
    data_dir: Path, path: Path, *, queue: FileQueue, eraser: Eraser, memos: EndSummaries, at: datetime
) -> None:
    """Write a backup durably into a new or empty directory; on failure the directory is unchanged.

    The backup is written as a draft and renamed when complete. Jobs, and summaries that wait to be imported, are copied
    before the ledger: a job done between the two copies is then in both, and running it again writes nothing new.
    Copied in the other order it could be in neither. Indexes are omitted; they can be rebuilt.

    Raises BadArgument for a directory that cannot hold a backup, and StorageRefused.
    """
    place = await asyncio.to_thread(outside, path, data_dir)
    draft = await asyncio.to_thread(_draft_path, place)
    try:
        await completed(asyncio.to_thread(_begin, draft))
        await completed(queue.copy_to(draft / "queues"))
        await completed(asyncio.to_thread(_copy_small, data_dir, draft, WAITING))
        await completed(eraser.copy_to(draft / LEDGER, at, name=place / LEDGER))
        await memos.flush()
        await completed(asyncio.to_thread(_copy_small, data_dir, draft, SMALL))
        await completed(asyncio.to_thread(_put_in_place, draft, place))
    finally:
        await completed(asyncio.to_thread(removed, draft))


def _draft_path(path: Path) -> Path:
    """Return the path of a new draft: inside an existing target (its parent may be another disk), else beside it."""
    with copy_refusals(path):
        try:
            if path.is_symlink() or (path.exists() and any(path.iterdir())):
                raise BadArgument(sentences.caller.BACKUP_NOT_EMPTY.format(path=path))
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return draft_in(path if path.exists() else path.parent)
        except (FileExistsError, NotADirectoryError):
            raise BadArgument(sentences.caller.BACKUP_NOT_EMPTY.format(path=path)) from None


def _begin(draft: Path) -> None:
    with copy_refusals(draft):
        draft.mkdir(mode=0o700)


def _put_in_place(draft: Path, path: Path) -> None:
    """Rename a complete draft to its target; into an existing directory move its files one by one, the ledger last."""
    with copy_refusals(path):
        if draft.parent == path:
            for inner in sorted(draft.iterdir(), key=lambda one: one.name == LEDGER):
                inner.rename(path / inner.name)
            Disk().sync_folder(path)
        else:
            draft.rename(path)
            Disk().sync_folder(path.parent)


def copy_refusals(path: Path) -> AbstractContextManager[None]:
    """Raise StorageRefused for an error of the disk to which a copy is written."""
    return refusals(path, sentences.storage_errors.COPY_REFUSED)


@contextmanager
def readable(path: Path) -> Generator[None, None, None]:
    """Raise BadArgument for an error of the disk from which a file is read."""
    try:
        yield
    except OSError as refused:
        reason = reason_of(refused)
        raise BadArgument(sentences.caller.UNREADABLE_FILE.format(path=path, reason=reason)) from refused


def _copy_small(data_dir: Path, path: Path, names: Sequence[str]) -> None:
    with copy_refusals(path):
        listed = [one for name in names for one in (data_dir / name, *sorted((data_dir / name).rglob("*")))]
        for source in listed:
            if source.is_file() and not source.is_symlink() and source.suffix != TEMP:
                target = path / source.relative_to(data_dir)
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with suppress(Vanished):  # removed since it was listed
                    Disk().copy(source, target)
        within = {inner for inner in path.rglob("*") if inner.is_dir()}
        for folder in within:
            folder.chmod(0o700)
        for folder in {path, *within}:
            Disk().sync_folder(folder)


_DRAFT = ".cognitive-memory-{}.part"
_ABANDONED_AFTER = 3600.0  # seconds without a write after which a draft is taken for one of a killed process


def checked_target(path: Path, data_dir: Path) -> Path:
    """Return the absolute path of an export; blocking.

    Raises BadArgument for a path inside the data directory, and for an existing path that is not a regular file: a
    link, directory, device or pipe.
    """
    target = outside(path, data_dir)
    with suppress(FileNotFoundError, NotADirectoryError):
        if not stat.S_ISREG(os.lstat(target).st_mode):
            raise BadArgument(sentences.caller.EXPORT_NO_FILE.format(path=target))
    return target


def outside(path: Path, data_dir: Path) -> Path:
    """Return the absolute path, whose last name may be a link; raise BadArgument if it is in the data directory.

    The directory may have other names: by a mount, or where letters of either case are one.
    """
    try:
        place = path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name
        around = (one for where in (place, place.resolve()) for one in (where, *where.parents) if one.exists())
        is_inside = any(one.samefile(data_dir) for one in around)
    except (OSError, RuntimeError, ValueError) as unusable:  # a cycle of links, or a NUL character
        reason = type(unusable).__name__
        raise BadArgument(sentences.caller.UNREADABLE_FILE.format(path=path, reason=reason)) from unusable
    if is_inside:
        raise BadArgument(sentences.caller.COPY_INSIDE.format(path=path))
    return place


def draft_in(folder: Path) -> Path:
    """Return the path of a new draft; drafts left there by killed processes are removed first."""
    for left in folder.glob(_DRAFT.format("*")):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED_AFTER:
                removed(left)
    return folder / _DRAFT.format(secrets.token_hex(8))


def removed(draft: Path) -> None:
    """Remove a draft, file or directory; errors are ignored."""
    if draft.is_dir() and not draft.is_symlink():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
