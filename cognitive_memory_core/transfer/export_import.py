"""Export and import of a whole memory as one file of any size: one batch in memory at a time, off the event loop."""

from __future__ import annotations

import asyncio
import codecs
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from .. import sentences
from ..disk import Disk
from ..domain.message import Message
from ..domain.profile import Profile, ProfileKey, Revision
from ..domain.scope import Scope
from ..errors import BadArgument, MistakeError, StorageRefused
from ..ports.vectors import EmbeddedEvent
from ..profiles.files import FileProfiles, Overtaken
from ..store.archive import Archive, place_of
from ..store.consent import OptOut
from ..store.names import Alias
from ..tasks import completed
from ..text.names import clean_name
from .backup import draft_in, refuse_special, removed
from .export_format import HEAD, ExportedRow, is_head, row_of, written

log = logging.getLogger(__name__)
IsExcluded = Callable[[Profile], bool]
ProfileEdit = Callable[[Profile], Awaitable[Profile]]


BATCH = 500
LONGEST_LINE = 1_000_000  # bytes; a line over it is a bad line
BATCH_BYTES = 4_000_000  # after which a batch of long lines ends


async def exported(
    archive: Archive,
    path: Path,
    *,
    profiles: FileProfiles,
    edited: ProfileEdit,
    user_id: str | None = None,
    place: Scope | None = None,
    on_row: Callable[[], None] = lambda: None,
) -> int:
    """Write all rows and profiles, or one person's, or one place's, to a file and return how many.

    The file is complete or unchanged: a draft beside it is renamed to it at the end; on failure an earlier file stays.
    ``edited`` edits each profile before it is written; ``on_row`` is called for each row of the ledger.
    """

    async def rows() -> AsyncIterator[ExportedRow]:
        async for row in archive.rows(user_id=user_id):
            on_row()
            if place in (None, place_of(row)):
                yield row
        for key in await profiles.keys():
            is_wanted = user_id in (None, key.user_id) and (place is None or _is_of(key, place))
            if is_wanted and (current := await profiles.find(key)):
                yield await edited(current)
                for one in reversed(await profiles.revisions(key)):
                    yield replace(one, profile=await edited(one.profile))

    draft = await asyncio.to_thread(draft_in, path.parent)
    try:
        count = await _filled(draft, rows())
        await completed(asyncio.to_thread(_put_in_place, draft, path))
    except OSError as refused:
        raise StorageRefused(
            sentences.storage_errors.COPY_REFUSED.format(path=path, reason=refused.strerror)
        ) from refused
    finally:
        await completed(asyncio.to_thread(removed, draft))
    return count


def _is_of(key: ProfileKey, place: Scope) -> bool:
    """Return whether a profile was learned in a place: a group's, its members', or one's own in a private chat."""
    of_place = key.group_id if place.kind == "group" else key.user_id * (not key.group_id)
    return (key.agent, of_place) == (place.agent, place.place_id)


async def _filled(draft: Path, rows: AsyncIterator[ExportedRow]) -> int:
    """Write a draft and close it, also when cancelled: a started write finishes first. Return the number of rows."""
    count, batch, opened = 0, list[ExportedRow](), ExitStack()
    try:
        file = await completed(asyncio.to_thread(_private_file, draft, opened))
        async for row in rows:
            count += 1
            batch.append(row)
            if len(batch) == BATCH:
                await completed(asyncio.to_thread(_write, file, batch))
                batch = []
        await completed(asyncio.to_thread(_write, file, batch))
    finally:
        await completed(asyncio.to_thread(opened.close))
    return count


async def imported(
    archive: Archive,
    path: Path,
    *,
    profiles: FileProfiles,
    is_excluded: IsExcluded,
) -> int:
    """Read an export and return how many rows were new; a bad line is logged with its number and skipped.

    An existing profile is never overwritten. Skipped are profiles for which ``is_excluded`` returns True, and those of
    people whose opt-out is on an earlier line of the same export. People are listed afterwards by the names told.
    """
    count, left_out = 0, set[str]()
    try:
        with await asyncio.to_thread(_opened, path) as file:
            number = 1
            while lines := await asyncio.to_thread(_next_lines, file):
                read = await asyncio.to_thread(_rows, lines, number)
                rows = [row for row in read if not isinstance(row, Profile | Revision)]
                number += len(lines)
                left_out.update(row.user_id for row in rows if isinstance(row, OptOut))
                told = [row for row in read if isinstance(row, Profile | Revision)]
                wanted = [row for row in told if not _is_left_out(row, left_out, is_excluded)]
                count += await archive.import_rows(rows, _told_names([*rows, *wanted]))
                count += await _absorbed(wanted, profiles)
    except OSError as unreadable:
        raise BadArgument(
            sentences.caller.UNREADABLE_FILE.format(path=path, reason=unreadable.strerror)
        ) from unreadable
    return count


