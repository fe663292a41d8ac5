"""Streams exports and imports of any size: one batch in memory at a time, off the event loop."""

from __future__ import annotations

import asyncio
import codecs
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from .. import sentences
from ..completion import completed
from ..disk import Disk
from ..domain.profile import Profile, Revision
from ..errors import BadArgument, MistakeError, StorageRefused
from ..ports.ledger import Archive, ArchiveRow, OptOut
from .drafts import draft_in, refuse_special, removed
from .lines import HEAD, ExportedRow, is_head, row_of, written
from .portraits import Gallery, StaysOut, Worded, hung, stood

log = logging.getLogger(__name__)
BATCH = 500
LONGEST_LINE = 1_000_000  # bytes; a line over it is a bad line


async def exported(
    archive: Archive,
    path: Path,
    *,
    user_id: str | None = None,
    profiles: Gallery | None = None,
    worded: Worded | None = None,
) -> int:
    """Write all rows and profiles, or one person's, to a file and return how many.

    The file is complete or unchanged: a draft beside it is renamed to it at the end; on failure an earlier file stays.
    ``worded`` edits each profile before it is written.
    """
    draft = await asyncio.to_thread(draft_in, path.parent)
    try:
        count = await _filled(draft, _everything(archive, profiles, user_id, worded))
        await completed(asyncio.to_thread(_put_in_place, draft, path))
    except OSError as refused:
        raise StorageRefused(sentences.stores.STORAGE_REFUSED.format(path=path, reason=refused.strerror)) from refused
    finally:
        await completed(asyncio.to_thread(removed, draft))
    return count


async def _filled(draft: Path, rows: AsyncIterator[ExportedRow]) -> int:
    """Write a draft; a started step always finishes, so that a cancelled export leaves no file behind."""
    count = 0
    head = HEAD + b"\n"
    opened = ExitStack()
    try:
        file = await completed(asyncio.to_thread(_created, draft, head, opened))
        async for batch in _batches(rows):
            await completed(asyncio.to_thread(_write, file, batch))
            count += len(batch)
    finally:
        await completed(asyncio.to_thread(opened.close))
    return count


async def imported(
    archive: Archive, path: Path, *, profiles: Gallery | None = None, stays_out: StaysOut | None = None
) -> int:
    """Read an export and return how many rows were new; a bad line is logged with its number and skipped.

    An existing profile is never overwritten. Profiles for which ``stays_out`` returns True are skipped, as are those of
    people whose opt-out stands earlier in the same export.
    """
    count, left_out = 0, set[str]()
    try:
        with await asyncio.to_thread(path.open, "rb") as file:
            number = 1
            if not await asyncio.to_thread(_head_fits, file):
                raise BadArgument(sentences.caller.BAD_EXPORT.format(path=path))
            while lines := await asyncio.to_thread(_next_lines, file):
                rows, portraits = _sorted(await asyncio.to_thread(_rows, lines, number))
                number += len(lines)
                count += await archive.absorb(rows) if rows else 0
                left_out.update(row.user_id for row in rows if isinstance(row, OptOut))
                wanted = [one for one in portraits if not _is_left_out(one, left_out, stays_out)]
                count += await hung(wanted, profiles) if profiles else 0
    except OSError as unreadable:
        raise BadArgument(
            sentences.caller.UNREADABLE_FILE.format(path=path, reason=unreadable.strerror)
        ) from unreadable
    return count


async def _everything(
    archive: Archive, profiles: Gallery | None, user_id: str | None, worded: Worded | None
) -> AsyncIterator[ExportedRow]:
    async for row in archive.rows(user_id=user_id):
        yield row
    if profiles:
        async for portrait in stood(profiles, user_id, worded):
            yield portrait


def _sorted(rows: Sequence[ExportedRow]) -> tuple[list[ArchiveRow], list[Profile | Revision]]:
    """Separate ledger rows from profiles."""
    portraits = [row for row in rows if isinstance(row, Profile | Revision)]
    return [row for row in rows if not isinstance(row, Profile | Revision)], portraits


def _is_left_out(portrait: Profile | Revision, left_out: set[str], stays_out: StaysOut | None) -> bool:
    profile = portrait.profile if isinstance(portrait, Revision) else portrait
    return profile.key.user_id in left_out or (stays_out is not None and stays_out(profile))


async def _batches(rows: AsyncIterator[ExportedRow]) -> AsyncIterator[list[ExportedRow]]:
    batch: list[ExportedRow] = []
    async for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _write(file: BinaryIO, rows: Sequence[ExportedRow]) -> None:
    file.write(b"".join(written(row) + b"\n" for row in rows))


def _created(path: Path, head: bytes, opened: ExitStack) -> BinaryIO:
    """Create a file readable by its owner alone, since it will hold private chats."""
    file = opened.enter_context(os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"))
    file.write(head)
    return file


def _put_in_place(draft: Path, path: Path) -> None:
    refuse_special(path)
    disk = Disk()
    disk.sync_file(draft)
    disk.put_in_place(draft, path)


def _head_fits(file: BinaryIO) -> bool:
    return is_head(file.readline(1000).removeprefix(codecs.BOM_UTF8))


def _next_lines(file: BinaryIO) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < BATCH and (line := file.readline(LONGEST_LINE)):
        while not line.endswith(b"\n") and (rest := file.readline(LONGEST_LINE)):
            line = b"\n" if rest.endswith(b"\n") else rest  # too long: walked over, kept as a bad line
        lines.append(line)
    return lines


def _rows(lines: Sequence[bytes], before: int) -> list[ExportedRow]:
    rows: list[ExportedRow] = []
    for number, line in enumerate(lines, before + 1):
        try:
            rows.append(row_of(line))
        except (ValueError, MistakeError, OverflowError) as bad:
            log.warning("import: line %d left out: %s", number, _reason(bad))
    return rows


def _reason(bad: Exception) -> str:
    if isinstance(bad, ValidationError):
        first = bad.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(bad)
