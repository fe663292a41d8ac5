"""Checks of the machine: the data directory and who owns it, the disk, the ledger, packages, fonts, the clock."""

from __future__ import annotations

import asyncio
import platform
import runpy
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta, timezone
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

from ... import sentences
from ...disk import is_owned
from ...errors import CognitiveMemoryError
from ...lost_ledger import refuse_lost_ledger
from ...read_only import opened_reader
from ..bot_directory import shared_dir
from ..demo import plugin_file
from .findings import ExaminedBot, Finding, fault, fine, hint

DISTRIBUTION = "nonebot-plugin-cognitive-memory"
GIGABYTE = 1_000_000_000
LOW, TOO_LOW = 2 * GIGABYTE, GIGABYTE // 4
CLOCK_BEHIND = timedelta(minutes=10)
LONGEST = 1800.0  # seconds that the ledger is examined
WRITTEN = datetime(2026, 1, 1, tzinfo=timezone.utc)  # no clock that is right shows an earlier time
words = sentences.command_line


def own_directory(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if .env leaves the data in a directory that all bots of the system user share."""
    if examined.bot.set_dir is None:
        yield fault(words.SHARED_DIRECTORY, words.SHARED_DIRECTORY_ADVICE, path=shared_dir())


def writable(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if no file can be created in the data directory; the trial file is deleted."""
    there = _nearest(examined.data_dir)
    if not there.is_dir():
        yield fault(words.NOT_A_DIRECTORY, words.NOT_A_DIRECTORY_ADVICE, path=there)
        return
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as refused:
        yield fault(words.NOT_WRITABLE, words.NOT_WRITABLE_ADVICE, path=there, reason=refused.strerror)
    else:
        yield fine(words.WRITABLE, path=examined.data_dir)


def owner(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if a running process owns the data directory; in a shared one, it may be another bot."""
    if is_owned(examined.data_dir):
        if examined.bot.set_dir is None and examined.bot.given_dir is None:
            yield fault(words.OWNED_SHARED, words.SHARED_DIRECTORY_ADVICE)
        else:
            yield hint(words.OWNED, words.OWNED_ADVICE)


def disk(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if the disk of the data directory is nearly full."""
    there = _nearest(examined.data_dir)
    if (free := shutil.disk_usage(there).free) < LOW:
        level = fault if free < TOO_LOW else hint
        yield level(words.LOW_DISK, words.LOW_DISK_ADVICE, path=there, megabytes=free // 1_000_000)


async def ledger(examined: ExaminedBot) -> AsyncIterator[Finding]:
    """Yield findings on the ledger: damage, version, failed jobs, the length of its vectors, a clock that went back."""
    data_dir = examined.data_dir
    if not _nearest(data_dir).is_dir():
        return
    if not examined.has_ledger:
        try:
            if data_dir.is_dir():
                await asyncio.to_thread(refuse_lost_ledger, data_dir)
        except CognitiveMemoryError as lost:
            yield Finding("fault", str(lost), words.LEDGER_ADVICE)
        else:
            yield hint(words.NO_LEDGER_YET, words.NO_LEDGER_ADVICE, path=data_dir)
        return
    settings = examined.settings
    try:
        async with opened_reader(settings, data_dir) as reader:
            snapshot, examination = await reader.snapshot(), await reader.ledger.examine(LONGEST)
    except CognitiveMemoryError as unreadable:
        yield Finding("fault", str(unreadable), words.LEDGER_ADVICE)
        return
    yield fine(words.LEDGER_READ, events=snapshot.totals.events)
    if examination.damages:
        damaged, first = sentences.storage_errors.ROWS_DAMAGED, examination.damages[0]
        yield fault(damaged, words.DAMAGE_ADVICE, count=len(examination.damages), first=first)
    if snapshot.jobs.failed:
        yield hint(words.FAILED_JOBS, words.FAILED_JOBS_ADVICE, count=snapshot.jobs.failed)
    wanted, stored = settings.models.embedding.dimensions, snapshot.dimensions
    if wanted and stored and wanted != stored:
        yield fault(words.DIMENSIONS_CHANGED, words.DIMENSIONS_ADVICE, given=wanted, stored=stored)
    seen = snapshot.clock.seen_at if snapshot.clock else None
    if seen is not None and seen - datetime.now(timezone.utc) > CLOCK_BEHIND:
        yield fault(words.CLOCK_BEHIND, words.CLOCK_ADVICE, seen=f"{seen.astimezone(settings.zone):%Y-%m-%d %H:%M}")


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest of its parents that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def packages(_: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding on the packages that are missing, or have a version that this release does not support."""
    try:
        wanted = [Requirement(one) for one in requires(DISTRIBUTION) or ()]
    except PackageNotFoundError:
        yield fault(words.NOT_INSTALLED, words.INSTALL)
        return
    bad: list[str] = []
    for need in wanted:
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            try:
                found = version(need.name)
            except PackageNotFoundError:
                bad.append(words.PACKAGE_MISSING.format(name=need.name))
            else:
                if not need.specifier.contains(found, prereleases=True):
                    bad.append(words.PACKAGE_WRONG.format(name=need.name, found=found, wanted=need.specifier))
    if bad:
        yield fault(words.BAD_PACKAGES, words.INSTALL, packages="、".join(bad))
    else:
        yield fine(words.PACKAGES_FIT, python=platform.python_version())


def fonts(examined: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding for each thing that drawing picture cards lacks: Pillow, or a font with Chinese characters."""
    if find_spec("PIL") is None:
        yield hint(words.NO_PILLOW, words.PILLOW_ADVICE)
    script, own = plugin_file("cards/fonts.py"), examined.data_dir / "fonts"
    if script is None:
        return
    if found := runpy.run_path(str(script))["found_fonts"](own).chinese:
        yield fine(words.FONT_FOUND, path=found[0])
    else:
        yield hint(words.NO_FONT, words.FONT_ADVICE, folder=own)


def clock(_: ExaminedBot) -> Iterator[Finding]:
    """Yield a finding if the clock was never set."""
    if (now := datetime.now(timezone.utc)) < WRITTEN:
        yield fault(words.CLOCK_UNSET, words.CLOCK_ADVICE, now=f"{now:%Y-%m-%d}")
