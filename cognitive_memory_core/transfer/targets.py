"""Targets of exports and backups: checks them, and manages the drafts that are renamed to them when complete."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

from .. import sentences
from ..errors import BadArgument

_DRAFT = ".cognitive-memory-{}.part"
_ABANDONED_AFTER = 3600.0  # seconds without a write after which a draft is taken for one of a killed process


def checked_target(path: Path, data_dir: Path) -> Path:
    """Return the absolute path of an export; blocking.

    Raises BadArgument for a path inside the data directory, and for an existing path that is not a regular file.
    """
    target = _absolute(path)
    if is_within(target, data_dir):
        raise BadArgument(sentences.caller.EXPORT_INSIDE.format(path=path))
    refuse_special(target)
    return target


def checked_place(path: Path, data_dir: Path) -> Path:
    """Return the absolute path of a backup; blocking. Raises BadArgument for a path inside the data directory."""
    place = _absolute(path)
    if is_within(place, data_dir) or is_within(place.resolve(), data_dir):
        raise BadArgument(sentences.caller.BACKUP_INSIDE.format(path=path))
    return place


def refuse_special(path: Path) -> None:
    """Raise BadArgument for an existing path that is not a regular file: a link, directory, device or pipe."""
    with suppress(FileNotFoundError, NotADirectoryError):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise BadArgument(sentences.caller.EXPORT_NO_FILE.format(path=path))


def is_within(path: Path, folder: Path) -> bool:
    """Return whether a path is a folder or has it among its parents; False if the folder does not exist.

    Folders are compared by device and inode: a link to the folder, or its name in other case, is recognised.
    """
    own = _identity(folder.resolve())
    return own is not None and any(_identity(one) == own for one in (path, *path.parents))


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


def _absolute(path: Path) -> Path:
    """Resolve all of a path but its last name, so that a link there can be seen and refused."""
    try:
        return path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name
    except (OSError, RuntimeError, ValueError) as unusable:  # a cycle of links, or a NUL character
        raise BadArgument(
            sentences.caller.UNREADABLE_FILE.format(path=path, reason=type(unusable).__name__)
        ) from unusable


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except (OSError, ValueError):
        return None
    return state.st_dev, state.st_ino
