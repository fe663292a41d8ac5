"""The copy of memos in ``end_summaries.json``, which chat plugins without this memory also read and write.

The file is a JSON list, oldest first, of ``{"summary", "timestamp", "location": {"type", "name"}}`` (in older files of
plain strings). Our rows also have an ``id``, but other programs drop it when they rewrite the list. A row without
``id`` is therefore taken for ours if its text, its kind of place and its second equal those of a memo. Rows of other
programs always stay.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeGuard, cast

import orjson

from . import sentences
from .disk import TEMP, Cleaning, Disk, Vanished, is_withheld
from .domain.instants import datetime_of
from .domain.message import Message
from .domain.notes import Memo
from .domain.scope import Scope
from .errors import PermanentError, StorageRefused
from .ports import Clock
from .queue.codec import OLDER_ZONE, SUFFIX, json_of, microseconds
from .queue.erasure import summaries_without
from .store.notes import NoteBook
from .tasks import WriteLoop
from .text.cleaning import writable_text

log = logging.getLogger(__name__)
KEPT = 1_000
PAUSE = 5.0  # seconds between two writes
LONGEST_PAUSE = 60.0  # seconds between two attempts while the disk refuses
Row = Mapping[str, object]


class EndSummaries:
    """Stores memos in the ledger, and the newest also in ``end_summaries.json``, to which the older mode can return.

    While :attr:`loop` runs, the file is at most :data:`PAUSE` seconds behind the ledger.
    """

    def __init__(self, notes: NoteBook, path: Path, clock: Clock, *, disk: Disk | None = None) -> None:
        """Initialise without touching the disk."""
        self._notes = notes
        self._path = path
        self._clock = clock
        self._disk = disk or Disk()
        self._is_due = True  # a killed process may not have written the latest
        self._erased: set[str] = set()  # ids of memos that the ledger may still have, because it erases them later
        self.loop = WriteLoop(path.name, self._write, debounce=0.0, spacing=PAUSE, longest_pause=LONGEST_PAUSE)
        self.flush = self.loop.flush

    async def keep(self, memo: Memo) -> None:
        """Store a memo; disk errors of the file are not raised. :meth:`flush` writes the file at once."""
        await self._notes.write_memo(memo)
        self._is_due = True
        self.loop.nudge()

    async def withdraw(self, line: Message) -> None:
        """Delete the memos that quote a withdrawn line."""
        if memo_ids := await self._notes.erase_copies(line):
            nowhere = replace(line.scene.scope, place_id=memo_ids[0])  # no place has the id of a memo
            await self.erase(memo_ids, nowhere, str)

    async def erase(self, memo_ids: Collection[str], place: Scope, hide: Callable[[str], str]) -> int:
        """Remove memos by id and by place, for every agent, from the file and from every copy in its folder.

        In all other entries ``hide`` removes a person from the text. An unreadable copy is deleted if it mentions the
        place or the hidden person. Durable on return; raises StorageRefused when the disk refuses. Idempotent. Returns
        the number of changed files.
        """
        async with self.loop.turn:
            self._erased.update(memo_ids)
            cleaning = partial(summaries_without, memo_ids=memo_ids, place=place, hide=hide)
            return await asyncio.to_thread(self._clean_files, cleaning)

    async def _write(self) -> None:
        """Write the file if memos are due; await it to the end, since its thread goes on if the caller is cancelled."""
        is_due, self._is_due = self._is_due, False
        try:
            if is_due and (latest := await self._notes.latest_memos(KEPT)):
                await asyncio.to_thread(self._merge, [_row(memo) for memo in latest])
            is_due = False
        finally:
            self._is_due |= is_due

    def _merge(self, latest: Sequence[Row]) -> None:
        """Add the latest memos to what the file contains now, which other programs may have changed."""
        own, foreign = list[Row](), list[object]()
        for row in self._current_rows():
            own.append(row) if _is_named(row) else foreign.append(row)
        known = self._erased.union(str(row["id"]) for row in own)
        existing = {_identity_of(cast("Row", row)) for row in foreign if isinstance(row, dict)}
        new = [row for row in latest if row["id"] not in known and _identity_of(row) not in existing]
        if new:
            kept = sorted([*own, *new], key=_written_at)[-KEPT:]
            rows = list(heapq.merge(foreign, kept, key=_written_at))
            self._disk.rewrite(self._path, orjson.dumps(rows, option=orjson.OPT_INDENT_2))

    def _current_rows(self) -> list[object]:
        """Return the rows of the file; an unreadable file is renamed, and a new one begins without any."""
        reason: object = sentences.storage_errors.NOT_A_LIST
        try:
            rows = json_of(self._disk.read(self._path))
            if isinstance(rows, list):
                return cast("list[object]", rows)
        except Vanished:
            return []
        except PermanentError as error:
            if is_withheld(error):
                raise StorageRefused(str(error)) from error
            reason = error
        aside = self._path.with_name(f"{self._path.stem}.corrupt-{microseconds(self._clock.now())}.json")
        self._disk.move(self._path, aside)
        log.warning("%s -> %s: %s", self._path.name, aside.name, reason)
        return []

    def _clean_files(self, cleaning: Cleaning) -> int:
        folder, stem = self._path.parent, self._path.stem
        names = [name for name in self._disk.names(folder) if name.startswith(f"{stem}.")]
        for name in names:
            if name.endswith(TEMP):
                self._disk.remove(folder / name)
        changed = sum(self._disk.clean(folder / one, cleaning) is not None for one in names if one.endswith(SUFFIX))
        self._disk.sync_folder(folder)
        return changed


def _is_named(row: object) -> TypeGuard[Row]:
    return isinstance(row, dict) and "id" in row


def _identity_of(row: Row) -> tuple[object, ...]:
    """Return a row's text, its time in whole seconds and its kind of place; rows with all three equal are one memo."""
    at, place = _written_at(row), row.get("location")
    kind = cast("Row", place).get("type") if isinstance(place, dict) else None
    return str(row.get("summary")), at, str(kind)


def _written_at(row: object) -> float:
    """Return when a row was written, in whole seconds since the epoch; 0 if it has no readable time."""
    stated = cast("Row", row).get("timestamp") if isinstance(row, dict) else None
    try:
        at = datetime_of(str(stated))
        return (at if at.tzinfo else at.replace(tzinfo=OLDER_ZONE)).timestamp() // 1
    except (ValueError, OverflowError):
        return 0.0


def _row(memo: Memo) -> Row:
    return {
        "summary": writable_text(memo.text),
        "timestamp": memo.written_at.isoformat(timespec="seconds"),
        "location": {"type": memo.scope.kind, "name": memo.scope.place_id},
        "id": memo.id,
    }
