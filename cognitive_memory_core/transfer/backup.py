"""Writes a backup: a data directory, consistent at one moment, on which a memory can be opened."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from .. import sentences
from ..disk import Disk, Vanished
from ..end_summaries import EndSummaries
from ..errors import BadArgument, StorageRefused
from ..queue.job_queue import FileQueue
from ..store.erasure.eraser import Eraser
from ..tasks import completed
from .targets import checked_place, draft_in, removed

WAITING = ("end_summaries.takeover.json",)  # copied before the ledger, since it is removed once the ledger has it all
SMALL = (  # copied after it
    *("end_summaries.json", "announced.json", "considering.json", "departed.json", "evolution_schedule.json"),
    *("overrides.json", "profiles", "prompts", "fonts", "agents"),
)
LEDGER = "ledger.db"
TEMP = ".tmp"  # suffix of incomplete files


async def backed_up(
    data_dir: Path, path: Path, *, queue: FileQueue, eraser: Eraser, mirror: EndSummaries, at: datetime
) -> None:
    """Write a backup durably into a new or empty directory; on failure the directory is unchanged.

    The backup is written as a draft and renamed when complete. Jobs, and summaries that wait to be imported, are copied
    before the ledger: a job done between the two copies is then in both, and running it again writes nothing new.
    Copied in the other order it could be in neither. Indexes are omitted; they can be rebuilt.

    Raises BadArgument for a directory that cannot hold a backup, and StorageRefused.
    """
    place = await asyncio.to_thread(checked_place, path, data_dir)
    draft = await asyncio.to_thread(_draft_path, place)
    try:
        await completed(asyncio.to_thread(_begin, draft))
        await completed(queue.copy_to(draft / "queues"))
        await completed(asyncio.to_thread(_copy_small, data_dir, draft, WAITING))
        await completed(eraser.copy_to(draft / LEDGER, at, name=place / LEDGER))
        await mirror.flush()
        await completed(asyncio.to_thread(_copy_small, data_dir, draft, SMALL))
        await completed(asyncio.to_thread(_put_in_place, draft, place))
    finally:
        await completed(asyncio.to_thread(removed, draft))


def _draft_path(path: Path) -> Path:
    """Return the path of a new draft: inside an existing target (its parent may be another disk), else beside it."""
    with _refusals(path):
        try:
            if path.is_symlink() or (path.exists() and any(path.iterdir())):
                raise BadArgument(sentences.caller.BACKUP_NOT_EMPTY.format(path=path))
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return draft_in(path if path.exists() else path.parent)
        except (FileExistsError, NotADirectoryError):
            raise BadArgument(sentences.caller.BACKUP_NOT_EMPTY.format(path=path)) from None


def _begin(draft: Path) -> None:
    with _refusals(draft):
        draft.mkdir(mode=0o700)


def _put_in_place(draft: Path, path: Path) -> None:
    """Rename a complete draft to its target; into an existing directory move its files one by one, the ledger last."""
    with _refusals(path):
        if draft.parent == path:
            for inner in sorted(draft.iterdir(), key=lambda one: one.name == LEDGER):
                inner.rename(path / inner.name)
            Disk().sync_folder(path)
        else:
            draft.rename(path)
            Disk().sync_folder(path.parent)


@contextmanager
def _refusals(path: Path) -> Generator[None, None, None]:
    try:
        yield
    except OSError as refused:
        raise StorageRefused(
            sentences.storage_errors.COPY_REFUSED.format(path=path, reason=refused.strerror)
        ) from refused


def _copy_small(data_dir: Path, path: Path, names: Sequence[str]) -> None:
    with _refusals(path):
        for source in _small_files(data_dir, names):
            target = path / source.relative_to(data_dir)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(Vanished):  # removed since it was listed
                Disk().copy(source, target)
        within = {inner for inner in path.rglob("*") if inner.is_dir()}
        for folder in within:
            folder.chmod(0o700)
        for folder in {path, *within}:
            Disk().sync_folder(folder)


def _small_files(data_dir: Path, names: Sequence[str]) -> Iterator[Path]:
    for name in names:
        place = data_dir / name
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (one for one in found if one.is_file() and not one.is_symlink() and one.suffix != TEMP)
