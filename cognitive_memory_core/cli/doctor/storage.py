"""Checks of the data directory: where it is, whether it can be written, who owns it, the disk, and the ledger."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

from ... import sentences
from ...disk import is_owned
from ...errors import BadArgument, CognitiveMemoryError
from ...lost_ledger import LEDGER, refuse_lost_ledger
from ...read_only import DirectorySnapshot, opened_reader
from ...settings import Settings
from ..bot_directory import shared_dir
from .findings import ExaminedBot, Finding

GIGABYTE = 1_000_000_000
LOW, TOO_LOW = 2 * GIGABYTE, GIGABYTE // 4
CLOCK_BEHIND = timedelta(minutes=10)
LONGEST = 1800.0  # seconds that the ledger is examined


def own_directory(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if .env leaves the data in a directory that all bots of the system user share."""
    if examined.bot.set_dir is None:
        what = sentences.doctor.SHARED_DIRECTORY.format(path=shared_dir())
        yield Finding("fault", what, sentences.doctor.SHARED_DIRECTORY_ADVICE)


def writable(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if no file can be created in the data directory; the trial file is deleted."""
    data_dir = _data_dir(examined)
    there = _nearest(data_dir)
    if not there.is_dir():
        what = sentences.doctor.NOT_A_DIRECTORY.format(path=there)
        yield Finding("fault", what, sentences.doctor.NOT_A_DIRECTORY_ADVICE)
        return
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as refused:
        what = sentences.doctor.NOT_WRITABLE.format(path=there, reason=refused.strerror)
        yield Finding("fault", what, sentences.doctor.NOT_WRITABLE_ADVICE)
    else:
        yield Finding("fine", sentences.doctor.WRITABLE.format(path=data_dir))


def owner(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if a running process owns the data directory; in a shared one, it may be another bot."""
    if not is_owned(_data_dir(examined)):
        return
    if examined.bot.set_dir is None and examined.bot.given_dir is None:
        yield Finding("fault", sentences.doctor.OWNED_SHARED, sentences.doctor.SHARED_DIRECTORY_ADVICE)
    else:
        yield Finding("hint", sentences.doctor.OWNED, sentences.doctor.OWNED_ADVICE)


def disk(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if the disk of the data directory is nearly full."""
    there = _nearest(_data_dir(examined))
    if (free := shutil.disk_usage(there).free) < LOW:
        what = sentences.doctor.LOW_DISK.format(path=there, megabytes=free // 1_000_000)
        yield Finding("fault" if free < TOO_LOW else "hint", what, sentences.doctor.LOW_DISK_ADVICE)


async def ledger(examined: ExaminedBot) -> AsyncIterator[Finding]:
    """Yield findings on the ledger: damage, version, failed jobs, the length of its vectors, a clock that went back."""
    data_dir = _data_dir(examined)
    if not _nearest(data_dir).is_dir():
        return
    if not (data_dir / LEDGER).is_file():
        yield await asyncio.to_thread(_without_ledger, data_dir)
        return
    if examined.configuration is None:
        return
    settings = examined.configuration.settings
    try:
        async with opened_reader(settings, data_dir) as reader:
            snapshot, examination = await reader.snapshot(), await reader.examine(LONGEST)
    except CognitiveMemoryError as unreadable:
        yield Finding("fault", str(unreadable), sentences.doctor.LEDGER_ADVICE)
        return
    yield Finding("fine", sentences.doctor.LEDGER_READ.format(events=snapshot.totals.events))
    if examination.damages:
        damaged = sentences.storage_errors.ROWS_DAMAGED
        what = damaged.format(count=len(examination.damages), first=examination.damages[0])
        yield Finding("fault", what, sentences.doctor.DAMAGE_ADVICE)
    for finding in _state(snapshot, settings):
        yield finding


def _state(snapshot: DirectorySnapshot, settings: Settings) -> Iterator[Finding]:
    if snapshot.jobs.failed:
        what = sentences.doctor.FAILED_JOBS.format(count=snapshot.jobs.failed)
        yield Finding("hint", what, sentences.doctor.FAILED_JOBS_ADVICE)
    wanted = settings.models.embedding.dimensions
    if wanted and snapshot.dimensions and wanted != snapshot.dimensions:
        yield dimensions_changed(wanted, snapshot.dimensions)
    seen = snapshot.clock.seen_at if snapshot.clock else None
    if seen is not None and seen - datetime.now(timezone.utc) > CLOCK_BEHIND:
        what = sentences.doctor.CLOCK_BEHIND.format(seen=f"{seen.astimezone(settings.zone):%Y-%m-%d %H:%M}")
        yield Finding("fault", what, sentences.doctor.CLOCK_ADVICE)


def dimensions_changed(given: int, stored: int) -> Finding:
    """Return the finding that the embedding model's vectors have another length than the stored ones."""
    what = sentences.doctor.DIMENSIONS_CHANGED.format(given=given, stored=stored)
    return Finding("fault", what, sentences.doctor.DIMENSIONS_ADVICE)


def _without_ledger(data_dir: Path) -> Finding:
    try:
        if data_dir.is_dir():
            refuse_lost_ledger(data_dir)
    except CognitiveMemoryError as lost:
        return Finding("fault", str(lost), sentences.doctor.LEDGER_ADVICE)
    return Finding("hint", sentences.doctor.NO_LEDGER_YET.format(path=data_dir), sentences.doctor.NO_LEDGER_ADVICE)


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest of its parents that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _data_dir(examined: ExaminedBot) -> Path:
    try:
        return examined.bot.data_dir
    except BadArgument:
        return shared_dir()
