"""Export and import as JSON Lines, streamed out of the ledger and into it."""

from __future__ import annotations

import asyncio
import codecs
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from .. import sentences
from ..disk import Disk
from ..domain.consent import OptOut
from ..domain.message import Message
from ..domain.people import Alias
from ..domain.profile import Profile, Revision
from ..domain.scope import Scope
from ..errors import BadArgument, MistakeError
from ..ports import EmbeddedEvent
from ..profiles.files import FileProfiles, Overtaken
from ..store.archive import Archive, place_of
from ..tasks import completed
from ..text.names import clean_name
from .backup import copy_refusals, draft_in, readable, removed
from .exported_rows import HEAD, ExportedRow, is_head, row_of, written

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
    agent: str | None = None,
) -> int:
    """Write all rows and profiles, or one person's, one place's, or one agent's, to a file and return how many.

    The file is complete or unchanged: a draft beside it is renamed to it at the end; on failure an earlier file stays.
    ``edited`` edits each profile before it is written.
    """

    def is_wanted(at: Scope | None) -> bool:
        return place in (None, at) and (at is None or agent in (None, at.agent))

    async def pages() -> AsyncIterator[Sequence[ExportedRow]]:
        async for page in archive.pages(user_id=user_id):
            yield [row for row in page if is_wanted(place_of(row))]
        for key in await profiles.keys():
            if user_id in (None, key.user_id) and is_wanted(key.scope) and (current := await profiles.find(key)):
                past = reversed(await profiles.revisions(key))
                yield [await edited(current), *[replace(one, profile=await edited(one.profile)) for one in past]]
        yield ()  # an export of nothing has its first line, too

    draft = await asyncio.to_thread(draft_in, path.parent)
    try:
        with copy_refusals(path):
            count = 0
            async for page in pages():
                count += len(page)
                await completed(asyncio.to_thread(_append, draft, page))
            await completed(asyncio.to_thread(_put_in_place, draft, path))
    finally:
        await completed(asyncio.to_thread(removed, draft))
    return count


async def imported(archive: Archive, path: Path, *, profiles: FileProfiles, is_excluded: IsExcluded) -> int:
    """Read an export and return how many rows were new; a bad line is logged with its number and skipped.

    An existing profile is never overwritten. Skipped are profiles for which ``is_excluded`` returns True, and those of
    people whose opt-out is on an earlier line of the same export. People are listed afterwards by the names told.
    """
    count, number, left_out = 0, 1, set[str]()

    def is_wanted(row: Profile | Revision) -> bool:
        profile = row.profile if isinstance(row, Revision) else row
        return not (profile.key.user_id in left_out or is_excluded(profile))

    with readable(path), await asyncio.to_thread(_opened, path) as file:
        while (batch := await asyncio.to_thread(_next_rows, file, number))[1] > number:
            read, number = batch
            rows = [row for row in read if not isinstance(row, Profile | Revision)]
            left_out.update(row.user_id for row in rows if isinstance(row, OptOut))
            wanted = [row for row in read if isinstance(row, Profile | Revision) and is_wanted(row)]
            count += await archive.import_rows(rows, _told_names([*rows, *wanted]))
            count += await _absorbed(wanted, profiles)
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


def _append(draft: Path, rows: Sequence[ExportedRow]) -> None:
    """Append rows to a file readable by its owner alone, because it holds private chats."""
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
        lines = [written(row) for row in rows]
        file.write(b"".join(line + b"\n" for line in (lines if file.tell() else [HEAD, *lines])))


def _put_in_place(draft: Path, path: Path) -> None:
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


def _next_rows(file: BinaryIO, number: int) -> tuple[list[ExportedRow], int]:
    """Read a batch of lines behind the one with this number; return their rows, and the number of the last line."""
    rows: list[ExportedRow] = []
    last, size = number + BATCH, 0
    while number < last and size < BATCH_BYTES and (line := file.readline(LONGEST_LINE)):
        while not line.endswith(b"\n") and (rest := file.readline(LONGEST_LINE)):
            line = b"\n" if rest.endswith(b"\n") else rest  # too long: walked over, kept as a bad line
        number += 1
        size += len(line)
        try:
            rows.append(row_of(line))
        except (ValueError, MistakeError, OverflowError) as bad:
            reason = str(bad)
            if isinstance(bad, ValidationError):
                first = bad.errors(include_input=False, include_url=False)[0]
                reason = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
            log.warning("%s", sentences.log.LINE_LEFT_OUT.format(number=number, reason=reason))
    return rows, number