def _told_names(rows: Iterable[ExportedRow]) -> list[Alias]:
    """Return the names of people that events, lines of the log and profiles tell.

    They are names of the person's own chat, because an import makes nobody a member of a group.
    """
    told: dict[tuple[str, str, str], datetime] = {}
    for row in rows:
        match row:
            case EmbeddedEvent(event=event):
                said = event.agent, event.sender_id, event.sender_name, event.happened_at
            case Message(scene=scene, is_bot=False, sent_at=at):
                said = scene.agent, scene.user_id, scene.user_name, at
            case Profile(key=key, name=name, updated_at=at):
                said = key.agent, key.user_id, name, at
            case _:
                continue
        agent, user_id, given, at = said
        if user_id and (name := clean_name(given)):
            told[agent, user_id, name] = max(at, told.get((agent, user_id, name), at))
    return [Alias(Scope(agent, "private", one), one, name, at, at) for (agent, one, name), at in told.items()]


async def _absorbed(rows: Sequence[Profile | Revision], profiles: FileProfiles) -> int:
    """Import profiles that do not exist yet and unknown revisions; return how many were new."""
    count = 0
    for row in rows:
        try:
            if isinstance(row, Revision):
                count += await profiles.add_revision(row)
            elif not await profiles.find(row.key):
                await profiles.write(replace(row, version=""))
                count += 1
        except Overtaken:
            continue
        except MistakeError as refused:
            log.warning("%s", sentences.log.PROFILE_LEFT_OUT.format(reason=refused))
    return count


def _is_left_out(row: Profile | Revision, left_out: set[str], is_excluded: IsExcluded) -> bool:
    profile = row.profile if isinstance(row, Revision) else row
    return profile.key.user_id in left_out or is_excluded(profile)


def _write(file: BinaryIO, rows: Sequence[ExportedRow]) -> None:
    file.write(b"".join(written(row) + b"\n" for row in rows))


def _private_file(path: Path, opened: ExitStack) -> BinaryIO:
    """Create a file readable by its owner alone, because it will hold private chats."""
    file = opened.enter_context(os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"))
    file.write(HEAD + b"\n")
    return file


def _put_in_place(draft: Path, path: Path) -> None:
    refuse_special(path)
    disk = Disk()
    disk.sync_file(draft)
    disk.put_in_place(draft, path)


def _opened(path: Path) -> BinaryIO:
    """Open an export behind its first line; raises BadArgument for what is none, OSError."""
    if path.exists() and not path.is_file():  # opening a pipe waits for a writer
        reason = sentences.storage_errors.NOT_A_FILE
        raise BadArgument(sentences.caller.UNREADABLE_FILE.format(path=path, reason=reason))
    file = path.open("rb")
    if not is_head(file.readline(1000).removeprefix(codecs.BOM_UTF8)):
        file.close()
        raise BadArgument(sentences.caller.BAD_EXPORT.format(path=path))
    return file


def _next_lines(file: BinaryIO) -> list[bytes]:
    lines: list[bytes] = []
    size = 0
    while len(lines) < BATCH and size < BATCH_BYTES and (line := file.readline(LONGEST_LINE)):
        while not line.endswith(b"\n") and (rest := file.readline(LONGEST_LINE)):
            line = b"\n" if rest.endswith(b"\n") else rest  # too long: walked over, kept as a bad line
        lines.append(line)
        size += len(line)
    return lines


def _rows(lines: Sequence[bytes], before: int) -> list[ExportedRow]:
    rows: list[ExportedRow] = []
    for number, line in enumerate(lines, before + 1):
        try:
            rows.append(row_of(line))
        except (ValueError, MistakeError, OverflowError) as bad:
            log.warning("%s", sentences.log.LINE_LEFT_OUT.format(number=number, reason=_reason(bad)))
    return rows


def _reason(bad: Exception) -> str:
    if isinstance(bad, ValidationError):
        first = bad.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(bad)
